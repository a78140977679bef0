"""The Router's credential as an Agent receives it: one per request, bound to all that the request says."""

import hashlib
import hmac
import time

import pytest
from nacl.signing import SigningKey

from aop.agent.guard.replay import ReplayMemory
from aop.agent.guard.verifier import Rejected, Trust, Verifier
from aop.base.canonical import to_base64url
from aop.contracts.credential import CONTEXT_HEADERS
from aop.contracts.documents import document
from aop.contracts.signing import VerifyKey
from tests.support.agent import a_task, credential_of, data, delegation_of
from tests.support.loop import Changes, Platform, running_platform
from tests.support.postgres import PostgresForTests
from tests.support.settings import ROUTER_SEED
from tools.vector_tokens import delegation_key

pytestmark = pytest.mark.asyncio(loop_scope="module")
PUBLIC_KEY = SigningKey(ROUTER_SEED).verify_key


@pytest.mark.rows("AUTH-12")
async def test_the_claims_of_every_request_are_those_of_its_invocation(platform: Platform) -> None:
    platform.agent.script(a_task("working"), a_task("completed", [data(1)]))
    before = int(time.time())
    reply = await platform.invoke(b'{"a":1}')
    requests = platform.agent.calls(None, reply.json["invocationId"])
    assert len(requests) == 2
    for request in requests:
        token = credential_of(request)
        PUBLIC_KEY.verify(token.signed, token.signature)
        assert token.header == {"alg": "EdDSA", "typ": "platform-router+jwt", "kid": "router-1"}
        claims = token.claims
        assert document("router-agent-credential/1").violations(claims) == ()
        expected = {
            "iss": "http://127.0.0.1:8081",
            "aud": [platform.agent.origin],
            "workspaceId": "space",
            "agentId": "acme:agent",
            "agentVersion": "1.0.0",
            "releaseId": platform.release.release_id,
            "cardDigest": platform.release.card_digest,
            "capability": "work",
            "invocationId": reply.json["invocationId"],
            "rootTaskId": reply.json["rootTaskId"],
            "traceId": reply.json["traceId"],
            "bodySha256": hashlib.sha256(request.body).hexdigest(),
        }
        assert {name: claims[name] for name in expected} == expected
        assert set(claims) == {*expected, "iat", "exp", "jti"}
        assert (claims["exp"] - claims["iat"], before - 5 <= claims["iat"] <= time.time() - 5) == (65, True)
        for header, claim in CONTEXT_HEADERS.items():
            assert request.values(header) == ([] if claim == "parentInvocationId" else [claims[claim]])
        assert request.values("content-type") == request.values("accept") == ["application/json"]
        assert request.values("accept-encoding") == ["identity"]
    assert len({credential_of(request).claims["jti"] for request in requests}) == 2


@pytest.mark.rows("AUTH-12")
async def test_the_delegation_goes_with_the_message_only(platform: Platform) -> None:
    platform.agent.script(a_task("working"), a_task("completed", [data(1)]))
    reply = await platform.invoke()
    first, second = platform.agent.calls(None, reply.json["invocationId"])
    assert second.values("x-platform-delegation") == []
    token = delegation_of(first)
    assert hmac.digest(delegation_key(ROUTER_SEED), token.signed, "sha256") == token.signature
    assert token.header == {"alg": "HS256", "typ": "platform-delegation+jwt", "kid": "router-1"}
    claims = dict(token.claims)
    assert document("agent-delegation/2").violations(claims) == ()
    issued, expires = claims.pop("iat"), claims.pop("exp")
    assert 60 <= expires - issued <= 61
    assert claims == {
        "iss": "http://127.0.0.1:8081",
        "aud": ["http://127.0.0.1:8081"],
        "workspaceId": "space",
        "agentId": "acme:agent",
        "releaseId": platform.release.release_id,
        "invocationId": reply.json["invocationId"],
        "rootTaskId": reply.json["rootTaskId"],
        "traceId": reply.json["traceId"],
        "depth": 0,
    }


@pytest.mark.rows("AUTH-12b")
async def test_a_credential_carries_its_own_body_once_and_no_other(platform: Platform) -> None:
    reply = await platform.invoke()
    (request,) = platform.agent.calls(None, reply.json["invocationId"])
    trust = Trust(
        "http://127.0.0.1:8081", platform.agent.origin, "router-1", VerifyKey.parse(to_base64url(bytes(PUBLIC_KEY)))
    )
    verifier = Verifier(trust, ReplayMemory())
    headers = [(name.encode(), value.encode()) for name, value in request.headers]
    with pytest.raises(Rejected) as rejected:
        verifier.verify(headers, request.body.replace(b"message/send", b"tasks/cancel"))
    assert rejected.value.status == 403
    assert verifier.verify(headers, request.body).invocation_id == reply.json["invocationId"]
    with pytest.raises(Rejected) as replayed:
        verifier.verify(headers, request.body)
    assert replayed.value.status == 401


@pytest.mark.rows("AUTH-12")
async def test_the_life_of_a_credential_is_the_setting_and_five_seconds(postgres: PostgresForTests) -> None:
    settings = {"PLATFORM_ROUTER_AGENT_CREDENTIAL_TTL_SECONDS": "7"}
    async with running_platform(await postgres.new_platform(), Changes(router=settings)) as platform:
        await platform.invoke()
        claims = credential_of(platform.agent.received[0]).claims
        assert claims["exp"] - claims["iat"] == 12
