"""What the units count: Invocations and their phases, streams, refusals for lack of room, the state of the watch."""

import pytest

from aop.local.state import DatabaseUrls
from tests.support.agent import a_message, data
from tests.support.loop import Changes, Platform, invoking, running_platform
from tests.support.metrics import numbers
from tests.support.nested import running_parent
from tests.support.peers import after, hold
from tests.support.stream import streaming
from tests.support.streaming_agent import a_whole_stream, endless, streamed
from tests.support.units import RunningUnit
from tests.support.waiting import becomes_true, generous

INVOCATIONS = "/v1/workspaces/:workspaceId/invocations"

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def value(unit: RunningUnit, name: str, *labels: str) -> float:
    return (await numbers(unit, name)).get(labels, 0)


async def test_each_phase_of_an_invocation_is_measured(platform: Platform) -> None:
    phases = ("aop_resolve_seconds", "aop_accept_seconds", "aop_agent_seconds", "aop_terminal_seconds")
    before = {name: await value(platform.router, f"{name}_sum") for name in phases}
    whole = await value(platform.router, "aop_invocation_seconds_sum", "succeeded")
    platform.agent.script(after(0.3, a_message(data(1))))
    assert (await platform.invoke()).status == 200
    spent = {name: await value(platform.router, f"{name}_sum") - before[name] for name in phases}
    took = await value(platform.router, "aop_invocation_seconds_sum", "succeeded") - whole
    assert all(seconds > 0 for seconds in spent.values())
    assert 0.3 <= spent["aop_agent_seconds"] <= sum(spent.values()) <= took


async def test_an_invocation_over_at_acceptance_is_counted_too(platform: Platform) -> None:
    card, _, _ = await platform.installed(authentication={"type": "none"})
    labels = ("AGENT_AUTH_UNSUPPORTED", "failed", "")
    assert (await platform.invoke(agentId=card["agentId"])).status == 502
    assert await value(platform.router, "aop_invocations_total", *labels) == 1
    assert await value(platform.router, "aop_invocation_seconds_count", "failed") >= 1


async def test_running_invocations_and_open_streams_are_counted_while_they_run(platform: Platform) -> None:
    async def running(invocations: int, streams: int) -> None:
        async def counted() -> bool:
            return [
                await value(platform.gateway, "aop_invocations_in_flight"),
                await value(platform.router, "aop_invocations_in_flight"),
                await value(platform.router, "aop_streams_open"),
            ] == [invocations, invocations, streams]

        await becomes_true(counted)

    await running(0, 0)
    async with running_parent(platform, hold):
        await running(1, 0)
        platform.agent.script(endless({"n": 1}, seconds=0.05))
        async with streaming(platform) as caller:
            await caller.event("chunk")
            await running(2, 1)
    await running(0, 0)


async def test_chunks_are_counted_as_they_go_out(platform: Platform) -> None:
    before = await value(platform.router, "aop_stream_chunks_total")
    platform.agent.script(streamed(*a_whole_stream(7)))
    async with streaming(platform) as caller:
        await caller.rest()
    assert await value(platform.router, "aop_stream_chunks_total") - before == 7


async def test_the_state_of_the_watch_is_shown(platform: Platform) -> None:
    assert await value(platform.router, "aop_topology_live") == 1
    assert 0 <= await value(platform.router, "aop_topology_age_seconds") < generous(15)
    assert await value(platform.router, "aop_topology_releases") >= 1


async def test_a_refusal_for_lack_of_room_counts_where_it_was_made(stores: DatabaseUrls) -> None:
    changes = Changes(control_plane={"PLATFORM_GATEWAY_MAX_IN_FLIGHT_INVOCATIONS": "1"})
    async with running_platform(stores, changes) as platform:
        platform.agent.script(hold)
        async with invoking(platform):
            await platform.agent.arrival("message/send", 1)
            assert (await platform.invoke()).code == "OVERLOADED"
        assert await value(platform.gateway, "aop_admission_refusals_total", INVOCATIONS) == 1
        assert await numbers(platform.router, "aop_admission_refusals_total") == {}
