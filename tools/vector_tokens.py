"""Builds the signed tokens of the conformance vectors from one openly known test key."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from nacl.signing import SigningKey

from aop.base.canonical import to_base64url

# A seed anybody may know: it signs test vectors and nothing else.
TEST_SEED = hashlib.sha256(b"aop conformance vectors, test key").digest()
OTHER_SEED = hashlib.sha256(b"aop conformance vectors, another test key").digest()
PUBLIC_KEY = to_base64url(SigningKey(TEST_SEED).verify_key.encode())
NOW = 1772442904
ISSUER = "https://router.example.com"
AUDIENCE = "https://agents.example.com"
KEY_ID = "router-1"
BODY = '{"jsonrpc":"2.0","id":"3","method":"tasks/cancel","params":{"id":"task-7"}}'

Members = dict[str, Any]
Case = dict[str, Any]

HEADER: Members = {"alg": "EdDSA", "typ": "platform-router+jwt", "kid": KEY_ID}
ROOT: Members = {
    "iss": ISSUER,
    "aud": [AUDIENCE],
    "iat": NOW - 5,
    "exp": NOW + 60,
    "jti": "jti_0190f5c2a7e17b2c9d8e7f6051423344",
    "workspaceId": "acme-travel",
    "agentId": "trip-planner",
    "agentVersion": "1.4.0-rc.1+build.7",
    "releaseId": "rel_0190f5c0113c7a219b8c7d6e5f403122",
    "cardDigest": hashlib.sha256(b"card").hexdigest(),
    "capability": "plan-trip",
    "invocationId": "inv_0190f5c2a7de7c4b8f1e2d3c4b5a6978",
    "rootTaskId": "task_0190f5c2a7de7c4c9a0b1c2d3e4f5061",
    "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
    "bodySha256": hashlib.sha256(BODY.encode()).hexdigest(),
}
CHILD = ROOT | {"invocationId": "inv_0190f5c2a8117d108a2b3c4d5e6f7081", "parentInvocationId": ROOT["invocationId"]}


def text(members: Members | str) -> str:
    return members if isinstance(members, str) else json.dumps(members, separators=(",", ":"))


def without(members: Members, name: str) -> Members:
    return {key: value for key, value in members.items() if key != name}


def repeated(members: Members, name: str) -> str:
    return text(members)[:-1] + f',"{name}":{json.dumps(members[name])}}}'


def signed(header: Members | str, claims: Members | str, seed: bytes = TEST_SEED, pad: str = "") -> str:
    """A compact JWS over exactly these texts; `pad` is put behind the claims segment before signing."""
    payload = f"{to_base64url(text(header).encode())}.{to_base64url(text(claims).encode())}{pad}"
    return f"{payload}.{to_base64url(SigningKey(seed).sign(payload.encode()).signature)}"


def case(name: str, step: int | None, authorization: str | Sequence[str], status: int = 401, **more: Any) -> Case:
    lines = [authorization] if isinstance(authorization, str) else list(authorization)
    return {"name": name, "step": step, "status": status if step else 200, "authorization": lines, **more}


def bearer(name: str, step: int | None, token: str, status: int = 401, **more: Any) -> Case:
    return case(name, step, f"Bearer {token}", status, **more)


def rendered(document: Case) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
