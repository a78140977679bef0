"""Group commit on a driver that does as it likes: results in time, and no answer that nobody gave."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import partial

import asyncpg
import pytest

from aop.base.loops import Loops
from aop.ledger.write.group_commit import (
    Absent,
    Found,
    GroupCommit,
    NotWritten,
    ProbeResult,
    Statements,
    Unknown,
    WriteResult,
    Written,
)
from aop.store.database import Connection
from tests.ledger.simulated.loop import SimulatedLoop
from tests.ledger.simulated.tables import refusal

pytestmark = pytest.mark.second_ring

WRITE_SECONDS = 1.0
SLACK = 0.06
"""The pause between two attempts to ask."""


class ScriptedConnection:
    """One whose backend ends as soon as somebody asks for that."""

    closed = False

    def is_closed(self) -> bool:
        return self.closed

    def terminate(self) -> None:
        self.closed = True

    is_unreplicated = False
    is_former = False

    async def fetchrow(self, *_: object) -> tuple[int, datetime]:
        return 1, datetime.now(UTC)

    async def fetchval(self, *_: object) -> bool:
        return False

    async def execute(self, *_: object) -> None:
        """Nothing to do."""


async def connects() -> Connection:
    await asyncio.sleep(0)
    return ScriptedConnection()


async def hangs(*_: object) -> Sequence[str | None]:
    await asyncio.sleep(3600)
    return ()


async def breaks(*_: object) -> Sequence[str | None]:
    raise asyncpg.InterfaceError("connection was closed in the middle of operation")


async def times_out_at_the_server(*_: object) -> Sequence[str | None]:
    await asyncio.sleep(0.8 * WRITE_SECONDS)
    raise refusal("57014")


def test_a_probe_that_waited_long_is_still_asked_and_never_told_absent_by_its_age(loop: SimulatedLoop) -> None:
    asked: list[str] = []

    async def slow_probe(_: Connection, entries: Sequence[str]) -> Sequence[str | None]:
        asked.extend(entries)
        await asyncio.sleep(0.9 * WRITE_SECONDS)
        return [entry if entry == "stored" else None for entry in entries]

    async def results() -> Sequence[WriteResult[str] | ProbeResult[str]]:
        commits = GroupCommit(Statements(hangs, slow_probe), connects, WRITE_SECONDS, lambda: None)
        commits.start(Loops(lambda _: lambda _: None), "commits")
        write = commits.write("hangs")
        await asyncio.sleep(0.1)
        probes = [commits.probe(entry) for entry in ("stored", "never sent")]
        told = await asyncio.gather(write, *probes)
        assert loop.time() > 2 * WRITE_SECONDS, "the probes have waited for longer than a write may take"
        await commits.close()
        return told

    assert loop.run_until_complete(results()) == [NotWritten(), Found("stored"), Absent()]
    assert asked[0] == "hangs"
    assert set(asked[1:]) == {"stored", "never sent"}


def test_what_is_done_meanwhile_is_done_once_and_before_the_answer(loop: SimulatedLoop) -> None:
    """Also where the batch is refused and its entries are written one by one."""
    done: list[str] = []

    async def refuses_several(_: Connection, entries: Sequence[str]) -> Sequence[str | None]:
        await asyncio.sleep(0.01)
        assert set(entries) <= set(done)
        if len(entries) > 1:
            raise refusal("23514")
        return entries

    async def results() -> Sequence[WriteResult[str]]:
        commits = GroupCommit(Statements(refuses_several, hangs), connects, WRITE_SECONDS, lambda: None)
        commits.start(Loops(lambda _: lambda _: None), "commits")
        entries = ("first", "second", "third")
        written = await asyncio.gather(*(commits.write(entry, partial(done.append, entry)) for entry in entries))
        await commits.close()
        return written

    assert set(loop.run_until_complete(results())) == {Written("first"), Written("second"), Written("third")}
    assert sorted(done) == ["first", "second", "third"]


def test_a_write_that_waited_for_as_long_as_one_may_take_is_not_sent_and_what_came_later_is(
    loop: SimulatedLoop,
) -> None:
    sent: list[str] = []

    async def slow_once(_: Connection, entries: Sequence[str]) -> Sequence[str | None]:
        sent.extend(entries)
        await asyncio.sleep(0.9 * WRITE_SECONDS if "broken" in entries else 0)
        if "broken" in entries:
            raise asyncpg.InterfaceError("connection was closed in the middle of operation")
        return entries

    async def slow_probe(*_: object) -> Sequence[str | None]:
        await asyncio.sleep(0.9 * WRITE_SECONDS)
        return [None]

    async def results() -> Sequence[WriteResult[str]]:
        commits = GroupCommit(Statements(slow_once, slow_probe), connects, WRITE_SECONDS, lambda: None)
        commits.start(Loops(lambda _: lambda _: None), "commits")
        writes = [commits.write("broken")]
        for entry, pause in (("early", 0.1), ("later", WRITE_SECONDS)):
            await asyncio.sleep(pause)
            writes.append(commits.write(entry))
        told = await asyncio.gather(*writes)
        await commits.close()
        return told

    assert loop.run_until_complete(results()) == [NotWritten(), NotWritten(), Written("later")]
    assert sent == ["broken", "later"]


def test_a_probe_that_nobody_answers_is_unknown(loop: SimulatedLoop) -> None:
    async def result() -> ProbeResult[str]:
        commits = GroupCommit[str, str](Statements(hangs, hangs), connects, WRITE_SECONDS, lambda: None)
        commits.start(Loops(lambda _: lambda _: None), "commits")
        try:
            return await commits.probe("entry")
        finally:
            await commits.close()

    assert loop.run_until_complete(result()) == Unknown()


class Dials:
    """A first connection, and then only what the driver does when the server is gone."""

    def __init__(self, then: Callable[[], Awaitable[Connection]]) -> None:
        self._then = then
        self._first = True

    async def __call__(self) -> Connection:
        if self._first:
            self._first = False
            return ScriptedConnection()
        return await self._then()


async def fails_at_once() -> Connection:
    """Without ever giving way, as for a Unix socket that is not there."""
    raise OSError("no listener")


async def never_connects() -> Connection:
    await asyncio.sleep(3600)


@pytest.mark.parametrize("dial", [fails_at_once, never_connects, connects], ids=lambda dial: dial.__name__)
@pytest.mark.parametrize("write", [hangs, breaks, times_out_at_the_server], ids=lambda write: write.__name__)
@pytest.mark.parametrize("count", [1, 50])
def test_every_result_comes_within_two_write_timeouts_whatever_the_driver_does(
    loop: SimulatedLoop,
    dial: Callable[[], Awaitable[Connection]],
    write: Callable[..., Awaitable[Sequence[str | None]]],
    count: int,
) -> None:
    async def results() -> Sequence[WriteResult[str]]:
        commits = GroupCommit(Statements(write, hangs), Dials(dial), WRITE_SECONDS, lambda: None)
        commits.start(Loops(lambda _: lambda _: None), "commits")
        told = await asyncio.gather(*(commits.write(str(number)) for number in range(count)))
        await commits.close()
        return told

    told = loop.run_until_complete(results())
    assert {type(result) for result in told} <= {NotWritten, Unknown}
    assert loop.time() <= 2 * WRITE_SECONDS + SLACK


@pytest.mark.rows("HA-01")
def test_a_session_of_a_former_leader_is_left_before_the_next_write(loop: SimulatedLoop) -> None:
    """It would refuse the end of an Invocation whose acceptance only the new leader has, and that would be believed."""
    opened: list[ScriptedConnection] = []

    async def connected() -> Connection:
        opened.append(ScriptedConnection())
        return opened[-1]

    async def written(connection: Connection, entries: Sequence[str]) -> Sequence[str | None]:
        assert connection is opened[-1]
        return entries

    async def results() -> Sequence[WriteResult[str]]:
        commits = GroupCommit(Statements(written, written), connected, WRITE_SECONDS, lambda: None)
        commits.start(Loops(lambda _: lambda _: None), "commits")
        first = await commits.write("before")
        opened[0].is_former = True
        second = await commits.write("after")
        await commits.close()
        return first, second

    loop.begin(1, 10)
    assert loop.run_until_complete(results()) == (Written("before"), Written("after"))
    assert [connection.closed for connection in opened] == [True, True]
