"""Callers with tokens of an OpenID provider, against a small issuer on loopback."""

import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aop.base.canonical import from_base64url, to_base64url
from aop.base.settings import SettingsRefused
from aop.control_plane.gateway.tokens import issue_token
from aop.local.state import DatabaseUrls
from tests.support.errors import require_error
from tests.support.openid import (
    AUDIENCE,
    ISSUER,
    RSA,
    SIGNERS,
    STRANGER,
    Issuer,
    a_token,
    gateway_with,
    rsa_jwk,
    sealed,
    sign_weakly,
    usual_claims,
    usual_header,
)
from tests.support.units import Reply, RunningUnit


@pytest_asyncio.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with Issuer() as issuer:
        yield issuer


@pytest_asyncio.fixture
async def gateway(stores: DatabaseUrls, issuer: Issuer) -> AsyncIterator[RunningUnit]:
    async with gateway_with(stores, issuer.port) as unit:
        yield unit


async def call(gateway: RunningUnit, token: str) -> Reply:
    return await gateway.get("/v1/status", token=token)


@pytest.mark.rows("AUTH-05")
@pytest.mark.parametrize("algorithm", sorted(SIGNERS))
async def test_a_good_token_of_each_algorithm_is_accepted(gateway: RunningUnit, algorithm: str) -> None:
    assert (await call(gateway, a_token(algorithm))).status == 200
    assert (await call(gateway, a_token(algorithm, aud=["other", AUDIENCE]))).status == 200
    assert (await call(gateway, a_token(algorithm, nbf=None, iat=None))).status == 200


async def test_an_access_token_may_say_that_it_is_one(gateway: RunningUnit) -> None:
    for kind in ("at+jwt", "application/at+jwt", "AT+JWT", "JWT", "jwt", None):
        assert (await call(gateway, a_token(header={"typ": kind}))).status == 200, kind
    assert (await call(gateway, a_token(typ="Bearer"))).status == 200


async def test_clocks_may_differ_by_thirty_seconds(gateway: RunningUnit) -> None:
    now = int(time.time())
    assert (await call(gateway, a_token(exp=now - 25))).status == 200
    assert (await call(gateway, a_token(nbf=now + 25))).status == 200
    assert (await call(gateway, a_token(iat=now + 25))).status == 200
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
        "signed well under the name of another algorithm": a_token(header={"alg": "RS256"}),
        "key of another type": a_token(header={"kid": "rsa"}),
        "key for sealing": a_token(header={"kid": "sealing"}),
        "no key id": a_token(header={"kid": None}),
        "unknown key id": a_token(header={"kid": "nobody"}),
        "weak key": sealed({"alg": "RS256", "kid": "weak"}, usual_claims(), sign_weakly),
        "issued in the future": a_token(iat=int(time.time()) + 60),
        "time of issue as text": a_token(iat="1"),
        **{f"type {kind}": a_token(header={"typ": kind}) for kind in ("ID+JWT", "id_token", "logout+jwt", "", "x/JWT")},
        **{f"claimed type {kind}": a_token(typ=kind) for kind in ("ID", "Refresh", "Logout")},
        "critical header": a_token(header={"crit": ["exp"]}),
        "stranger's signature": sealed({"alg": "EdDSA", "kid": "ed"}, json.loads(from_base64url(body)), STRANGER.sign),
        "changed claims": f"{head}.{to_base64url(from_base64url(body).replace(b'alice', b'admin'))}.{signature}",
        "repeated claim": f"{head}.{twice}.{signature}",
        "padded": f"{head}=.{body}.{signature}",
        "two segments": f"{head}.{body}",
        "principal not a safe identifier": a_token(sub="alice in chains"),
        "principal empty": a_token(sub=""),
        "principal too long with its prefix": a_token(sub="a" * 124),
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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
HEADERS = ("alg", "kid", "typ", "crit", "cty", "jku", "jwk", "x5c", "x5t", "b64", "zip", "enc")
CLAIMS = ("iss", "aud", "sub", "exp", "nbf", "iat", "typ", "jti", "azp", "scope", "cnf")


@pytest.mark.rows("AUTH-05", "CALL-07")
async def test_json_of_any_type_in_any_member_is_never_a_fault_of_ours(gateway: RunningUnit) -> None:
    tokens: list[str] = []

    @settings(max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from([(0, name) for name in HEADERS] + [(1, name) for name in CLAIMS]), JSON)
    def draw(place: tuple[int, str], value: object) -> None:
        parts = (usual_header(), usual_claims())
        parts[place[0]][place[1]] = value
        tokens.append(sealed(*parts))

    draw()
    # Every member meets each type of JSON at least once, whatever was drawn.
    each_type: list[object] = [[], {}, None, True, 0, -1, 1.5, 10**400, "", "x", [{}], {"a": []}]
    for value in each_type:
        tokens += [sealed({**usual_header(), name: value}, usual_claims()) for name in HEADERS]
        tokens += [sealed(usual_header(), {**usual_claims(), name: value}) for name in CLAIMS]
        tokens.append(".".join([*(to_base64url(json.dumps(part).encode()) for part in (value, value)), "AAAA"]))
    for token in tokens:
        assert (await call(gateway, token)).status in {200, 401}, token


async def test_keys_of_any_form_verify_nothing_and_do_no_harm(gateway: RunningUnit, issuer: Issuer) -> None:
    odd: list[object] = [None, 5, "x", [], {}, {"kid": 5}, {"kid": "bare"}]
    values: list[object] = [None, 5, "", "AA", "\u00e9", [], {}, "A" * 5000]
    forms = {"RSA": ("n", "e"), "EC": ("x", "y"), "OKP": ("x",)}
    for kty, members in forms.items():
        for number, value in enumerate(values):
            crv = {"EC": "P-256", "OKP": "Ed25519"}.get(kty)
            odd.append({"kid": f"{kty}{number}", "kty": kty, "crv": crv, **dict.fromkeys(members, value)})
    issuer.keys = [*odd, {**issuer.keys[3], "d": "private"}]
    assert (await call(gateway, a_token())).status == 200
    algorithms = {"RSA": "RS256", "EC": "ES256", "OKP": "EdDSA"}
    for kty, algorithm in algorithms.items():
        for number in range(8):
            assert (await call(gateway, a_token(algorithm, header={"kid": f"{kty}{number}"}))).status == 401
    assert (await call(gateway, a_token(header={"kid": "bare"}))).status == 401


@pytest.mark.rows("AUTH-05")
async def test_a_key_serves_for_what_its_provider_says_and_for_nothing_else(
    gateway: RunningUnit, issuer: Issuer
) -> None:
    fitting: list[dict[str, Any]] = [{"alg": "RS256"}, {"key_ops": ["verify"]}, {"key_ops": ["encrypt", "verify"]}]
    others: list[dict[str, Any]] = [
        *({"alg": name} for name in ("PS256", "RS512", "EdDSA", "RSA-OAEP", "rs256", "", None, 5, ["RS256"])),
        *({"key_ops": value} for value in (["encrypt"], ["sign"], [], "verify", None, {"verify": True}, [["verify"]])),
        *({"use": value} for value in ("enc", None)),
        {"use": "sig", "key_ops": ["verify"], "alg": "PS256"},
    ]
    key = rsa_jwk("", RSA)
    issuer.keys = [{**key, **says, "kid": f"key-{number}"} for number, says in enumerate([*fitting, *others])]
    for number, says in enumerate([*fitting, *others]):
        reply = await call(gateway, a_token("RS256", header={"kid": f"key-{number}"}))
        assert reply.status == (200 if number < len(fitting) else 401), says


@pytest.mark.rows("AUTH-05")
async def test_without_a_usable_key_set_the_answer_is_a_dependency_error(
    gateway: RunningUnit, issuer: Issuer, alice: str
) -> None:
    issuer.status = 500
    require_error(await call(gateway, a_token()), 503, "DEPENDENCY_ERROR", "4")
    assert (await call(gateway, alice)).status == 200


@pytest.mark.rows("AUTH-05")
async def test_a_principal_of_the_provider_is_never_one_of_our_own_tokens(gateway: RunningUnit, alice: str) -> None:
    theirs = a_token(sub="alice")
    made = await gateway.post("/v1/workspaces", {"workspaceId": "theirs"}, token=theirs)
    assert (made.status, made.json["ownerId"]) == (201, "oidc:alice")
    assert (await gateway.get("/v1/workspaces/theirs", token=theirs)).status == 200
    require_error(await gateway.get("/v1/workspaces/theirs", token=alice), 403, "FORBIDDEN", "3")


@pytest.mark.rows("AUTH-05")
async def test_a_token_of_ours_with_a_principal_of_the_provider_is_refused_and_stops_the_next_start(
    gateway: RunningUnit, issuer: Issuer, stores: DatabaseUrls
) -> None:
    forged = await issue_token(stores.control_plane, "oidc:alice")
    require_error(await call(gateway, forged.token.reveal()), 401, "UNAUTHENTICATED", "4")
    with pytest.raises(SettingsRefused) as refused:
        async with gateway_with(stores, issuer.port):
            pass
    (problem,) = refused.value.problems
    assert problem.name == "PLATFORM_OIDC_PRINCIPAL_PREFIX"
    assert forged.record.token_id in problem.reason
