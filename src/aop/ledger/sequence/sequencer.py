"""The sequencer: one Router at a time gives committed events their numbers, counts them and adds them to the tree."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import asyncpg

from aop.ledger.figures.calls_by_tile import CallsByTile
from aop.ledger.figures.tiles import count_tiles
from aop.ledger.model import Writer
from aop.ledger.sequence import store
from aop.ledger.sequence.batch import NumberRow, RunningRow, number_rows
from aop.ledger.sequence.finding import Finder, UnnumberedRows
from aop.ledger.tree.growth import TreeGrowth
from aop.ledger.tree.store import TreeBroken
from aop.ledger.write.group_commit import FENCED, Connect
from aop.store.database import CONNECTION_LOST, Connection

PAUSE_SECONDS: Final = 0.5
TAKE_OVER_SECONDS: Final = 2.0
"""How often a Router without the lock tries to get it."""
MAX_STATEMENT_SECONDS: Final = store.STATEMENT_SECONDS + 2.0
"""After which a connection is given up: the server itself would have stopped the statement before."""
_MAX_TILES_AT_ONCE: Final = 8
# Calls run in the same loop, and one of them waits for so many rows, or events, at most, which take 0.1 to 0.2 ms.
_NUMBERED_AT_ONCE: Final = 128
_LEARNED_AT_ONCE: Final = 32
# A connection or a server that fails, a statement that takes too long, a transaction that another one is in the way of.
_STORE_FAILS: Final = ("08", "25006", "40", "53", "55", "57")


@dataclass
class _Holder:
    """What the holder of the lock knows. It is read again whenever the lock was taken again."""

    connection: Connection
    past: int
    finder: Finder
    running: dict[UUID, RunningRow]
    tree: TreeGrowth | None
    """None if the rows are not those of the newest head: nothing is added to a tree that is broken."""
    calls: CallsByTile = field(default_factory=CallsByTile)

    @property
    def settled(self) -> int:
        return min((one.number for one in self.running.values()), default=self.past)


class Sequencer:
    """Its own connection holds the lock, so that with the one the other is lost. Whatever a lost connection left
    in doubt is read again; numbers and positions are written together. Without a pause it always works."""

    def __init__(self, connect: Connect, writer: Writer, *, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._connect = connect
        self._writer = writer
        self._pause_seconds = pause_seconds
        self._connection: Connection | None = None
        self._holder: _Holder | None = None
        self._all_numbered_at = 0.0

    @property
    def is_holder(self) -> bool:
        return self._holder is not None

    @property
    def lag_seconds(self) -> float:
        """How long ago it last had numbered all that it read; 0 where another one holds the lock."""
        return time.monotonic() - self._all_numbered_at if self._holder else 0.0

    @property
    def is_tree_broken(self) -> bool:
        """Whether the holder of the lock has read rows that are not those of the newest head."""
        return self._holder is not None and self._holder.tree is None

    @property
    def unproven(self) -> int:
        """How many numbered events are not in the tree yet; 0 where another one holds the lock."""
        holder = self._holder
        return 0 if holder is None else holder.past - (0 if holder.tree is None else holder.tree.size)

    async def turn(self) -> None:
        """The end of the loop, while it sleeps too, frees the lock at once."""
        try:
            await self._turn()
        except BaseException as failure:
            self._drop()
            if isinstance(failure, asyncpg.PostgresError) and failure.sqlstate == FENCED:
                await asyncio.Event().wait()  # a newer epoch of this Router numbers instead
            if not _is_expected(failure):
                raise
            await asyncio.sleep(self._pause_seconds)

    async def _turn(self) -> None:
        if self._holder is None:
            self._holder = await self._take_over()
            if self._holder is None:
                await asyncio.sleep(TAKE_OVER_SECONDS)
                return
            self._all_numbered_at = time.monotonic()
        began = time.monotonic()
        is_all = await self._number(self._holder)
        counted = await count_tiles(self._holder.connection, self._holder.past, self._holder.calls, _MAX_TILES_AT_ONCE)
        grown = self._holder.tree is None or await self._holder.tree.grow(self._holder.past)
        if is_all:
            self._all_numbered_at = began
        # Behind a long backlog it works half of the time, so that calls have the store for the other half.
        worked = min(time.monotonic() - began, TAKE_OVER_SECONDS)
        await asyncio.sleep(self._pause_seconds if is_all and counted and grown else worked * bool(self._pause_seconds))

    async def _take_over(self) -> _Holder | None:
        if self._connection is None:
            self._connection = await self._connect()
            await store.prepare(self._connection)
        connection = self._connection
        if not await store.take_lock(connection):
            return None
        end = await store.sequence_end(connection)
        running = await store.running(connection, end.settled)
        return _Holder(connection, end.past, Finder(connection), running, await _tree(connection))

    def _drop(self) -> None:
        self._holder = None
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _number(self, holder: _Holder) -> bool:
        """Numbers what it finds, up to a limit. True when that was all."""
        found = await holder.finder.find(holder.running)
        rows, leaves = await self._number_rows(holder, found)
        positions = holder.finder.numbered_positions(found)
        if rows or positions:
            async with holder.connection.transaction():
                if rows:
                    await store.add_numbers(holder.connection, self._writer, rows, holder.settled)
                if positions:
                    await store.add_positions(holder.connection, positions)
        await self._learn(holder, rows, leaves)
        holder.finder.forget_ended(positions)
        return found.is_all

    async def _number_rows(
        self, holder: _Holder, found: UnnumberedRows
    ) -> tuple[Sequence[NumberRow], Sequence[Sequence[Any]]]:
        """The rows with their numbers, and the columns that the leaves of each are made from."""
        rows, leaves = list[NumberRow](), list[Sequence[Any]]()
        await asyncio.sleep(0)
        for row, leaf in number_rows(holder.past, found.openings, found.events, holder.running):
            if len(rows) % _NUMBERED_AT_ONCE == 0:
                await asyncio.sleep(0)
            rows.append(row)
            leaves.append(leaf)
        holder.past = rows[-1].past if rows else holder.past
        return rows, leaves

    async def _learn(self, holder: _Holder, rows: Sequence[NumberRow], leaves: Sequence[Sequence[Any]]) -> None:
        """They were just read, and rows never change: neither figures nor the tree need to read them again."""
        tree, calls = holder.tree, holder.calls
        if tree is not None:
            tree.begin_learning(rows[0].number if rows else holder.past)
        events = 0
        for row, leaf in zip(rows, leaves, strict=True):
            events += row.events
            if events >= _LEARNED_AT_ONCE:
                await asyncio.sleep(0)
                events = 0
            calls.learn(row, leaf)
            if tree is not None:
                tree.learn(row.invocation_id, row.sequence, leaf)


async def _tree(connection: Connection) -> TreeGrowth | None:
    """Numbers and figures go on without it: a metric and `aop ledger check` tell that it is broken."""
    try:
        return await TreeGrowth.resumed(connection)
    except TreeBroken:
        return None


def _is_expected(failure: BaseException) -> bool:
    """Anything else is reported."""
    if isinstance(failure, asyncpg.PostgresError):
        return bool(failure.sqlstate.startswith(_STORE_FAILS))
    return isinstance(failure, CONNECTION_LOST)
