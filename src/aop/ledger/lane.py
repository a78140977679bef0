"""Group commit: whatever waits while one write runs becomes the next write; a lone entry is written at once.

A batch ends in one of four ways. It committed: each entry was stored or refused. The server said no: it is known to be
rolled back, and its entries run once each alone, so that only the guilty one fails. Nothing was sent: all of it failed.
The connection broke or was silent for too long: nobody knows, and each entry is looked for once the old backend is
surely gone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, TypeVar

import asyncpg
import msgspec

from aop.base.database import CONNECTION_LOST, Connection

E = TypeVar("E")
R = TypeVar("R")

FENCED = "AOP01"
# The connection failed, or the server ended us: perhaps around the commit.
_SERVER_GONE = ("08", "57P")
# A constraint or a trigger.
_DENIED = ("23", "P0")
_MOST_IN_BATCH = 512
# Calls that came in together reach the lane within a few turns of the loop; a lone one loses microseconds to them.
_TURNS_TO_GATHER = 2
_TERMINATE_MS = 1000


class Verdict(Enum):
    """What became of an entry. FOUND: stored, but its writer learned so only by asking. REFUSED: by the statement, in
    the ordinary way. DENIED: by a constraint. FAILED: not stored, because the store failed. UNDECIDED: nobody knows."""

    STORED = "stored"
    FOUND = "found"
    REFUSED = "refused"
    DENIED = "denied"
    FAILED = "failed"
    UNDECIDED = "undecided"


class EpochFenced(Exception):
    """A newer epoch of this Router exists: this process may write nothing more."""


class Told(msgspec.Struct, Generic[R], frozen=True):
    verdict: Verdict
    result: R | None = None


@dataclass(slots=True)
class _Waiting(Generic[E, R]):
    entry: E
    since: float
    is_question: bool
    told: asyncio.Future[Told[R]] = field(repr=False)


@dataclass(frozen=True)
class LaneWork(Generic[E, R]):
    """How entries are written and how they are looked for; both give a result per entry, None where there is none."""

    write: Callable[[Connection, Sequence[E]], Awaitable[Sequence[R | None]]]
    find: Callable[[Connection, Sequence[E]], Awaitable[Sequence[R | None]]]


class Lane(Generic[E, R]):
    """One connection and one writer task. Belongs to the loop it is started on."""

    def __init__(
        self,
        work: LaneWork[E, R],
        connect: Callable[[], Awaitable[Connection]],
        write_seconds: float,
        fenced: Callable[[], None],
    ) -> None:
        self._work = work
        self._connect = connect
        self._write_seconds = write_seconds
        self._fenced = fenced
        self._connection: Connection | None = None
        self._lost_backends: list[int] = []
        self._waiting: list[_Waiting[E, R]] = []
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        self._drop()

    async def submit(self, entry: E) -> Told[R]:
        """Cancelling the caller does not take the entry back: once waiting, it will be written."""
        return await self._told(entry, is_question=False)

    async def look(self, entry: E) -> Told[R]:
        """Writes nothing: FOUND, FAILED when it is not there and never will be, or UNDECIDED."""
        return await self._told(entry, is_question=True)

    async def _told(self, entry: E, *, is_question: bool) -> Told[R]:
        loop = asyncio.get_running_loop()
        waiting: _Waiting[E, R] = _Waiting(entry, loop.time(), is_question, loop.create_future())
        self._waiting.append(waiting)
        self._wake.set()
        return await waiting.told

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            for _ in range(_TURNS_TO_GATHER):
                await asyncio.sleep(0)
            batch = self._waiting[:_MOST_IN_BATCH]
            del self._waiting[:_MOST_IN_BATCH]
            if not self._waiting:
                self._wake.clear()
            try:
                await self._serve(batch)
            except Exception:  # noqa: BLE001  nobody may wait for ever because of a fault nobody thought of
                self._drop()
                _tell_all(batch, Verdict.UNDECIDED)

    async def _serve(self, batch: Sequence[_Waiting[E, R]]) -> None:
        now = asyncio.get_running_loop().time()
        # What waited for as long as a write may take is late, and nothing of it was sent.
        late = now - self._write_seconds
        if batch[0].since < late:
            _tell_all([waiting for waiting in batch if waiting.since < late], Verdict.FAILED)
            batch = [waiting for waiting in batch if waiting.since >= late]
        if writes := [waiting for waiting in batch if not waiting.is_question]:
            await self._write(writes)
        if questions := [waiting for waiting in batch if waiting.is_question]:
            await self._find(questions, asyncio.get_running_loop().time() + self._write_seconds)

    async def _write(self, batch: Sequence[_Waiting[E, R]]) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._write_seconds
        try:
            async with asyncio.timeout_at(deadline):
                connection = await self._connected()
        except (asyncpg.PostgresError, *CONNECTION_LOST):
            _tell_all(batch, Verdict.FAILED)
            return
        try:
            async with asyncio.timeout_at(deadline):
                results = await self._work.write(connection, [waiting.entry for waiting in batch])
        except asyncpg.PostgresError as refused:
            await self._after_refusal(batch, refused)
        except asyncpg.DataError:
            await self._one_by_one(batch, Verdict.DENIED)  # a value that cannot be encoded: nothing was sent
        except CONNECTION_LOST:
            self._lose(connection)
            await self._find(batch, loop.time() + self._write_seconds)
        else:
            for waiting, result in zip(batch, results, strict=True):
                _tell(waiting, Verdict.REFUSED if result is None else Verdict.STORED, result)

    async def _after_refusal(self, batch: Sequence[_Waiting[E, R]], refused: asyncpg.PostgresError) -> None:
        if refused.sqlstate == FENCED:
            self._fenced()
            for waiting in batch:
                if not waiting.told.done():
                    waiting.told.set_exception(EpochFenced())
        elif refused.sqlstate.startswith(_SERVER_GONE):
            if self._connection is not None:
                self._lose(self._connection)
            await self._find(batch, asyncio.get_running_loop().time() + self._write_seconds)
        else:
            denied = refused.sqlstate.startswith(_DENIED)
            await self._one_by_one(batch, Verdict.DENIED if denied else Verdict.FAILED)

    async def _one_by_one(self, batch: Sequence[_Waiting[E, R]], verdict: Verdict) -> None:
        """The batch is known to be undone: a lone entry is guilty, of several the guilty one is sought."""
        if len(batch) == 1:
            _tell_all(batch, verdict)
        else:
            for waiting in batch:
                await self._write([waiting])

    async def _find(self, batch: Sequence[_Waiting[E, R]], deadline: float) -> None:
        """Asks until the store answers or the time is up; a question, not a second write."""
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    connection = await self._connected()
                    await self._end_lost_backends(connection)
                    results = await self._work.find(connection, [waiting.entry for waiting in batch])
                break
            except TimeoutError:
                _tell_all(batch, Verdict.UNDECIDED)
                return
            except (asyncpg.PostgresError, *CONNECTION_LOST):
                self._drop()
                await asyncio.sleep(0.05)
        for waiting, result in zip(batch, results, strict=True):
            _tell(waiting, Verdict.FAILED if result is None else Verdict.FOUND, result)

    async def _end_lost_backends(self, connection: Connection) -> None:
        # A backend whose client is gone may still commit what it has read. Only once it has ended is absence final.
        while self._lost_backends:
            await connection.fetchval(
                "SELECT pg_terminate_backend(pid, $2) FROM pg_stat_activity WHERE pid = $1 AND usename = current_user",
                self._lost_backends[-1],
                _TERMINATE_MS,
            )
            still = await connection.fetchval(
                "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND usename = current_user)",
                self._lost_backends[-1],
            )
            if still:
                raise OSError("the lost backend has not ended yet")
            self._lost_backends.pop()

    async def _connected(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._connect()
        return self._connection

    def _lose(self, connection: Connection) -> None:
        self._lost_backends.append(connection.get_server_pid())
        self._drop()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


def _tell(waiting: _Waiting[Any, R], verdict: Verdict, result: R | None = None) -> None:
    if not waiting.told.done():
        waiting.told.set_result(Told(verdict, result))


def _tell_all(batch: Sequence[_Waiting[Any, Any]], verdict: Verdict) -> None:
    for waiting in batch:
        _tell(waiting, verdict)
