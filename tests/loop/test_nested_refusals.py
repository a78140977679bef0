"""Nested calls that are refused: in the order of the contract, nothing recorded, with the codes of all calls."""

import json
from typing import Any

import pytest

from aop.agent.testing import sealed
from aop.contracts.publication import ReleaseState
from aop.contracts.signing import SigningKey
from tests.support.agent import Token, a_message, a_task, data, rpc_error
from tests.support.cards import a_skill, some_limits
from tests.support.errors import require_error
from tests.support.loop import Platform, open_skill
from tests.support.nested import NESTED, Parent, nested_body, running_parent
from tests.support.peers import Behaviour, hold
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, ROUTER_SEED, ROUTER_TO_CONTROL_PLANE
from tests.support.units import Reply

pytestmark = pytest.mark.asyncio(loop_scope="module")
SIGNING_KEY = SigningKey.of_seed(ROUTER_SEED)
KEY = SIGNING_KEY.delegation_key()
HEADER = {"alg": "HS256", "typ": "platform-delegation+jwt", "kid": "router-1"}
FURTHER = {
    "invocationId": "inv_" + "0" * 32,
    "parentInvocationId": "inv_" + "0" * 32,
    "rootTaskId": "task_" + "0" * 32,
    "traceId": "1" * 32,
    "workspaceId": "space",
    "agentId": "acme:agent",
    "version": "1.0.0",
    "releaseId": "rel_" + "0" * 32,
    "caller": {"type": "user", "id": "alice"},
    "endpoint": "http://127.0.0.1/",
    "token": "x",
    "depth": 0,
    "deadlineAt": "2030-01-01T00:00:00.000000Z",
    "x": None,
}


def require_no_ids(reply: Reply, status: int, code: str) -> None:
    require_error(reply, status, code, "4")
    assert set(reply.json) - {"violations", "reason"} == {"code", "message", "traceId"}
    assert reply.header("x-platform-invocation-id") is None
    assert reply.header("x-platform-root-task-id") is None


async def require_refused(platform: Platform, reply: Reply, status: int, code: str, recorded: int) -> None:
    """No id anywhere, nothing recorded."""
    require_no_ids(reply, status, code)
    assert await platform.recorded() == recorded


async def counted(platform: Platform, route: str) -> float:
    """How often the Control Plane was asked that."""
    metrics = (await platform.gateway.get("/metrics")).body.decode()
    lines = [line for line in metrics.splitlines() if line.startswith("aop_http_requests_total") and route in line]
    return sum(float(line.rpartition(" ")[2]) for line in lines)


@pytest.mark.rows("NEST-04")
async def test_a_body_with_any_further_member_is_refused_before_anything_is_asked(platform: Platform) -> None:
    async with running_parent(platform) as parent:
        recorded, asked = await platform.recorded(), await counted(platform, "/resolve-")
        for name, value in FURTHER.items():
            body = nested_body(parent.target)[:-1] + b", %b: %b}" % (
                json.dumps(name).encode(),
                json.dumps(value).encode(),
            )
            reply = await platform.router.post(NESTED, body, token=parent.delegation)
            require_no_ids(reply, 400, "VALIDATION_ERROR")
            assert reply.json["traceId"] == parent.claims["traceId"]
        assert (await counted(platform, "/resolve-"), await platform.recorded()) == (asked, recorded)


BODIES: dict[str, tuple[bytes, int, str]] = {
    "stream missing": (nested_body("acme:agent", stream=None), 400, "VALIDATION_ERROR"),
    "capability missing": (nested_body("acme:agent", capability=None), 400, "VALIDATION_ERROR"),
    "target missing": (nested_body("x", targetAgentId=None), 400, "VALIDATION_ERROR"),
    "stream as text": (nested_body("acme:agent", stream="false"), 400, "VALIDATION_ERROR"),
    "input an array": (nested_body("acme:agent", b"[]"), 400, "VALIDATION_ERROR"),
    "a target with a space": (nested_body("acme agent"), 400, "VALIDATION_ERROR"),
    "a member twice": (nested_body("acme:agent")[:-1] + b', "stream": false}', 400, "VALIDATION_ERROR"),
    "empty": (b" ", 400, "VALIDATION_ERROR"),
    "more behind it": (nested_body("acme:agent") + b"{}", 400, "VALIDATION_ERROR"),
    "not JSON": (b"{", 400, "VALIDATION_ERROR"),
    "too large": (nested_body("acme:agent", b'{"x":"%b"}' % (b"a" * 1_048_576)), 413, "PAYLOAD_TOO_LARGE"),
}


@pytest.mark.rows("NEST-09")
async def test_a_body_that_is_no_nested_call_is_refused(platform: Platform) -> None:
    async with running_parent(platform) as parent:
        recorded, asked = await platform.recorded(), await counted(platform, "/resolve-")
        for body, status, code in BODIES.values():
            reply = await platform.router.post(NESTED, body, token=parent.delegation)
            require_no_ids(reply, status, code)
        plain = ((b"content-type", b"text/plain"),)
        reply = await parent.call(headers=plain)
        await require_refused(platform, reply, 400, "VALIDATION_ERROR", recorded)
        assert await counted(platform, "/resolve-") == asked


@pytest.mark.rows("NEST-09")
@pytest.mark.parametrize(
    ("stream", "accept"), [(True, b"application/json"), (True, b"text/event-stream;q=0, */*"), (False, b"text/*")]
)
async def test_stream_and_accept_must_agree(platform: Platform, stream: bool, accept: bytes) -> None:
    async with running_parent(platform) as parent:
        recorded = await platform.recorded()
        reply = await parent.call(headers=((b"accept", accept),), stream=stream)
        await require_refused(platform, reply, 406, "NOT_ACCEPTABLE", recorded)
        assert reply.json["traceId"] == parent.claims["traceId"]


@pytest.mark.rows("NEST-09")
async def test_input_is_judged_by_the_targets_own_schema_and_limit(platform: Platform) -> None:
    card, _, _ = await platform.installed(skills=[a_skill("work", requiredPermissions=[])])
    small, _, _ = await platform.installed(limits=some_limits(maxInputBytes=10))
    async with running_parent(platform) as parent:
        recorded = await platform.recorded()
        reply = await parent.call(card["agentId"], b'{"text":""}')
        await require_refused(platform, reply, 400, "VALIDATION_ERROR", recorded)
        assert [item["pointer"] for item in reply.json["violations"]] == ["/input/text"]
        reply = await parent.call(small["agentId"], b'{"text":"longer than ten bytes"}')
        await require_refused(platform, reply, 413, "PAYLOAD_TOO_LARGE", recorded)
        assert reply.json["reason"] == "input_size"


def forged(parent: Parent, **claims: Any) -> str:
    return sealed(HEADER, {**parent.claims, **claims}, KEY)


@pytest.mark.rows("NEST-05")
async def test_who_shows_no_delegation_of_this_router_is_unauthenticated(platform: Platform) -> None:
    async with running_parent(platform) as parent:
        recorded, asked = await platform.recorded(), await counted(platform, "/resolve-")
        credential = parent.request.values("authorization")[0].removeprefix("Bearer ")
        tokens = {
            "none": None,
            "another key": sealed(HEADER, parent.claims, SigningKey.of_seed(bytes(32)).delegation_key()),
            "signed, not tagged": sealed({**HEADER, "alg": "EdDSA"}, parent.claims, SIGNING_KEY),
            "tagged under the header of a signature": sealed({**HEADER, "alg": "EdDSA"}, parent.claims, KEY),
            "expired": forged(parent, exp=parent.claims["iat"] - 1),
            "another audience": forged(parent, aud=[platform.agent.origin]),
            "another issuer": forged(parent, iss="http://127.0.0.1:8099"),
            "another kid": sealed({**HEADER, "kid": "router-2"}, parent.claims, KEY),
            "a credential": credential,
            "claims of a credential": sealed(HEADER, Token.read(credential).claims, KEY),
            "the other typ": sealed({**HEADER, "typ": "platform-router+jwt"}, parent.claims, KEY),
            "a service token": CONTROL_PLANE_TO_ROUTER,
            "the other service token": ROUTER_TO_CONTROL_PLANE,
            "a caller's token": platform.token,
        }
        for token in tokens.values():
            # Authentication comes before the body, however wrong that is.
            for body in (nested_body(parent.target), b"{"):
                reply = await platform.router.post(NESTED, body, token=token)
                require_no_ids(reply, 401, "UNAUTHENTICATED")
                assert reply.json["traceId"] != parent.claims["traceId"]
        twice = ((b"authorization", f"Bearer {parent.delegation}".encode()),) * 2
        reply = await platform.router.post(NESTED, nested_body(parent.target), headers=twice)
        await require_refused(platform, reply, 401, "UNAUTHENTICATED", recorded)
        assert await counted(platform, "/resolve-") == asked


@pytest.mark.rows("NEST-05", "NEST-06")
async def test_a_delegation_that_disagrees_with_its_invocation_is_unauthenticated(platform: Platform) -> None:
    async with running_parent(platform) as parent:
        recorded = await platform.recorded()
        differing = {
            "workspaceId": "other",
            "agentId": "acme:other",
            "releaseId": "rel_" + "0" * 32,
            "rootTaskId": "task_" + "0" * 32,
            "traceId": "a" * 32,
        }
        for name, value in differing.items():
            reply = await platform.router.post(
                NESTED, nested_body(parent.target), token=forged(parent, **{name: value})
            )
            require_no_ids(reply, 401, "UNAUTHENTICATED")
        unknown = forged(parent, invocationId="inv_" + "0" * 32)
        reply = await platform.router.post(NESTED, nested_body(parent.target), token=unknown)
        await require_refused(platform, reply, 409, "CONFLICT", recorded)


@pytest.mark.rows("NEST-06")
@pytest.mark.parametrize(
    ("script", "milliseconds", "status"),
    [
        ((a_message(data(1)),), 60_000, "succeeded"),
        ((rpc_error(-1),), 60_000, "failed"),
        ((a_task("canceled"),), 60_000, "canceled"),
        ((hold,), 1_500, "timed_out"),
    ],
)
async def test_a_parent_that_ended_in_any_way_gets_no_child(
    platform: Platform, script: tuple[Behaviour, ...], milliseconds: int, status: str
) -> None:
    card, _, _ = await platform.installed(limits=some_limits(timeoutMs=milliseconds))
    async with running_parent(platform, *script, agentId=card["agentId"]) as parent:
        ended = await platform.ended(parent.invocation_id)
        assert ended["invocation"]["status"] == status
        recorded = await platform.recorded()
        # A delegation outlives its Invocation by the rounding of a second, or by more when it ends early.
        token = forged(parent, exp=parent.claims["exp"] + 60)
        reply = await platform.router.post(NESTED, nested_body(parent.target), token=token)
        await require_refused(platform, reply, 409, "CONFLICT", recorded)
        assert reply.json["traceId"] == parent.claims["traceId"]


@pytest.mark.rows("NEST-08")
async def test_what_the_workspace_may_not_run_is_refused_with_its_own_code(platform: Platform) -> None:
    guarded = {"skills": [open_skill(requiredPermissions=["a.b"])], "permissions": [{"id": "a.b", "description": "x"}]}
    narrow, _, _ = await platform.installed(skills=[open_skill("other")])
    disabled, _, installation = await platform.installed()
    uninstalled, _, gone = await platform.installed()
    suspended, on_hold, _ = await platform.installed()
    revoked, taken_back, _ = await platform.installed()
    retired, withdrawn, _ = await platform.installed(**guarded)
    assert (await platform.owner.set_status(installation, "disabled")).status == 200
    assert (await platform.owner.uninstall(gone)).status == 200
    await platform.move(on_hold, ReleaseState.SUSPENDED)
    await platform.move(taken_back, ReleaseState.REVOKED)
    await platform.catalog.disable(retired)
    await platform.sees(withdrawn, "disabled")
    expected = {
        "acme:nobody": (404, "AGENT_NOT_INSTALLED"),
        uninstalled["agentId"]: (404, "AGENT_NOT_INSTALLED"),
        disabled["agentId"]: (409, "INSTALLATION_DISABLED"),
        suspended["agentId"]: (409, "AGENT_RELEASE_SUSPENDED"),
        revoked["agentId"]: (409, "AGENT_RELEASE_REVOKED"),
        retired["agentId"]: (409, "AGENT_DISABLED"),
        narrow["agentId"]: (403, "CAPABILITY_NOT_ALLOWED"),
    }
    async with running_parent(platform) as parent:
        recorded = await platform.recorded()
        for agent_id, (status, code) in expected.items():
            reply = await parent.call(agent_id)
            require_no_ids(reply, status, code)
            assert reply.json["traceId"] == parent.claims["traceId"]
        assert await platform.recorded() == recorded


@pytest.mark.rows("NEST-15")
async def test_only_the_workspace_of_the_delegation_is_reachable(platform: Platform) -> None:
    """The parent's Agent is installed in both Workspaces, the target in the second alone."""
    await platform.owner.workspace("second")
    await platform.owner.install(platform.card["agentId"], accepted=[], space="second")
    card, _, installation = await platform.installed()
    assert (await platform.owner.uninstall(installation)).status == 200
    await platform.owner.install(card["agentId"], accepted=[], space="second")
    async with running_parent(platform) as parent:
        recorded = await platform.recorded()
        reply = await parent.call(card["agentId"])
        await require_refused(platform, reply, 404, "AGENT_NOT_INSTALLED", recorded)
        reply = await parent.call()
        assert (await platform.detail(reply.json["invocationId"]))["invocation"]["workspaceId"] == "space"
