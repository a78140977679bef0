"""How parents end and what becomes of their children: canceled with a canceled or timed-out parent, else untouched."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio

from aop.agent import AgentContext
from tests.support.agent import a_message, a_task, data, echo, invocation_of, rpc_error
from tests.support.cards import some_limits
from tests.support.loop import Changes, Platform, invoking, running_platform
from tests.support.nested import ANY_PORT, Crew, asking_child, running_crew, running_parent, streaming_task
from tests.support.peers import Behaviour, Received, after, hold
from tests.support.postgres import PostgresForTests
from tests.support.waiting import a_while, becomes_true, generous, generous_ms, promptly

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crew(postgres: PostgresForTests) -> AsyncIterator[Crew]:
    allowed = {"PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON": ANY_PORT}
    urls = await postgres.new_platform()
    changes = Changes(control_plane=allowed, router=allowed)
    async with running_platform(urls, changes) as platform, running_crew(platform) as crew:
        yield crew
    await postgres.drop(urls.migration.rpartition("/")[2])


async def child_of(platform: Platform, number: int, method: str = "message/send") -> Received:
    return await platform.agent.arrival(method, number)


async def require_at_once(platform: Platform, parent_id: str, child_id: str) -> None:
    """Far sooner than by the Ledger, which is for parents on other Routers."""
    ends = [
        datetime.fromisoformat((await platform.ended(each))["invocation"]["updatedAt"])
        for each in (parent_id, child_id)
    ]
    assert timedelta(0) <= ends[1] - ends[0] < timedelta(seconds=generous(0.25))


async def status_of(platform: Platform, invocation_id: str) -> str:
    return str((await platform.detail(invocation_id))["invocation"]["status"])


def calling(*targets: str) -> Any:
    async def act(context: AgentContext, skill_input: Any) -> Any:
        return await asyncio.gather(*(context.call(target, "work", skill_input) for target in targets))

    return act


@pytest.mark.rows("NEST-12", "CAN-06")
async def test_when_the_roots_caller_leaves_all_running_descendants_are_canceled_once_each(crew: Crew) -> None:
    """Root, two children and two grandchildren, every one with a Task its Agent works on."""
    platform = crew.platform
    platform.agent.usual = (a_task("working"),)
    middle = await crew.hire(calling(platform.card["agentId"]), patience=0)
    top = await crew.hire(calling(middle, middle), patience=0)
    number = len(platform.agent.calls("tasks/get"))
    async with invoking(platform, agentId=top):
        await platform.agent.arrival("tasks/get", number + 4)
        trace_id = crew.seen[-1][1].trace_id
    records = (await platform.read(f"/traces/{trace_id}"))["invocations"]
    assert len(records) == 5
    for record in records:
        detail = await platform.ended(record["invocationId"], generous(2))
        assert detail["invocation"]["status"] == "canceled"
        assert detail["invocation"]["errorCode"] == "CANCELED"
    await becomes_true(lambda: _all_told(crew, records))
    await asyncio.sleep(0.1)
    for record in records:
        told = [*platform.agent.methods(record["invocationId"]), *crew.methods(record["invocationId"])]
        assert told.count("tasks/cancel") == 1
        assert told.count("message/send") == 1
    platform.agent.usual = ()


async def _all_told(crew: Crew, records: list[dict[str, Any]]) -> bool:
    ids = {record["invocationId"] for record in records}
    told = {invocation_of(call) for call in crew.platform.agent.calls("tasks/cancel")}
    told |= {context.invocation_id for method, context in crew.seen if method == "tasks/cancel"}
    return ids <= told


@pytest.mark.rows("NEST-12")
@pytest.mark.parametrize("stream", [False, True])
async def test_a_child_ends_with_its_canceled_parent_though_its_own_caller_stays(
    platform: Platform, stream: bool
) -> None:
    method, behaviour = ("message/stream", streaming_task) if stream else ("tasks/get", a_task("working"))
    number = len(platform.agent.calls(method)) + 1
    cancels = len(platform.agent.calls("tasks/cancel"))
    async with AsyncExitStack() as stays:
        async with running_parent(platform) as parent:
            platform.agent.script(behaviour)
            call = await stays.enter_async_context(asking_child(parent, stream=stream))
            request = await platform.agent.arrival(method, number)
            await a_while(0.03)  # the stream's first event, which names the Task, is on its way
            assert (request.left.is_set(), call.done()) == (False, False)
        async with promptly(1):
            ended = await platform.ended(invocation_of(request))
            reply = await call
        assert ended["invocation"]["status"] == "canceled"
        assert b'"code":"CANCELED"' in reply.body
        assert await status_of(platform, parent.invocation_id) == "canceled"
        cancel = await platform.agent.arrival("tasks/cancel", cancels + 1)
        assert (invocation_of(cancel), cancel.json["params"]) == (invocation_of(request), {"id": "task-7"})
        assert cancel.values("x-platform-delegation") == []
    await require_at_once(platform, parent.invocation_id, invocation_of(request))
    await asyncio.sleep(0.05)
    assert platform.agent.methods(invocation_of(request)).count("tasks/cancel") == 1


@pytest.mark.rows("NEST-13")
async def test_a_child_of_a_parent_that_times_out_is_canceled(platform: Platform) -> None:
    card, _, _ = await platform.installed(limits=some_limits(timeoutMs=generous_ms(0.15)))
    async with running_parent(platform, agentId=card["agentId"]) as parent:
        platform.agent.script(hold)
        number = len(platform.agent.calls("message/send")) + 1
        async with asking_child(parent) as call:
            child = await child_of(platform, number)
            assert (await platform.ended(parent.invocation_id))["invocation"]["status"] == "timed_out"
            ended = await platform.ended(invocation_of(child), generous(1))
            assert [event["type"] for event in ended["events"]] == ["created", "routing", "started", "canceled"]
            assert (await call).status == 409
        async with promptly(1):
            await child.left.wait()
    await require_at_once(platform, parent.invocation_id, invocation_of(child))


@pytest.mark.rows("NEST-13")
@pytest.mark.parametrize(("end", "status"), [(a_message(data(1)), "succeeded"), (rpc_error(-1), "failed")])
async def test_a_child_of_a_parent_that_ends_by_itself_is_untouched(
    platform: Platform, end: Behaviour, status: str
) -> None:
    parent_may_end, child_may_end = asyncio.Event(), asyncio.Event()
    async with running_parent(platform, after(parent_may_end, end)) as parent:
        platform.agent.script(after(child_may_end, echo))
        number = len(platform.agent.calls("message/send")) + 1
        async with asking_child(parent) as call:
            child = await child_of(platform, number)
            parent_may_end.set()
            assert (await platform.ended(parent.invocation_id))["invocation"]["status"] == status
            await asyncio.sleep(1.3)  # longer than the pause between two looks at parents
            assert (await status_of(platform, invocation_of(child)), child.left.is_set()) == ("running", False)
            child_may_end.set()
            assert (await call).status == 200
    assert await status_of(platform, invocation_of(child)) == "succeeded"


@pytest.mark.rows("NEST-13")
async def test_a_child_of_a_parent_whose_agent_cancels_itself_is_canceled(platform: Platform) -> None:
    parent_may_end = asyncio.Event()
    async with running_parent(platform, after(parent_may_end, a_task("canceled"))) as parent:
        platform.agent.script(hold)
        number = len(platform.agent.calls("message/send")) + 1
        async with asking_child(parent) as call:
            child = await child_of(platform, number)
            parent_may_end.set()
            assert (await platform.ended(invocation_of(child), generous(1)))["invocation"]["status"] == "canceled"
            assert (await call).status == 409
    assert await status_of(platform, parent.invocation_id) == "canceled"
    await require_at_once(platform, parent.invocation_id, invocation_of(child))


@pytest.mark.rows("NEST-12")
async def test_a_caller_that_leaves_a_child_ends_that_child_alone(platform: Platform) -> None:
    parent_may_end = asyncio.Event()
    async with running_parent(platform, after(parent_may_end, echo)) as parent:
        platform.agent.script(hold)
        platform.agent.script(hold)
        number = len(platform.agent.calls("message/send")) + 1
        async with asking_child(parent) as second_call:
            first = await child_of(platform, number)
            async with asking_child(parent):
                second = await child_of(platform, number + 1)
            assert (await platform.ended(invocation_of(second), generous(1)))["invocation"]["status"] == "canceled"
            assert await status_of(platform, invocation_of(first)) == "running"
            assert await status_of(platform, parent.invocation_id) == "running"
            assert not second_call.done()
            parent_may_end.set()
            assert await parent.caller == 200


@pytest.mark.rows("NEST-12")
async def test_cancelling_a_call_of_the_kit_cancels_the_child(crew: Crew) -> None:
    """An Agent that gives up on one of two children keeps the other and answers."""
    platform, target = crew.platform, crew.platform.card["agentId"]

    async def act(context: AgentContext, skill_input: Any) -> Any:
        slow = asyncio.create_task(context.call(target, "work", {}))
        await platform.agent.arrival("message/send", number)
        slow.cancel()
        await asyncio.wait({slow})
        return await context.call(target, "work", {"quick": True})

    platform.agent.script(hold)
    number = len(platform.agent.calls("message/send")) + 1
    agent_id = await crew.hire(act)
    reply = await platform.invoke(agentId=agent_id)
    assert (reply.status, reply.json["result"]) == (200, {"quick": True})
    for record in (await platform.read(f"/traces/{reply.json['traceId']}"))["invocations"]:
        await platform.ended(record["invocationId"], generous(1))
    records = (await platform.read(f"/traces/{reply.json['traceId']}"))["invocations"]
    assert [record["status"] for record in records] == ["succeeded", "canceled", "succeeded"]
