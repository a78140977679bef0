"""Group commit: whatever waits while one write runs becomes the next write; behind lone ones it is written at once.

Every entry must be on disk before it is answered. One commit for each would make the disk the limit, and a statement
costs PostgreSQL for one row about what it costs for thirty. Here callers share both, and nobody waits for a timer: the
time one write takes is the time in which the next one gathers.

A batch ends in one of four ways. It committed: each entry was written or refused. The server said no: it is known to be
rolled back, and its entries run once each alone, so that only the guilty one fails. Nothing was sent: none is written.
The connection broke or was silent for too long, or the server gave up waiting for its synchronous standby: nobody
knows, and each entry is probed once the old backend is surely gone. Every entry of a batch has its result within two
write timeouts of the batch's begin.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

import asyncpg

from aop.base.loops import Loop, Loops
from aop.ledger.months import make_month_of, root_without_month
from aop.ledger.results import (
    ABSENT,
    DENIED,
    NOT_WRITTEN,
    REFUSED,
    UNKNOWN,
    Found,
    NotWritten,
    ProbeResult,
    WriteResult,
    Written,
)
from aop.ledger.waiting import MAX_IN_BATCH, Meanwhile, Waiting, call_all, taken, tell_all
from aop.ledger.writer_connection import BackendRuns, Connect, WriterConnection
from aop.store.company import Company
from aop.store.database import CONNECTION_LOST, Connection
from aop.store.writable import require_replicated

E = TypeVar("E")
R = TypeVar("R")
A = TypeVar("A")

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


class EpochFenced(Exception):
    """A newer epoch of this Router exists: this process may write nothing more."""


@dataclass(frozen=True)
class Statements(Generic[E, R]):
    """How entries are written and how they are probed; both give a value per entry, None where there is none."""

    write: Callable[[Connection, Sequence[E]], Awaitable[Sequence[R | None]]]
    probe: Callable[[Connection, Sequence[E]], Awaitable[Sequence[R | None]]]


class GroupCommit(Generic[E, R]):
    """One connection and one writer task. Belongs to the loop it is started on."""

    def __init__(
        self,
        statements: Statements[E, R],
        connect: Connect,
        write_seconds: float,
        fenced: Callable[[], None],
    ) -> None:
        self._statements = statements
        self._connection = WriterConnection(connect)
        self._write_seconds = write_seconds
        self._fenced = fenced
        self._writes: list[Waiting[E, WriteResult[R]]] = []
        self._probes: list[Waiting[E, ProbeResult[R]]] = []
        self._wake = asyncio.Event()
        self._company = Company(MAX_IN_BATCH)
        self._loop: Loop | None = None

    def start(self, loops: Loops, name: str) -> None:
        self._loop = loops.start(name, self._turn, max_pause_seconds=_MAX_PAUSE_SECONDS)

    async def close(self) -> None:
        if self._loop is not None:
            await self._loop.close()
        self._connection.drop()

    def write(self, entry: E, meanwhile: Meanwhile | None = None) -> "asyncio.Future[WriteResult[R]]":
        """Cancelling the caller does not remove the entry: it waits from here on, and will be written. `meanwhile` is
        called while the store works, and may not raise."""
        return self._enter(entry, self._writes, meanwhile)

    def probe(self, entry: E) -> "asyncio.Future[ProbeResult[R]]":
        """Writes nothing. Found and Absent are always answers of the store, however long the probe waited."""
        return self._enter(entry, self._probes)

    def _enter(self, entry: E, queue: list[Waiting[E, A]], meanwhile: Meanwhile | None = None) -> "asyncio.Future[A]":
        loop = asyncio.get_running_loop()
        result: asyncio.Future[A] = loop.create_future()
        queue.append(Waiting(entry, loop.time(), result, meanwhile))
        self._wake.set()
        return result

    async def _turn(self) -> None:
        await self._wake.wait()
        if self._writes:
            await self._company.gather(self._writes)
        writes, probes = taken(self._writes), taken(self._probes)
        if writes:
            self._company.had(len(writes))
        if not self._writes and not self._probes:
            self._wake.clear()
        try:
            if writes:
                await self._serve_writes(writes)
            if probes:
                await self._serve_probes(probes)
        except Exception:
            # An unexpected exception must not leave callers waiting for ever.
            self._connection.drop()
            tell_all(writes, UNKNOWN)
            tell_all(probes, UNKNOWN)
            raise

    async def _serve_writes(self, batch: Sequence[Waiting[E, WriteResult[R]]]) -> None:
        now = asyncio.get_running_loop().time()
        # An entry that waited as long as a write may take is late. Nothing of it was sent.
        late = now - self._write_seconds
        if batch[0].since < late:
            tell_all([waiting for waiting in batch if waiting.since < late], NOT_WRITTEN)
            batch = [waiting for waiting in batch if waiting.since >= late]
        if batch:
            await self._write(batch, now + 2 * self._write_seconds)

    async def _serve_probes(self, batch: Sequence[Waiting[E, ProbeResult[R]]]) -> None:
        """A probe is never late: its result is the answer of the store, or Unknown."""
        found = await self._probed([waiting.entry for waiting in batch], self._time_limit())
        if found is None:
            tell_all(batch, UNKNOWN)
        else:
            for waiting, value in zip(batch, found, strict=True):
                waiting.tell(ABSENT if value is None else Found(value))

    async def _write(self, batch: Sequence[Waiting[E, WriteResult[R]]], due: float) -> None:
        limit, connection = self._time_limit(due), self._connection.current
        if connection is None:
            try:
                async with asyncio.timeout_at(limit):
                    connection = await self._connection.opened()
            except (asyncpg.PostgresError, *CONNECTION_LOST):
                tell_all(batch, NOT_WRITTEN)
                return
        self._schedule_meanwhile(batch)
        try:
            async with asyncio.timeout_at(limit):
                values = await self._statements.write(connection, [waiting.entry for waiting in batch])
                require_replicated(connection)
        except asyncpg.PostgresError as refusal:
            await self._after_refusal(batch, refusal, due)
        except CONNECTION_LOST:
            self._connection.abandon()
            await self._find(batch, due)
        except BaseException:
            self._connection.abandon()
            raise
        else:
            for waiting, value in zip(batch, values, strict=True):
                waiting.tell(REFUSED if value is None else Written(value))

    def _schedule_meanwhile(self, batch: Sequence[Waiting[E, WriteResult[R]]]) -> None:
        """Once: a batch that is written one by one after a refusal finds nothing left to call."""
        called = []
        for waiting in batch:
            if waiting.meanwhile is not None:
                called.append(waiting.meanwhile)
                waiting.meanwhile = None
        if called:
            asyncio.get_running_loop().call_soon(call_all, called)

    async def _after_refusal(
        self, batch: Sequence[Waiting[E, WriteResult[R]]], refusal: asyncpg.PostgresError, due: float
    ) -> None:
        if refusal.sqlstate == FENCED:
            self._fenced()
            for waiting in batch:
                if not waiting.result.done():
                    waiting.result.set_exception(EpochFenced())
        elif refusal.sqlstate.startswith(_SERVER_GONE):
            self._connection.abandon()
            await self._find(batch, due)
        elif refusal.sqlstate == _READ_ONLY:
            self._connection.drop()
            tell_all(batch, NOT_WRITTEN)
        elif (root := root_without_month(refusal)) is not None:
            if await self._has_month(root, self._time_limit(due)):
                await self._write(batch, due)
            else:
                await self._one_by_one(batch, NOT_WRITTEN, due)
        else:
            await self._one_by_one(batch, DENIED if refusal.sqlstate.startswith(_DENIED) else NOT_WRITTEN, due)

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

    async def _one_by_one(self, batch: Sequence[Waiting[E, WriteResult[R]]], lone: NotWritten, due: float) -> None:
        """The batch was rolled back. A lone entry is the cause; several are written one by one to find it."""
        if len(batch) == 1:
            tell_all(batch, lone)
            return
        for waiting in batch:
            if asyncio.get_running_loop().time() < due:
                await self._write([waiting], due)
            else:
                waiting.tell(NOT_WRITTEN)

    async def _find(self, batch: Sequence[Waiting[E, WriteResult[R]]], due: float) -> None:
        """Probes a write whose answer was lost."""
        found = await self._probed([waiting.entry for waiting in batch], self._time_limit(due))
        if found is None:
            tell_all(batch, UNKNOWN)
        else:
            for waiting, value in zip(batch, found, strict=True):
                waiting.tell(NOT_WRITTEN if value is None else Found(value))

    async def _probed(self, entries: Sequence[E], limit: float) -> Sequence[R | None] | None:
        """Probes until the store answers; None when the time is over. It never writes again."""
        loop = asyncio.get_running_loop()
        # The clock is read here too: an attempt that fails at once never reaches its timeout.
        while loop.time() < limit:
            try:
                async with asyncio.timeout_at(limit):
                    connection = await self._connection.opened()
                    await self._connection.end_lost_backends(connection)
                    found = await self._statements.probe(connection, entries)
                    if any(value is not None for value in found):
                        await self._connection.confirm(connection)
                    return found
            except BackendRuns:
                pass
            except (asyncpg.PostgresError, *CONNECTION_LOST):
                self._connection.drop()
            await asyncio.sleep(_PAUSE_SECONDS)
        return None

    def _time_limit(self, due: float = float("inf")) -> float:
        return min(asyncio.get_running_loop().time() + self._write_seconds, due)
