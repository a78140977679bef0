"""`POST /internal/v1/invocations` as the Control Plane sends it: what is refused, and what an accepted answer bears."""

import asyncio
import json
from typing import Any

import asyncpg
import pytest

from aop.contracts.documents import document
from aop.net.http import HttpError
from aop.net.server import HttpServer
from tests.router.conftest import Lone, LoneRouter
from tests.support.agent import a_message, data, rpc_error
from tests.support.errors import require_error
from tests.support.peers import after, hold
from tests.support.streaming_agent import message, streamed
from tests.support.vectors import cases

ID_HEADERS = ("x-platform-invocation-id", "x-platform-root-task-id")


async def test_accepted_answers_bear_the_dispatched_ids_and_trace(router: LoneRouter) -> None:
    for behaviour, status in ((a_message(data(1)), 200), (rpc_error(1), 502)):
        router.agent.script(behaviour)
        body = router.plane.dispatch()
        reply = await router.dispatch(body)
        assert reply.status == status
        assert [reply.header(name) for name in ID_HEADERS] == [body["invocationId"], body["rootTaskId"]]
        assert reply.header("x-platform-trace-id") == reply.json["traceId"] == body["traceId"]


@pytest.mark.parametrize(
    "members",
    [
        {"invocationId": "inv_1"},
        {"invocationId": "task_" + "0" * 32},
        {"rootTaskId": "x"},
        {"traceId": "0" * 32},
        {"caller": {"type": "agent", "id": "a"}},
        {"caller": {"type": "user"}},
        {"parentInvocationId": "inv_" + "1" * 32},
        {"agentCardDigest": "x"},
        {"input": []},
        {"stream": None},
        {"extra": 1},
    ],
)
async def test_a_dispatch_that_breaks_the_contract_is_refused(router: LoneRouter, members: dict[str, Any]) -> None:
    reply = await router.dispatch(**members)
    require_error(reply, 400, "VALIDATION_ERROR", "4")
    assert [reply.header(name) for name in ID_HEADERS] == [None, None]
    assert (await router.recorded(), router.plane.resolves) == (0, [])


async def test_an_invocation_id_is_taken_once(router: LoneRouter) -> None:
    body = router.plane.dispatch()
    assert (await router.dispatch(body)).status == 200
    require_error(await router.dispatch(body), 409, "CONFLICT", "4")
    again = [router.plane.dispatch()] * 5
    statuses = sorted([reply.status for reply in await asyncio.gather(*map(router.dispatch, again))])
    assert statuses == [200, 409, 409, 409, 409]
    assert len(router.agent.received) == 2


@pytest.mark.rows("INV-04", "INV-05", "DOOR-08")
async def test_accept_counts_here_too(router: LoneRouter) -> None:
    for case in cases("accept"):
        headers = [(b"accept", value.encode()) for value in case["accept"]]
        if case["verdict"] == "not_acceptable":
            reply = await router.dispatch(headers=headers, stream=case["stream"])
            require_error(reply, 406, "NOT_ACCEPTABLE", "4")
    assert (await router.recorded(), router.plane.resolves) == (0, [])


@pytest.mark.rows("INV-30")
async def test_a_full_router_answers_under_the_trace_it_was_given(lone: Lone) -> None:
    async with lone(PLATFORM_ROUTER_MAX_IN_FLIGHT_INVOCATIONS="1") as router:
        release = asyncio.Event()
        router.agent.script(after(release, a_message(data(1))))
        running = asyncio.create_task(router.dispatch())
        await router.agent.arrival("message/send")
        trace = b"0123456789abcdef" * 2
        reply = await router.dispatch(headers=[(b"x-platform-trace-id", trace)])
        require_error(reply, 503, "OVERLOADED", "4")
        assert (reply.json["traceId"], reply.header("retry-after")) == (trace.decode(), "1")
        for broken in ([(b"x-platform-trace-id", b"0" * 32)], [(b"x-platform-trace-id", trace)] * 2):
            reply = await router.dispatch(headers=broken)
            require_error(reply, 503, "OVERLOADED", "4")
            assert reply.json["traceId"] not in {"0" * 32, trace.decode()}
        release.set()
        assert (await running).status == 200


async def test_the_setting_bounds_an_answer_when_the_card_allows_more(lone: Lone) -> None:
    async with lone(PLATFORM_ROUTER_AGENT_RESPONSE_LIMIT_BYTES="180") as router:
        router.agent.script(a_message(data("x" * 180)))
        require_error(await router.dispatch(), 502, "AGENT_RESPONSE_TOO_LARGE", "4", "body_size")
        router.agent.script(a_message(data(1)))
        assert (await router.dispatch()).status == 200


async def test_reads_are_scoped_to_their_workspace_and_ids_are_judged(router: LoneRouter) -> None:
    body = router.plane.dispatch()
    await router.dispatch(body)
    found = await router.read(f"/invocations/{body['invocationId']}")
    assert document("invocation-detail/2").violations(found.json) == ()
    assert document("trace/2").violations((await router.read(f"/traces/{body['traceId']}")).json) == ()
    require_error(await router.read("/invocations/inv_" + "0" * 32), 404, "NOT_FOUND", "4")
    require_error(await router.read("/traces/" + "f" * 32), 404, "NOT_FOUND", "4")
    require_error(await router.read("/traces/xyz"), 400, "VALIDATION_ERROR", "4")
    require_error(await router.read("/invocations?cursor=x"), 400, "VALIDATION_ERROR", "4")


async def test_a_call_whose_server_stops_at_once_still_has_its_terminal(router: LoneRouter) -> None:
    router.agent.script(hold)
    call = asyncio.create_task(router.dispatch())
    await router.agent.arrival("message/send", 1)
    server = router.unit.server
    assert isinstance(server, HttpServer)
    await server.stop(0)
    with pytest.raises(HttpError):
        await call
    connection = await asyncpg.connect(router.stores.router)
    rows = await connection.fetch("SELECT type, error_code, reason FROM ledger.event")
    await connection.close()
    assert [tuple(row) for row in rows] == [("failed", "DEPENDENCY_ERROR", "router_restarted")]


async def test_the_log_of_a_failed_stream_has_its_code_and_reason_and_that_of_another_stream_none(
    lone: Lone, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The status of a stream is 200 before anybody knows how it ends."""
    async with lone() as router:
        for behaviour in (streamed(message(1)), rpc_error(1)):
            router.agent.script(behaviour)
            reply = await router.dispatch(stream=True, headers=[(b"accept", b"text/event-stream")])
            assert reply.status == 200
    lines = [line for line in capfdbinary.readouterr().err.splitlines() if b'"invocationId"' in line]
    logged = [(record["status"], record.get("code"), record.get("reason")) for record in map(json.loads, lines)]
    assert logged == [(200, None, None), (200, "AGENT_EXECUTION_FAILED", "rpc_error")]
