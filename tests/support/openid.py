"""A small OpenID provider on loopback that can fall silent, fail or go away, and the tokens it signs."""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Self

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from aop.base.canonical import to_base64url
from aop.control_plane.app import ControlPlaneEnvironment, build
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.support.peers import Behaviour, Received, listening
from tests.support.settings import OIDC, control_plane_environment
from tests.support.units import RunningUnit, running

ISSUER, AUDIENCE = OIDC["PLATFORM_OIDC_ISSUER"], OIDC["PLATFORM_OIDC_AUDIENCE"]
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
WEAK_RSA = rsa.generate_private_key(public_exponent=65537, key_size=2047)  # noqa: S505
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()
STRANGER = ed25519.Ed25519PrivateKey.generate()

Jwk = dict[str, Any]
Sign = Callable[[bytes], bytes]


def _number(value: int) -> str:
    return to_base64url(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def rsa_jwk(key_id: str, key: rsa.RSAPrivateKey) -> Jwk:
    numbers = key.public_key().public_numbers()
    return {"kid": key_id, "kty": "RSA", "use": "sig", "n": _number(numbers.n), "e": _number(numbers.e)}


def ed_jwk(key_id: str, **members: Any) -> Jwk:
    raw = ED.public_key().public_bytes_raw()
    return {"kid": key_id, "kty": "OKP", "crv": "Ed25519", "x": to_base64url(raw), **members}


def _ec_jwk(key_id: str) -> Jwk:
    numbers = EC.public_key().public_numbers()
    x, y = (to_base64url(value.to_bytes(32, "big")) for value in (numbers.x, numbers.y))
    return {"kid": key_id, "kty": "EC", "crv": "P-256", "x": x, "y": y}


def usual_keys() -> list[Any]:
    return [
        *(rsa_jwk("rsa", RSA), rsa_jwk("weak", WEAK_RSA), _ec_jwk("ec"), ed_jwk("ed")),
        ed_jwk("sealing", use="enc"),
    ]


def _signed_by(key: rsa.RSAPrivateKey) -> Sign:
    return lambda data: key.sign(data, padding.PKCS1v15(), hashes.SHA256())


def _sign_ec(data: bytes) -> bytes:
    r, s = decode_dss_signature(EC.sign(data, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


SIGNERS: dict[str, tuple[str, Sign]] = {
    "RS256": ("rsa", _signed_by(RSA)),
    "ES256": ("ec", _sign_ec),
    "EdDSA": ("ed", ED.sign),
}
sign_weakly = _signed_by(WEAK_RSA)


def usual_header(algorithm: str = "EdDSA") -> dict[str, Any]:
    return {"alg": algorithm, "kid": SIGNERS[algorithm][0], "typ": "JWT"}


def usual_claims() -> dict[str, Any]:
    now = int(time.time())
    return {"iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "exp": now + 60, "nbf": now - 60, "iat": now - 60}


def a_token(algorithm: str = "EdDSA", *, header: dict[str, Any] | None = None, **claims: Any) -> str:
    """Well signed; a member given as None is left out."""
    head, body = {**usual_header(algorithm), **(header or {})}, {**usual_claims(), **claims}
    return sealed(_present(head), _present(body), SIGNERS[algorithm][1])


def _present(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def sealed(head: dict[str, Any], body: dict[str, Any], sign: Sign = ED.sign) -> str:
    signed = ".".join(to_base64url(json.dumps(part).encode()) for part in (head, body))
    return f"{signed}.{to_base64url(sign(signed.encode()))}"


class Issuer(AsyncExitStack):
    """Serves its keys, takes requests and says nothing, or does whatever `does` says; closed, it is gone."""

    port = requests = 0
    status = 200
    does: Behaviour | None = None

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__()
        self._tls = tls
        self.keys = usual_keys()
        self.speaks = asyncio.Event()
        self.speaks.set()

    async def __aenter__(self) -> Self:
        """At the port it had before, if any."""
        self.port = await self.enter_async_context(listening(self._meet, port=self.port, tls=self._tls))
        return self

    async def _meet(self, received: Received) -> None:
        self.requests += 1
        await self.speaks.wait()
        if self.does is not None:
            await self.does(received)
        else:
            await received.answer(json.dumps({"keys": self.keys}).encode(), self.status)


class ScriptedMonotonic:
    """Runs as the machine's does, and ahead of it as far as it was moved."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += seconds


@asynccontextmanager
async def gateway_with(
    stores: DatabaseUrls, port: int, monotonic: ScriptedMonotonic | None = None, **changes: str
) -> AsyncIterator[RunningUnit]:
    named = {**OIDC, "PLATFORM_OIDC_JWKS_URL": f"http://127.0.0.1:{port}/keys", **changes}
    environment = control_plane_environment(
        PLATFORM_DATABASE_URL=stores.control_plane, PLATFORM_ROUTER_INTERNAL_ORIGIN="http://127.0.0.1:1", **named
    )
    peers = ControlPlaneEnvironment(monotonic=monotonic or ScriptedMonotonic())
    async with running(lambda: build(read_control_plane_settings(environment), peers)) as unit:
        yield unit
