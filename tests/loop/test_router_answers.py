"""What the Gateway makes of its Router: absent, silent, or saying what it should not."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from aop.base.settings import Secret
from aop.contracts.errors import ErrorCode, code_entries
from aop.control_plane.dispatch.invocations import GUARD_SECONDS
from aop.control_plane.dispatch.router_client import READ_SECONDS, RouterClient, RouterUnavailable
from aop.control_plane.settings import ControlPlaneSettings
from aop.local.ports import any_free_port
from aop.net.http import HttpClient
from aop.net.peer import Peer
from aop.net.policy import Resolver
from tests.loop.router_answers import (
    IDS,
    OTHER,
    REFUSED,
    WITH_IDS,
    WITHOUT_IDS,
    ScriptedRouter,
    error,
    error_body,
    raw,
    result,
    typed,
)
from tests.support.errors import require_error
from tests.support.loop import SPACE, Changes, Platform, gateway_alone, invoking
from tests.support.peers import Behaviour, Received, hold, listening, reset
from tests.support.postgres import PostgresForTests
from tests.support.waiting import becomes_true, promptly

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def router() -> ScriptedRouter:
    return ScriptedRouter()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(postgres: PostgresForTests, router: ScriptedRouter) -> AsyncIterator[Platform]:
    settings = {
        "PLATFORM_GATEWAY_RESULT_MAX_BYTES": "2000",
        "PLATFORM_METADATA_RESPONSE_MAX_BYTES": "2000",
        "PLATFORM_INVOCATION_DEADLINE_MS": "1",
    }
    stores = await postgres.new_platform()
    async with listening(router.meet) as port, gateway_alone(stores, port, Changes(control_plane=settings)) as alone:
        yield alone


@pytest.mark.rows("INV-29", "SAFE-12", "REAS-01")
@pytest.mark.parametrize("name", [*WITHOUT_IDS, *(f"accepted, then {name}" for name in WITH_IDS)])
async def test_a_wrong_answer_of_the_router_is_a_dependency_error(
    gateway: Platform, router: ScriptedRouter, name: str
) -> None:
    correlated = name.startswith("accepted, then ")
    router.behave = WITH_IDS[name.removeprefix("accepted, then ")] if correlated else WITHOUT_IDS[name]
    count = len(router.received)
    reply = await gateway.invoke()
    before = None if name in REFUSED else "acceptance_unknown"
    require_error(reply, 503, "DEPENDENCY_ERROR", "4", "outcome_unknown" if correlated else before)
    (request,) = router.received[count:]
    assert reply.json["traceId"] == request.json["traceId"]
    expected = {item: request.json[item] for item in IDS} if correlated else {}
    assert {item: reply.json[item] for item in IDS if item in reply.json} == expected


@pytest.mark.rows("INV-29", "INV-32")
@pytest.mark.parametrize(
    ("code", "correlated", "reason"),
    [
        ("OVERLOADED", False, None),
        ("DEPENDENCY_ERROR", False, None),
        ("DEPENDENCY_ERROR", False, "acceptance_unknown"),
        ("AGENT_RELEASE_SUSPENDED", False, None),
        ("PAYLOAD_TOO_LARGE", False, None),
        ("PAYLOAD_TOO_LARGE", False, "schema_work"),
        ("DEPENDENCY_ERROR", True, None),
        ("TIMEOUT", True, None),
        ("CANCELED", True, None),
        ("AGENT_UNAVAILABLE", True, None),
        ("AGENT_RESPONSE_TOO_LARGE", True, "schema_work"),
        ("INTERNAL_ERROR", True, None),
    ],
)
async def test_a_right_error_of_the_router_passes_as_it_is(
    gateway: Platform, router: ScriptedRouter, code: str, correlated: bool, reason: str | None
) -> None:
    members: dict[str, Any] = {} if reason is None else {"reason": reason}
    router.behave = error(code, correlated=correlated, **members)
    reply = await gateway.invoke()
    require_error(reply, code_entries()[ErrorCode(code)].status, code, "4", reason)
    assert reply.body == error_body(router.received[-1], code, correlated, **members)
    assert reply.header("retry-after") == ("1" if code == "OVERLOADED" else None)


@pytest.mark.parametrize("media_type", [b"application/json; charset=utf-8", b"Application/JSON ;charset=utf-8"])
async def test_json_in_another_spelling_is_a_result(
    gateway: Platform, router: ScriptedRouter, media_type: bytes
) -> None:
    router.behave = typed(media_type)
    assert (await gateway.invoke()).status == 200


async def test_the_dispatch_is_what_the_contract_says(gateway: Platform, router: ScriptedRouter) -> None:
    router.behave = result()
    content = b'{ "n" : 1.10, "e":1e400 }'
    reply = await gateway.invoke(content)
    assert reply.status == 200, reply.body
    request = router.received[-1]
    assert (request.verb, request.target) == ("POST", "/internal/v1/invocations")
    assert request.values("x-platform-trace-id") == [reply.json["traceId"]]
    assert request.values("accept") == ["application/json"]
    assert len(request.values("authorization")) == 1
    assert b'"input":' + content in request.body
    assert len(bytes.fromhex(request.json["authorizationDigest"])) == 32
    left_out = {*IDS, "traceId", "input", "authorizationDigest"}
    assert {name: value for name, value in request.json.items() if name not in left_out} == {
        "workspaceId": SPACE,
        "targetAgentId": "acme:agent",
        "capability": "work",
        "caller": {"type": "user", "id": "alice"},
        "agentCardVersion": "1.0.0",
        "agentReleaseId": gateway.release.release_id,
        "agentCardDigest": gateway.release.card_digest,
        "stream": False,
    }


@pytest.mark.rows("TMO-06")
async def test_a_silent_router_is_a_dependency_error_and_no_timeout(
    postgres: PostgresForTests, router: ScriptedRouter
) -> None:
    def hasty(settings: ControlPlaneSettings) -> ControlPlaneSettings:
        """As if the longest deadline lay so far back that 0.3 s of the guard are left."""
        unit = replace(settings.unit, invocation_deadline_ms=int(300 - GUARD_SECONDS * 1000))
        return replace(settings, unit=unit)

    assert (GUARD_SECONDS, READ_SECONDS) == (15.0, 30.0)
    router.behave = hold
    stores = await postgres.new_platform()
    async with listening(router.meet) as port, gateway_alone(stores, port, Changes(adjust=hasty)) as gateway:
        reply = await gateway.invoke()
        await gateway.require_refused(reply, 503, "DEPENDENCY_ERROR", 0)
        assert reply.json["reason"] == "acceptance_unknown"
        router.behave = raw(b"", ended=False)
        reply = await gateway.invoke()
        require_error(reply, 503, "DEPENDENCY_ERROR", "4")
        assert reply.json["invocationId"] == router.received[-1].json["invocationId"]


@pytest.mark.rows("TMO-06")
async def test_a_stalled_read_of_the_router_is_given_up(router: ScriptedRouter) -> None:
    router.behave = hold
    client = HttpClient(idle_seconds=1, connect_seconds=1)
    async with listening(router.meet) as port:
        peer = Peer(f"http://127.0.0.1:{port}", client, Resolver())
        with pytest.raises(RouterUnavailable):
            await RouterClient(peer, Secret("token"), 100).read("/internal/v1/workspaces/a/traces/b", 0.1)
        await client.close()


@pytest.mark.rows("CAN-04")
async def test_the_gateway_leaves_its_router_within_a_second_of_its_caller(
    gateway: Platform, router: ScriptedRouter
) -> None:
    router.behave = hold
    count = len(router.received)

    async def heard() -> bool:
        return len(router.received) > count

    async with invoking(gateway):
        await becomes_true(heard)
    async with promptly(1):
        await router.received[-1].left.wait()


READS = ("/invocations", "/figures", "/events", f"/invocations/{OTHER['invocationId']}", f"/traces/{OTHER['traceId']}")


def saying(body: bytes, status: int = 200, *headers: bytes) -> Behaviour:
    async def behave(request: Received) -> None:
        await request.answer(body, status, *headers)

    return behave


@pytest.mark.rows("INV-29", "LED-11")
@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize(
    "behave",
    [
        saying(b"{}"),
        saying(b'{"items":[],"extra":1}'),
        saying(b'{"items":[],"items":[]}'),
        saying(b'{"items":[{}]}'),
        saying(b'{"items":[]}', 200, b"content-type: text/html"),
        saying(b'{"items":[' + b" " * 2000 + b"]}"),
        saying(b"{}", 500),
        saying(b"{}", 401),
        saying(b"{}", 302, b"location: /elsewhere"),
        saying(b'{"violations":[{"pointer":"/limit","rule":"query_value"}]}', 400),
        saying(b"not JSON", 404),
        reset,
    ],
)
async def test_a_wrong_read_of_the_router_is_never_absence_or_success(
    gateway: Platform, router: ScriptedRouter, path: str, behave: Behaviour
) -> None:
    router.behave = behave
    reply = await gateway.gateway.get(f"/v1/workspaces/{SPACE}{path}", token=gateway.token)
    require_error(reply, 503, "DEPENDENCY_ERROR", "4")


async def test_a_window_with_too_many_kinds_of_calls_is_refused_as_the_router_refuses_it(
    gateway: Platform, router: ScriptedRouter
) -> None:
    router.behave = saying(b'{"violations":[{"pointer":"/since","rule":"too_many_kinds"}]}', 400)
    reply = await gateway.gateway.get(f"/v1/workspaces/{SPACE}/figures", token=gateway.token)
    require_error(reply, 400, "VALIDATION_ERROR", "4")
    assert reply.json["violations"] == [{"pointer": "/since", "rule": "too_many_kinds"}]
    reply = await gateway.gateway.get(f"/v1/workspaces/{SPACE}/invocations", token=gateway.token)
    require_error(reply, 503, "DEPENDENCY_ERROR", "4")


@pytest.mark.parametrize(
    "behave",
    [
        saying(b"{}"),
        saying(b"{}", 404),
        saying(b'{"code":"NOT_FOUND","message":"","traceId":""}', 404),
        saying(b'{"violations":[{"pointer":"/cursor","rule":"cursor"}]}', 400),
        saying(b'{"releaseId":"rel_%s","callsLastHour":0,"callsLastDay":0,"running":0}' % (b"e" * 32)),
        saying(b"{}", 500),
        reset,
    ],
)
async def test_calls_that_the_router_does_not_count_are_an_error_and_never_0(
    gateway: Platform, router: ScriptedRouter, behave: Behaviour
) -> None:
    router.behave = behave
    path = f"/v1/releases/{gateway.release.release_id}/reach"
    require_error(await gateway.gateway.get(path, token=gateway.token), 503, "DEPENDENCY_ERROR", "2")


@pytest.mark.rows("INV-26", "LED-11")
async def test_without_a_router_nothing_is_known_and_nothing_was_begun(postgres: PostgresForTests) -> None:
    async with gateway_alone(await postgres.new_platform(), any_free_port()) as gateway:
        for stream in (False, True):
            accept = b"text/event-stream" if stream else b"application/json"
            reply = await gateway.invoke(stream=stream, headers=((b"accept", accept),))
            await gateway.require_refused(reply, 503, "DEPENDENCY_ERROR", 0)
            assert reply.json["reason"] == "router_unreachable"
        for path in READS:
            reply = await gateway.gateway.get(f"/v1/workspaces/{SPACE}{path}", token=gateway.token)
            require_error(reply, 503, "DEPENDENCY_ERROR", "4")
