"""Callers who leave a stream, in every way and at every stage: one `canceled`, at most one tasks/cancel, soon."""

import asyncio
from collections.abc import Callable

import pytest

from aop.local.state import DatabaseUrls
from tests.loop.test_overload import locked
from tests.support.agent import a_task, credential_of, data, invocation_of, rpc_error
from tests.support.locks import waiting_for_a_lock
from tests.support.loop import Changes, Platform, running_platform
from tests.support.peers import Behaviour, Received, hold
from tests.support.postgres import PostgresForTests
from tests.support.stream import StreamCaller, requesting, require_sent, streaming
from tests.support.streaming_agent import a_whole_stream, endless, message, piece, status, streamed, task
from tests.support.waiting import a_while, becomes_true, generous, promptly

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOTICED_SECONDS = 0.9
LEAVING: dict[str, Callable[[StreamCaller], None]] = {
    "fin": StreamCaller.leave,
    "reset": StreamCaller.reset,
    "half close": StreamCaller.half_close,
}


async def canceled_in(platform: Platform, request: Received, left_at: float) -> list[str]:
    """The types of its events, after the Agent's connection closed and `canceled` was recorded soon enough."""
    async with promptly(2):
        await request.left.wait()
    assert asyncio.get_running_loop().time() - left_at < generous(NOTICED_SECONDS)
    detail = await platform.ended(invocation_of(request))
    assert detail["invocation"]["errorCode"] == "CANCELED"
    return [event["type"] for event in detail["events"]]


@pytest.mark.second_ring
@pytest.mark.rows("CAN-01", "CAN-06")
@pytest.mark.parametrize(("time", "way"), list(enumerate(["fin", "reset", "half close", "fin", "reset"])))
async def test_leaving_after_the_first_chunk_cancels_the_task_exactly_once(
    platform: Platform, time: int, way: str
) -> None:
    platform.agent.script(streamed(task(), piece(0, 0, 2), end="open"))
    cancels = len(platform.agent.calls("tasks/cancel"))
    async with streaming(platform) as caller:
        await caller.event("chunk")
        (request,) = platform.agent.calls(None, caller.invocation_id)
        left_at = asyncio.get_running_loop().time()
        LEAVING[way](caller)
        types = await canceled_in(platform, request, left_at)
    assert types == ["created", "routing", "started", "stream", "canceled"]
    cancel = await platform.agent.arrival("tasks/cancel", cancels + 1, generous(1))
    assert platform.agent.methods(caller.invocation_id) == ["message/stream", "tasks/cancel"]
    tokens = [credential_of(item) for item in (request, cancel)]
    assert tokens[0].claims["jti"] != tokens[1].claims["jti"]
    assert request.values("authorization") != cancel.values("authorization")
    assert cancel.target == request.target
    assert cancel.json["params"] == {"id": "task-7"}
    assert cancel.values("x-platform-delegation") == []


STAGES: dict[str, tuple[Behaviour, bool]] = {
    "no answer yet": (hold, False),
    "head only": (streamed(end="open"), False),
    "task known": (streamed(task(), end="open"), True),
    "working": (streamed(task(), status("working"), end="open"), True),
    "messages only": (streamed(message(1), end="open"), False),
    "chunks without end": (endless(1, seconds=0.001), True),
}


@pytest.mark.second_ring
@pytest.mark.rows("CAN-01", "CAN-05")
@pytest.mark.parametrize("way", LEAVING)
@pytest.mark.parametrize("stage", STAGES)
async def test_leaving_is_noticed_at_every_stage(platform: Platform, stage: str, way: str) -> None:
    behaviour, cancels = STAGES[stage]
    platform.agent.script(behaviour)
    count = len(platform.agent.calls("message/stream"))
    async with streaming(platform) as caller:
        request = await platform.agent.arrival("message/stream", count + 1)
        await a_while(0.02)  # what the Agent says first is on its way
        left_at = asyncio.get_running_loop().time()
        LEAVING[way](caller)
        if stage == "chunks without end":
            detail = await platform.ended(caller.invocation_id, generous(NOTICED_SECONDS))
            assert detail["events"][-1]["type"] == "canceled"
        else:
            assert (await canceled_in(platform, request, left_at))[-1] == "canceled"
    await require_sent(platform, caller, cancels=cancels)


@pytest.mark.second_ring
@pytest.mark.rows("CAN-04", "CAN-05")
@pytest.mark.parametrize("way", LEAVING)
@pytest.mark.parametrize("behaviour", [hold, a_task("working")])
async def test_leaving_in_json_mode_is_noticed_just_as_soon(platform: Platform, behaviour: Behaviour, way: str) -> None:
    platform.agent.script(behaviour)
    count = len(platform.agent.calls("message/send"))
    async with requesting(platform, stream=False, accept=()) as caller:
        request = await platform.agent.arrival("message/send", count + 1)
        LEAVING[way](caller)
        detail = await platform.ended(invocation_of(request), generous(NOTICED_SECONDS))
    assert [event["type"] for event in detail["events"]] == ["created", "routing", "started", "canceled"]


@pytest.mark.second_ring
@pytest.mark.rows("CAN-07")
async def test_leaving_before_acceptance_leaves_no_record(platform: Platform) -> None:
    recorded = await platform.recorded()
    body = platform.request(stream=True)
    _, writer = await asyncio.open_connection("127.0.0.1", platform.gateway.port)
    writer.write(
        f"POST /v1/workspaces/space/invocations HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n"
        f"authorization: Bearer {platform.token}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n".encode()
        + body[:-1]
    )
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    await asyncio.sleep(0.2)
    assert await platform.recorded() == recorded


@pytest.mark.second_ring
@pytest.mark.rows("CAN-07")
async def test_leaving_while_acceptance_is_written_means_no_work_for_the_agent(
    postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    async with running_platform(stores) as platform:
        async with locked(postgres, stores, "ledger.invocation"), requesting(platform) as caller:
            await waiting_for_a_lock(postgres, stores)
            caller.reset()
            await a_while(0.1)

        async def accepted() -> bool:
            return bool((await platform.read("/invocations"))["items"])

        await becomes_true(accepted)
        (record,) = (await platform.read("/invocations"))["items"]
        detail = await platform.ended(record["invocationId"])
        assert [event["type"] for event in detail["events"]] == ["created", "routing", "started", "canceled"]
        assert platform.agent.received == []


@pytest.mark.second_ring
@pytest.mark.rows("CAN-02")
@pytest.mark.parametrize(("patience", "held"), [(1.5, 1.6), (5, 0.1)], ids=["the write fails", "the write is late"])
async def test_leaving_while_progress_is_written_is_canceled_and_nothing_else(
    postgres: PostgresForTests, stores: DatabaseUrls, patience: float, held: float
) -> None:
    changes = Changes(router={"PLATFORM_ROUTER_LEDGER_WRITE_TIMEOUT_MS": str(round(1000 * patience))})
    async with running_platform(stores, changes) as platform:
        platform.agent.script(streamed(task(), piece(0, 0, 2), end="open"))
        async with streaming(platform) as caller:
            async with locked(postgres, stores, "ledger.event"):
                await caller.event("chunk")
                await waiting_for_a_lock(postgres, stores)
                caller.reset()
                await asyncio.sleep(held)
            detail = await platform.ended(caller.invocation_id)
        assert [event["type"] for event in detail["events"]] == ["created", "routing", "started", "stream", "canceled"]
        await platform.agent.arrival("tasks/cancel", 1, generous(1))
        assert platform.agent.methods(caller.invocation_id) == ["message/stream", "tasks/cancel"]


@pytest.mark.rows("CAN-02")
async def test_a_write_to_a_socket_that_fails_is_canceled(platform: Platform) -> None:
    go_on = asyncio.Event()
    platform.agent.script(streamed(task(), piece(0, 0, 9), go_on, *[piece(n, n, 9) for n in range(1, 8)], end="open"))
    async with streaming(platform) as caller:
        await caller.event("chunk")
        caller.reset()
        go_on.set()
        detail = await platform.ended(caller.invocation_id, generous(NOTICED_SECONDS))
    assert detail["invocation"]["errorCode"] == "CANCELED"


@pytest.mark.rows("CAN-03")
async def test_a_terminal_under_way_stands_although_the_caller_leaves(
    postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    async with running_platform(stores) as platform:
        end = asyncio.Event()
        whole = a_whole_stream(1)
        platform.agent.script(streamed(*whole[:-1], end, whole[-1]))
        async with streaming(platform) as caller:
            await caller.event("chunk")
            async with locked(postgres, stores, "ledger.event"):
                end.set()
                await waiting_for_a_lock(postgres, stores)
                caller.reset()
                await asyncio.sleep(0.2)
            detail = await platform.ended(caller.invocation_id)
        assert [event["type"] for event in detail["events"]][-2:] == ["stream", "succeeded"]
        await asyncio.sleep(0.1)
        assert platform.agent.methods(caller.invocation_id) == ["message/stream"]


@pytest.mark.second_ring
@pytest.mark.rows("CAN-08")
@pytest.mark.parametrize(
    "answer", [rpc_error(-32002), rpc_error(-32001), hold, a_task("completed", [data(1)]), streamed(task(), end="cut")]
)
async def test_an_agent_that_refuses_or_ignores_the_cancel_changes_nothing(
    platform: Platform, answer: Behaviour
) -> None:
    usual, platform.agent.on_cancel = platform.agent.on_cancel, answer
    platform.agent.script(endless(1, seconds=0.005))
    count = len(platform.agent.calls("tasks/cancel"))
    async with streaming(platform) as caller:
        await caller.event("chunk")
    await platform.agent.arrival("tasks/cancel", count + 1)
    await asyncio.sleep(0.1)
    assert (await platform.types(caller.invocation_id))[-1] == "canceled"
    assert platform.agent.methods(caller.invocation_id) == ["message/stream", "tasks/cancel"]
    platform.agent.on_cancel = usual
