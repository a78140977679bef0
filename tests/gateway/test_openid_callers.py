"""Callers with tokens of an OpenID provider, against a small issuer on loopback."""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from aop.base.base64url import from_base64url, to_base64url
from aop.base.server import HttpServer, listening_socket
from aop.control_plane.app import build
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.support.errors import require_error
from tests.support.settings import control_plane_environment
from tests.support.units import Reply, RunningUnit, running

ISSUER, AUDIENCE = "https://issuer.example", "aop"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()
STRANGER = ed25519.Ed25519PrivateKey.generate()


def number(value: int) -> str:
    return to_base64url(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def key_set() -> dict[str, Any]:
    rsa_numbers, ec_numbers = RSA.public_key().public_numbers(), EC.public_key().public_numbers()
    ed_raw = ED.public_key().public_bytes_raw()
    return {
        "keys": [
            {"kid": "rsa", "kty": "RSA", "use": "sig", "n": number(rsa_numbers.n), "e": number(rsa_numbers.e)},
            {
                "kid": "ec",
                "kty": "EC",
                "crv": "P-256",
                "x": to_base64url(ec_numbers.x.to_bytes(32, "big")),
                "y": to_base64url(ec_numbers.y.to_bytes(32, "big")),
            },
            {"kid": "ed", "kty": "OKP", "crv": "Ed25519", "x": to_base64url(ed_raw)},
            {"kid": "sealing", "kty": "OKP", "crv": "Ed25519", "use": "enc", "x": to_base64url(ed_raw)},
        ]
    }


def sign_rsa(data: bytes) -> bytes:
    return RSA.sign(data, padding.PKCS1v15(), hashes.SHA256())


def sign_ec(data: bytes) -> bytes:
    r, s = decode_dss_signature(EC.sign(data, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


SIGNERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "RS256": ("rsa", sign_rsa),
    "ES256": ("ec", sign_ec),
    "EdDSA": ("ed", ED.sign),
}


def a_token(algorithm: str = "EdDSA", *, header: dict[str, Any] | None = None, **claims: Any) -> str:
    key_id, sign = SIGNERS[algorithm]
    now = int(time.time())
    head = {"alg": algorithm, "kid": key_id, "typ": "JWT", **(header or {})}
    body = {"iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "exp": now + 60, "nbf": now - 60, **claims}
    return sealed(head, {name: value for name, value in body.items() if value is not None}, sign)


def sealed(head: dict[str, Any], body: dict[str, Any], sign: Callable[[bytes], bytes]) -> str:
    signed = ".".join(to_base64url(json.dumps(part).encode()) for part in (head, body))
    return f"{signed}.{to_base64url(sign(signed.encode()))}"


class Issuer:
    def __init__(self) -> None:
        self.status = 200
        self.requests = 0
        self.port = 0

    async def __call__(self, scope: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        self.requests += 1
        body = json.dumps(key_set()).encode()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@pytest_asyncio.fixture
async def issuer() -> AsyncIterator[Issuer]:
    app = Issuer()
    listener = listening_socket("127.0.0.1", 0)
    app.port = listener.getsockname()[1]
    server = HttpServer(app)
    await server.start([listener])
    yield app
    await server.stop(0)


@pytest_asyncio.fixture
async def gateway(stores: DatabaseUrls, issuer: Issuer) -> AsyncIterator[RunningUnit]:
    settings = read_control_plane_settings(
        control_plane_environment(
            PLATFORM_DATABASE_URL=stores.control_plane,
            PLATFORM_OIDC_ISSUER=ISSUER,
            PLATFORM_OIDC_AUDIENCE=AUDIENCE,
            PLATFORM_OIDC_JWKS_URL=f"http://127.0.0.1:{issuer.port}/keys",
            PLATFORM_ROUTER_INTERNAL_ORIGIN="http://127.0.0.1:1",
        )
    )
    async with running(lambda: build(settings)) as unit:
        yield unit


async def call(gateway: RunningUnit, token: str) -> Reply:
    return await gateway.get("/v1/status", token=token)


@pytest.mark.rows("AUTH-05")
@pytest.mark.parametrize("algorithm", sorted(SIGNERS))
async def test_a_good_token_of_each_algorithm_is_accepted(gateway: RunningUnit, algorithm: str) -> None:
    assert (await call(gateway, a_token(algorithm))).status == 200
    assert (await call(gateway, a_token(algorithm, aud=["other", AUDIENCE]))).status == 200
    assert (await call(gateway, a_token(algorithm, nbf=None))).status == 200


async def test_clocks_may_differ_by_thirty_seconds(gateway: RunningUnit) -> None:
    now = int(time.time())
    assert (await call(gateway, a_token(exp=now - 25))).status == 200
    assert (await call(gateway, a_token(nbf=now + 25))).status == 200
    assert (await call(gateway, a_token(exp=now - 31))).status == 401
    assert (await call(gateway, a_token(nbf=now + 35))).status == 401


def hostile_tokens() -> dict[str, str]:
    good = a_token()
    head, body, signature = good.split(".")
    none = to_base64url(json.dumps({"alg": "none", "kid": "ed"}).encode())
    twice = to_base64url(b'{"iss":"x","iss":"%s","aud":"aop","sub":"alice","exp":9999999999}' % ISSUER.encode())
    return {
        "wrong issuer": a_token(iss="https://other.example"),
        "wrong audience": a_token(aud="other"),
        "no audience": a_token(aud=None),
        "expired": a_token(exp=1),
        "no expiry": a_token(exp=None),
        "expiry as text": a_token(exp="9999999999"),
        "expiry true": a_token(exp=True),
        "algorithm none": f"{none}.{body}.",
        "algorithm none with signature": f"{none}.{body}.{signature}",
        "other algorithm": a_token(header={"alg": "HS256"}),
        "key of another type": a_token(header={"kid": "rsa"}),
        "key for sealing": a_token(header={"kid": "sealing"}),
        "no key id": a_token(header={"kid": None}),
        "unknown key id": a_token(header={"kid": "nobody"}),
        "critical header": a_token(header={"crit": ["exp"]}),
        "stranger's signature": sealed({"alg": "EdDSA", "kid": "ed"}, json.loads(from_base64url(body)), STRANGER.sign),
        "changed claims": f"{head}.{to_base64url(from_base64url(body).replace(b'alice', b'admin'))}.{signature}",
        "repeated claim": f"{head}.{twice}.{signature}",
        "padded": f"{head}=.{body}.{signature}",
        "two segments": f"{head}.{body}",
        "principal not a safe identifier": a_token(sub="alice in chains"),
        "no principal": a_token(sub=None),
        "principal a number": a_token(sub=7),
        "not a token": "hello",
    }


@pytest.mark.rows("AUTH-05")
async def test_every_hostile_token_is_unauthenticated(gateway: RunningUnit) -> None:
    for name, token in hostile_tokens().items():
        reply = await call(gateway, token)
        assert reply.status == 401, name
        require_error(reply, 401, "UNAUTHENTICATED", "4")


async def test_keys_are_kept_and_an_unknown_key_asks_at_most_once_a_minute(
    gateway: RunningUnit, issuer: Issuer
) -> None:
    for _ in range(3):
        assert (await call(gateway, a_token())).status == 200
    for _ in range(3):
        assert (await call(gateway, a_token(header={"kid": "nobody"}))).status == 401
    assert issuer.requests == 1


@pytest.mark.rows("AUTH-05")
async def test_without_a_usable_key_set_the_answer_is_a_dependency_error(
    gateway: RunningUnit, issuer: Issuer, alice: str
) -> None:
    issuer.status = 500
    require_error(await call(gateway, a_token()), 503, "DEPENDENCY_ERROR", "4")
    assert (await call(gateway, alice)).status == 200
