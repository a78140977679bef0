"""Group commit: entries that wait while one write runs become the next write.

Every entry must be on disk before it is answered. One commit for each would make the disk the limit, and a statement
costs PostgreSQL for one row about what it costs for thirty. Here callers share both, and no one waits for a timer: the
time that one write takes is the time in which the next batch gathers. A lone entry is written at once.

A batch ends in one of four ways:
1. It committed: each entry is Written or Refused.
2. The server refused it. It is rolled back, and its entries are written one by one, so that only the guilty one fails.
3. Nothing was sent: its entries are NotWritten.
4. The connection broke or was silent for too long, or the server stopped waiting for its synchronous standby. It may
   have committed, so it is never sent again: once the old backend is surely gone, each entry is probed.

Every entry of a batch has its result within two write timeouts of the batch's begin.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from uuid import UUID

import asyncpg
import msgspec

from aop.base.loops import Loop, Loops
from aop.ledger.months import make_month_of, root_without_month
from aop.store.backends import Backend, backend_of, end_backend, write_marker
from aop.store.batching_window import BatchingWindow
from aop.store.database import CONNECTION_LOST, Connection
from aop.store.writable import require_replicated

E = TypeVar("E")
R = TypeVar("R")

MAX_IN_BATCH = 512
FENCED = "AOP01"
# The connection failed or the server closed it, perhaps during the commit.
_SERVER_GONE = ("08", "57P")
# This node was the leader, or is kept from writing. Nothing was written; the next connection finds the writable one.
_READ_ONLY = "25006"
# Refused because of a value, a constraint or a trigger.
_DENIED = ("22", "23", "P0")
# The pause after an unexpected exception. It is short, because callers already wait for the next batch.
_MAX_PAUSE_SECONDS = 0.01
_PAUSE_SECONDS = 0.05

Connect = Callable[[], Awaitable[Connection]]
OnSent = Callable[[], None]


class EpochFenced(Exception):
    """A newer epoch of this Router exists: this process may write nothing more."""


class Written(msgspec.Struct, Generic[R], frozen=True):
    """Committed, and the store confirmed the write itself."""

    value: R


class Found(msgspec.Struct, Generic[R], frozen=True):
    """In the store, as a later probe showed: too late to start work on it."""

    value: R


class Refused(msgspec.Struct, frozen=True):
    """By a rule of the statement: the id is taken, or another terminal came first."""


class NotWritten(msgspec.Struct, frozen=True):
    """Not in the store, and never will be: it was not sent, or it was rolled back.

    `denied` by a rule of the store or because of its values: to send it again is in vain.
    """

    denied: bool = False


class Absent(msgspec.Struct, frozen=True):
    """The store answered: it is not there, and never will be."""


class Unknown(msgspec.Struct, frozen=True):
    """The store did not answer in time."""


# Two closed sets that cannot be confused: a probe writes nothing, and a write is never Absent.
WriteResult = Written[R] | Found[R] | Refused | NotWritten | Unknown
ProbeResult = Found[R] | Absent | Unknown
REFUSED, NOT_WRITTEN, DENIED, ABSENT, UNKNOWN = Refused(), NotWritten(), NotWritten(denied=True), Absent(), Unknown()


@dataclass(frozen=True)
class Statements(Generic[E, R]):
    """How entries are written and how they are probed; both give a value per entry, None where there is none."""

    write: Callable[[Connection, Sequence[E]], Awaitable[Sequence[R | None]]]
    probe: Callable[[Connection, Sequence[E]], Awaitable[Sequence[R | None]]]


@dataclass(slots=True)
class _QueueEntry(Generic[E]):
    entry: E
    since: float
    result: asyncio.Future[Any] = field(repr=False)
    on_sent: OnSent | None = None

    def set(self, result: Any) -> None:
        if not self.result.done():
            self.result.set_result(result)


_Batch = Sequence[_QueueEntry[E]]


class GroupCommit(Generic[E, R]):
    """One connection and one writer task. Belongs to the loop it is started on."""

    def __init__(
        self, statements: Statements[E, R], connect: Connect, write_seconds: float, fenced: Callable[[], None]
    ) -> None:
        self._statements = statements
        self._connection = _WriterConnection(connect)
        self._write_seconds = write_seconds
        self._fenced = fenced
        self._writes: list[_QueueEntry[E]] = []
        self._probes: list[_QueueEntry[E]] = []
        self._wake = asyncio.Event()
        self._window = BatchingWindow(MAX_IN_BATCH)
        self._loop: Loop | None = None

    def start(self, loops: Loops, name: str) -> None:
        self._loop = loops.start(name, self._turn, max_pause_seconds=_MAX_PAUSE_SECONDS)

    async def close(self) -> None:
        if self._loop is not None:
            await self._loop.close()
        self._connection.drop()

    def write(self, entry: E, on_sent: OnSent | None = None) -> "asyncio.Future[WriteResult[R]]":
        """Cancelling the caller does not remove the entry: it waits from here on, and will be written. `on_sent` is
        called while the store works, and may not raise."""
        return self._enter(entry, self._writes, on_sent)

    def probe(self, entry: E) -> "asyncio.Future[ProbeResult[R]]":
        """Writes nothing. Found and Absent are always answers of the store, however long the probe waited."""
        return self._enter(entry, self._probes)

    def _enter(self, entry: E, queue: list[_QueueEntry[E]], on_sent: OnSent | None = None) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Any] = loop.create_future()
        queue.append(_QueueEntry(entry, loop.time(), result, on_sent))
        self._wake.set()
        return result

    async def _turn(self) -> None:
        await self._wake.wait()
        if self._writes:
            await self._window.gather(self._writes)
        writes, probes = _next_batch(self._writes), _next_batch(self._probes)
        if writes:
            self._window.had(len(writes))
        # Before the write: an entry that comes while the store works sets the event again. Cleared after the write, it
        # would wait in the queue until another one comes.
        if not self._writes and not self._probes:
            self._wake.clear()
        try:
            if writes:
                await self._write_in_time(writes)
            if probes:
                # A probe is never late: its result is the answer of the store, or Unknown.
                await self._probe(probes, self._time_limit(), ABSENT)
        except Exception:
            # An unexpected exception must not leave callers waiting for ever.
            self._connection.drop()
            _set_all([*writes, *probes], UNKNOWN)
            raise

    async def _write_in_time(self, batch: _Batch[E]) -> None:
        """But for entries that have waited for as long as a write may take: nothing of them was sent."""
        now = asyncio.get_running_loop().time()
        late = now - self._write_seconds
        if batch[0].since < late:
            _set_all([each for each in batch if each.since < late], NOT_WRITTEN)
            batch = [each for each in batch if each.since >= late]
        if batch:
            await self._write(batch, now + 2 * self._write_seconds)

    async def _write(self, batch: _Batch[E], due: float) -> None:
        limit, connection = self._time_limit(due), self._connection.current
        if connection is None:
            try:
                async with asyncio.timeout_at(limit):
                    connection = await self._connection.opened()
            except (asyncpg.PostgresError, *CONNECTION_LOST):
                _set_all(batch, NOT_WRITTEN)
                return
        _call_on_sent(batch)
        try:
            async with asyncio.timeout_at(limit):
                values = await self._statements.write(connection, [each.entry for each in batch])
                require_replicated(connection)
        except asyncpg.PostgresError as refusal:
            await self._after_refusal(batch, refusal, due)
        except CONNECTION_LOST:
            await self._after_loss(batch, due)
        except BaseException:
            self._connection.abandon()
            raise
        else:
            for each, value in zip(batch, values, strict=True):
                each.set(REFUSED if value is None else Written(value))

    async def _after_refusal(self, batch: _Batch[E], refusal: asyncpg.PostgresError, due: float) -> None:
        if refusal.sqlstate == FENCED:
            self._fenced()
            for each in batch:
                if not each.result.done():
                    each.result.set_exception(EpochFenced())
        elif refusal.sqlstate.startswith(_SERVER_GONE):
            await self._after_loss(batch, due)
        elif refusal.sqlstate == _READ_ONLY:
            self._connection.drop()
            _set_all(batch, NOT_WRITTEN)
        elif (root := root_without_month(refusal)) is None:
            await self._one_by_one(batch, DENIED if refusal.sqlstate.startswith(_DENIED) else NOT_WRITTEN, due)
        elif await self._has_month(root, self._time_limit(due)):
            await self._write(batch, due)
        else:
            await self._one_by_one(batch, NOT_WRITTEN, due)

    async def _after_loss(self, batch: _Batch[E], due: float) -> None:
        self._connection.abandon()
        await self._probe(batch, self._time_limit(due), NOT_WRITTEN)

    async def _has_month(self, root: UUID, limit: float) -> bool:
        """Makes the month of a root task, as often as another session is in the way of it."""
        while asyncio.get_running_loop().time() < limit:
            try:
                async with asyncio.timeout_at(limit):
                    return await make_month_of(await self._connection.opened(), root)
            except asyncpg.LockNotAvailableError:
                await asyncio.sleep(_PAUSE_SECONDS)
            except (asyncpg.PostgresError, *CONNECTION_LOST):
                self._connection.drop()
                break
        return False

    async def _one_by_one(self, batch: _Batch[E], lone: NotWritten, due: float) -> None:
        """The batch was rolled back. A lone entry is the cause; several are written one by one to find it."""
        for each in batch:
            if len(batch) > 1 and asyncio.get_running_loop().time() < due:
                await self._write([each], due)
            else:
                each.set(lone if len(batch) == 1 else NOT_WRITTEN)

    async def _probe(self, batch: _Batch[E], limit: float, absent: Absent | NotWritten) -> None:
        """Probes until the store answers or the time is over. It never writes again."""
        loop = asyncio.get_running_loop()
        # The clock is read here too: an attempt that fails at once never reaches its timeout.
        while loop.time() < limit:
            try:
                async with asyncio.timeout_at(limit):
                    connection = await self._connection.opened()
                    await self._connection.end_lost_backends(connection)
                    values = await self._statements.probe(connection, [each.entry for each in batch])
                    if any(value is not None for value in values):
                        await self._connection.confirm(connection)
            except _BackendRuns:
                pass
            except (asyncpg.PostgresError, *CONNECTION_LOST):
                self._connection.drop()
            else:
                for each, value in zip(batch, values, strict=True):
                    each.set(absent if value is None else Found(value))
                return
            await asyncio.sleep(_PAUSE_SECONDS)
        _set_all(batch, UNKNOWN)

    def _time_limit(self, due: float = float("inf")) -> float:
        return min(asyncio.get_running_loop().time() + self._write_seconds, due)


def _next_batch(queue: list[_QueueEntry[E]]) -> list[_QueueEntry[E]]:
    """Taken from the front of the queue."""
    batch = queue[:MAX_IN_BATCH]
    del queue[:MAX_IN_BATCH]
    return batch


def _set_all(batch: _Batch[E], result: Absent | NotWritten | Unknown) -> None:
    for each in batch:
        each.set(result)


def _call_on_sent(batch: _Batch[E]) -> None:
    """Soon, while the store works, and once: a batch that is written one by one after a refusal has nothing to call."""
    for each in batch:
        if each.on_sent is not None:
            asyncio.get_running_loop().call_soon(each.on_sent)
            each.on_sent = None


class _BackendRuns(Exception):
    """A backend whose client is gone still runs: it may still commit what is absent now."""


class _WriterConnection:
    """Opened when it is first needed, and again after it was lost or dropped. The backends of earlier connections may
    outlive their client, and are ended before anything is probed."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._connection: Connection | None = None
        self._backend: Backend | None = None
        self._lost_backends: list[Backend] = []

    @property
    def current(self) -> Connection | None:
        """The open one; None when `opened` must open it first. One to a leader of before is of no use any more."""
        connection = self._connection
        return None if connection is None or connection.is_closed() or connection.is_former else connection

    async def opened(self) -> Connection:
        if self.current is None:
            self.drop()
            connection = await self._connect()
            try:
                self._backend = await backend_of(connection)
            except BaseException:
                connection.terminate()
                raise
            self._connection = connection
        return self._connection

    def abandon(self) -> None:
        """Its backend may be in the middle of a write."""
        if self._connection is not None and self._backend is not None:
            self._lost_backends.append(self._backend)
        self.drop()

    def drop(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def end_lost_backends(self, connection: Connection) -> None:
        # A backend whose client is gone may still commit what it has read. Only once it has ended is absence final.
        # One of another server is not found here. What it had sent before this one was promoted is here; more of it
        # will never be, because no connection goes back to a leader of before.
        while self._lost_backends:
            if await end_backend(connection, self._lost_backends[-1]):
                raise _BackendRuns
            self._lost_backends.pop()

    async def confirm(self, connection: Connection) -> None:
        """Returns once whatever is visible here is also where a synchronous standby keeps it. A row can be visible
        without that, when the backend that waited for the standby was ended."""
        await write_marker(connection)
        require_replicated(connection)
