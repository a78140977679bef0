"""A Router killed or frozen at every point of an Invocation: after its return there is exactly one terminal each."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
import pytest_asyncio

from proof.gathering import Seen, problems_of
from proof.world import World, world
from tests.support.agent import a_task, echo, saying
from tests.support.errors import require_error
from tests.support.peers import Behaviour, Received, hold, partly
from tests.support.postgres import PostgresForTests
from tests.support.units import Reply
from tests.support.waiting import becomes_true

FAILED, CANCELED, SUCCEEDED = (1, "failed", "DEPENDENCY_ERROR"), (1, "canceled", "CANCELED"), (1, "succeeded", None)


pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Stage:
    """One platform for all tests, each of which looks only at what is new, and leaves a Router behind that is ready."""

    made: World
    earlier: set[str] = field(default_factory=set)

    async def forget(self) -> None:
        self.earlier.update(row.invocation_id for row in await self.made.ledger.recorded())
        self.made.agent.received.clear()

    async def require_sound(self, details: int = 3) -> dict[str, tuple[int, str, str | None]]:
        """What holds after every fault, once a Router is up again; gives the outcomes that are new."""
        assert await problems_of(self.made, Seen(router_lost=True, details=details)) == []
        rows = await self.made.ledger.recorded()
        return {
            row.invocation_id: (len(row.terminals), row.terminals[0].type, row.terminals[0].code)
            for row in rows
            if row.invocation_id not in self.earlier
        }

    async def cancel_requested(self) -> None:
        async def is_there() -> bool:
            return not await self.made.ledger.cancel_requested() <= self.earlier

        await becomes_true(is_there)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(postgres: PostgresForTests, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    stores = await postgres.new_platform()
    database = stores.migration.rpartition("/")[2]
    async with world(stores, postgres.url(database), tmp_path_factory.mktemp("kills")) as made:
        yield Stage(made)
    await postgres.drop(database)


@pytest_asyncio.fixture(loop_scope="module")
async def stage(shared: Stage) -> Stage:
    await shared.forget()
    return shared


HEAD = b"HTTP/1.1 200 Said\r\ncontent-type: application/json\r\ncontent-length: 400\r\n\r\n"
WORKING = a_task("working")
POINTS: dict[str, tuple[tuple[Behaviour, ...], tuple[str, int]]] = {
    "message/send has arrived": ((hold,), ("message/send", 1)),
    "half a head has been answered": ((partly(HEAD[:20]),), ("message/send", 1)),
    "a whole head has been answered": ((partly(HEAD),), ("message/send", 1)),
    "half a body has been answered": ((partly(HEAD + b'{"jsonrpc"'),), ("message/send", 1)),
    "the Task works and tasks/get has arrived": ((WORKING, hold), ("tasks/get", 1)),
    "tasks/get is half answered": ((WORKING, partly(HEAD + b"{")), ("tasks/get", 1)),
    "the second tasks/get has arrived": ((WORKING, WORKING, hold), ("tasks/get", 2)),
    "the Router waits before it asks again": ((WORKING, WORKING, WORKING), ("tasks/get", 3)),
}


async def at_every_point(stage: Stage) -> list[asyncio.Task[Reply]]:
    """One Invocation held at each point."""
    calls: list[asyncio.Task[Reply]] = []
    for name, (script, (method, number)) in POINTS.items():
        stage.made.agent.script(*script)
        before = len(stage.made.agent.calls(method))
        calls.append(asyncio.create_task(stage.made.invoke(point=name)))
        await stage.made.agent.arrival(method, before + number)
    return calls


@pytest.mark.rows("LED-14", "LED-15", "OPS-10")
async def test_a_router_killed_at_every_point_of_the_exchange_leaves_one_terminal_each(stage: Stage) -> None:
    finished = (await stage.made.invoke(point="finished")).json
    reads = [f"/invocations/{finished['invocationId']}", f"/traces/{finished['traceId']}"]
    before = [await stage.made.read(path) for path in reads]
    calls = await at_every_point(stage)
    await stage.made.router.kill()
    seen = len(stage.made.agent.received)
    for reply in await asyncio.gather(*calls):
        require_error(reply, 503, "DEPENDENCY_ERROR", "4", "acceptance_unknown")
    assert [(await stage.made.read(path)).status for path in (*reads, "/invocations")] == [503, 503, 503]
    await stage.made.router.restart()
    outcomes = await stage.require_sound()
    assert outcomes.pop(finished["invocationId"]) == SUCCEEDED
    assert set(outcomes.values()) == {FAILED}
    assert len(outcomes) == len(POINTS)
    assert len(stage.made.agent.received) == seen
    after = [await stage.made.read(path) for path in reads]
    assert [reply.status for reply in after] == [200, 200]
    assert [reply.json for reply in after] == [reply.json for reply in before]
    for invocation_id in outcomes:
        events = (await stage.made.read(f"/invocations/{invocation_id}")).json["events"]
        assert len({(event["agentReleaseId"], event["agentCardDigest"]) for event in events}) == 1
    assert (await stage.made.invoke(point="again")).status == 200


@pytest.mark.second_ring
@pytest.mark.rows("SAFE-12")
async def test_a_caller_whose_router_died_before_it_answered_learns_from_the_trace_that_its_call_ran(
    stage: Stage,
) -> None:
    """What the guide to recovery says, step by step: who calls again without reading has the Agent work twice."""
    stage.made.agent.script(hold)
    call = asyncio.create_task(stage.made.invoke())
    await stage.made.agent.arrival("message/send")
    await stage.made.router.kill()
    reply = await call
    require_error(reply, 503, "DEPENDENCY_ERROR", "4", "acceptance_unknown")
    assert not {"invocationId", "rootTaskId"} & set(reply.json)
    trace = f"/traces/{reply.json['traceId']}"
    assert (await stage.made.read(trace)).status == 503, "without a Router nothing is known, and nothing is not found"
    await stage.made.router.restart()
    (found,) = (await stage.made.read(trace)).json["invocations"]
    assert (found["status"], found["errorCode"]) == ("failed", "DEPENDENCY_ERROR")
    assert list(await stage.require_sound()) == [found["invocationId"]]
    assert stage.made.agent.methods(found["invocationId"]) == ["message/send"], "nobody called again"


@pytest.mark.second_ring
@pytest.mark.rows("LED-14")
async def test_a_router_killed_while_it_accepts_leaves_nothing_or_one_terminal(stage: Stage) -> None:
    async with stage.made.ledger.locked("invocation"):
        calls = [asyncio.create_task(stage.made.invoke(number=number)) for number in range(5)]
        await stage.made.ledger.waiting_writers(1)
        await stage.made.router.kill()
    assert {(await call).status for call in calls} == {503}
    await stage.made.router.restart()
    outcomes = await stage.require_sound()
    assert set(outcomes.values()) <= {FAILED}
    assert stage.made.agent.received == []


@pytest.mark.second_ring
@pytest.mark.rows("LED-14")
async def test_a_router_killed_while_it_records_the_end_leaves_one_terminal(stage: Stage) -> None:
    stage.made.agent.script(echo)
    stage.made.agent.script(saying(b"no JSON"))
    async with stage.made.ledger.locked("event"):
        calls = [asyncio.create_task(stage.made.invoke(number=number)) for number in range(2)]
        await stage.made.ledger.waiting_writers(1)
        await stage.made.router.kill()
    assert {(await call).status for call in calls} == {503}
    await stage.made.router.restart()
    outcomes = await stage.require_sound()
    # The write that waited may still have been committed by the store: then that is the one terminal.
    allowed = {FAILED, SUCCEEDED, (1, "failed", "A2A_PROTOCOL_ERROR")}
    assert (set(outcomes.values()) <= allowed, len(outcomes)) == (True, 2)


@pytest.mark.rows("LED-14")
@pytest.mark.long
async def test_a_caller_who_had_left_before_the_kill_is_recorded_as_canceled(stage: Stage) -> None:
    stage.made.agent.script(hold)
    stage.made.agent.on_cancel = hold
    leaving = asyncio.create_task(stage.made.invoke())
    await stage.made.agent.arrival("message/send")
    async with stage.made.ledger.locked("event"):
        leaving.cancel()
        await asyncio.wait({leaving})
        await stage.cancel_requested()
        await stage.made.router.kill()
    stage.made.agent.script(WORKING, hold)
    await stage.made.router.restart()
    assert list((await stage.require_sound()).values()) == [CANCELED]
    leaving = asyncio.create_task(stage.made.invoke())
    await stage.made.agent.arrival("tasks/get")
    leaving.cancel()
    await stage.made.agent.arrival("tasks/cancel")
    await stage.made.router.kill()
    await stage.made.router.restart()
    assert list((await stage.require_sound()).values()) == [CANCELED, CANCELED]


@pytest.mark.rows("LED-14")
@pytest.mark.long
async def test_a_frozen_router_that_wakes_up_behind_its_successor_adds_nothing_and_ends_with_78(stage: Stage) -> None:
    release = asyncio.Event()

    async def answer_later(received: Received) -> None:
        await release.wait()
        await echo(received)

    stage.made.agent.script(answer_later)
    call = asyncio.create_task(stage.made.invoke())
    await stage.made.agent.arrival("message/send")
    stage.made.router.send(signal.SIGSTOP)
    async with stage.made.successor() as successor:
        await successor.restart()
        recorded = await stage.require_sound(details=0)  # whoever reads through the frozen one waits
        assert list(recorded.values()) == [FAILED]
        release.set()
        stage.made.router.send(signal.SIGCONT)
        assert await stage.made.router.ended() == 78
        fenced = [json.loads(line) for line in stage.made.router.said.splitlines() if "ledger.fenced" in line]
        assert any("PLATFORM_ROUTER_ID" in str(line) for line in fenced)
        assert (await call).status == 503
        assert await stage.require_sound(details=0) == recorded
    await stage.made.router.restart()


@pytest.mark.rows("LED-14", "OPS-10")
@pytest.mark.long
async def test_kills_at_random_moments_under_load_leave_one_terminal_each(stage: Stage) -> None:
    stage.made.agent.usual = (WORKING, a_task("completed", [{"kind": "data", "data": {}}]))
    told: dict[str, str] = {}

    async def caller() -> None:
        for _ in range(40):
            reply = await stage.made.invoke()
            if reply.status == 200:
                told[reply.json["invocationId"]] = "succeeded"
            elif "invocationId" in reply.json:
                told[reply.json["invocationId"]] = reply.code
            else:
                await asyncio.sleep(0.05)

    for delay in (0.15, 0.4):
        load = [asyncio.create_task(caller()) for _ in range(8)]
        await asyncio.sleep(delay)
        await stage.made.router.kill()
        for task in load:
            task.cancel()
        await asyncio.wait(load)
        await stage.made.router.restart()
        outcomes = await stage.require_sound()
        for invocation_id, outcome in told.items():
            assert outcome in {outcomes[invocation_id][1], "DEPENDENCY_ERROR"}
