"""Builds the signed and tagged tokens of the conformance vectors from one openly known test key."""

import hashlib
import hmac
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from aop.base.canonical import to_base64url
from tools.vector_claims import ISSUER, KEY_ID, NOW, Members

VECTORS = Path(__file__).resolve().parents[1] / "contracts" / "vectors"
# A seed anybody may know: it signs test vectors and nothing else.
TEST_SEED = hashlib.sha256(b"aop conformance vectors, test key").digest()
OTHER_SEED = hashlib.sha256(b"aop conformance vectors, another test key").digest()
PUBLIC_KEY = to_base64url(Ed25519PrivateKey.from_private_bytes(TEST_SEED).public_key().public_bytes_raw())

Case = dict[str, Any]


def text(members: Members | str) -> str:
    return members if isinstance(members, str) else json.dumps(members, separators=(",", ":"))


def without(members: Members, name: str) -> Members:
    return {key: value for key, value in members.items() if key != name}


def repeated(members: Members, name: str) -> str:
    return text(members)[:-1] + f',"{name}":{json.dumps(members[name])}}}'


def signed(header: Members | str, claims: Members | str, pad: str = "") -> str:
    """A compact JWS over exactly these texts; `pad` is put behind the claims segment before signing."""
    return _signed_with(TEST_SEED, f"{_segment(header)}.{_segment(claims)}{pad}")


def forged(header: Members, claims: Members) -> str:
    """The same with a key that is not the Router's."""
    return _signed_with(OTHER_SEED, f"{_segment(header)}.{_segment(claims)}")


def tagged(header: Members | str, claims: Members | str, seed: bytes = TEST_SEED) -> str:
    """A compact JWS whose tag is made with the key of delegations."""
    return _tagged_with(delegation_key(seed), f"{_segment(header)}.{_segment(claims)}")


def tagged_with(key: bytes, header: Members, claims: Members) -> str:
    """The same with any key at all."""
    return _tagged_with(key, f"{_segment(header)}.{_segment(claims)}")


def delegation_key(seed: bytes) -> bytes:
    return HKDF(hashes.SHA256(), 32, None, b"platform-delegation").derive(seed)


def _tagged_with(key: bytes, payload: str) -> str:
    return f"{payload}.{to_base64url(hmac.digest(key, payload.encode(), 'sha256'))}"


def _segment(members: Members | str) -> str:
    return to_base64url(text(members).encode())


def _signed_with(seed: bytes, payload: str) -> str:
    signature = Ed25519PrivateKey.from_private_bytes(seed).sign(payload.encode())
    return f"{payload}.{to_base64url(signature)}"


def case(name: str, step: int | None, authorization: str | Sequence[str], status: int = 401, **more: Any) -> Case:
    lines = [authorization] if isinstance(authorization, str) else list(authorization)
    return {"name": name, "step": step, "status": status if step else 200, "authorization": lines, **more}


def bearer(name: str, step: int | None, token: str, status: int = 401, **more: Any) -> Case:
    return case(name, step, f"Bearer {token}", status, **more)


def described(description: str, audience: str, key: Members | None = None, **members: Any) -> Case:
    """A document of vectors: what it is about, who verifies the tokens and when, then its members."""
    verifier = {"issuer": ISSUER, "audience": audience, "keyId": KEY_ID, **(key or {"publicKey": PUBLIC_KEY})}
    return {"description": description, "testSeed": TEST_SEED.hex(), "verifier": verifier, "now": NOW, **members}


def rendered(document: Case) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def write(name: str, document: Case) -> None:
    (VECTORS / f"{name}.json").write_text(rendered(document), "utf-8")
