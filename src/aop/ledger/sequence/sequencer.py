"""The sequencer: one Router at a time gives committed events their numbers, counts them and adds them to the tree."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import asyncpg

from aop.ledger.entries import Writer
from aop.ledger.figures.tiles import count_next_tile
from aop.ledger.group_commit import FENCED
from aop.ledger.sequence import store
from aop.ledger.sequence.batch import EventFound, Numbered, OpeningFound, Unended, numbered
from aop.ledger.sequence.epoch_positions import EpochPositions
from aop.ledger.tree.growth import TreeGrowth
from aop.ledger.tree.store import TreeBroken
from aop.ledger.writer_connection import Connect
from aop.store.database import CONNECTION_LOST, Connection

PAUSE_SECONDS: Final = 0.5
TAKE_OVER_SECONDS: Final = 2.0
"""How often a Router without the lock tries to get it."""
MAX_STATEMENT_SECONDS: Final = store.STATEMENT_SECONDS + 2.0
"""After which a connection is given up: the server itself would have stopped the statement before."""
MAX_OPENINGS: Final = 500
MAX_EVENTS: Final = 2_000
_MAX_TILES_AT_ONCE: Final = 8
# Epochs that are over and not numbered yet, as an old Ledger has many.
_MAX_OLD_EPOCHS: Final = 16
_MAX_DEPTH: Final = 1_000
# A connection or a server that fails, a statement that takes too long, a transaction that another one is in the way of.
_STORE_FAILS: Final = ("08", "25006", "40", "53", "55", "57")

Life = tuple[str, int]


@dataclass
class _Held:
    """What the holder of the lock knows. It is read again whenever the lock was taken again."""

    connection: Connection
    past: int
    unended: dict[UUID, Unended]
    tree: TreeGrowth | None
    """None if the rows are not those of the newest head: nothing is added to a tree that is broken."""
    positions: dict[Life, EpochPositions] = field(default_factory=dict)

    @property
    def settled(self) -> int:
        return min((one.number for one in self.unended.values()), default=self.past)


@dataclass(frozen=True)
class _Found:
    openings: Sequence[OpeningFound]
    events: Sequence[EventFound]
    lives: Sequence[store.LifeRow]
    has_all_openings: bool
    """Of these epochs."""
    is_all: bool

    def leaves_of(self, rows: Sequence[Numbered]) -> Iterator[tuple[UUID, int, Sequence[Any]]]:
        """As the tree takes them."""
        openings = {one.invocation_id: one.leaf for one in self.openings}
        events = {(one.invocation_id, one.sequence): one.leaf for one in self.events}
        for row in rows:
            invocation, sequence = row.invocation_id, row.sequence
            yield invocation, sequence, openings[invocation] if sequence == 0 else events[invocation, sequence]


class Sequencer:
    """Its own connection holds the lock, so that whoever loses one has lost the other. Whatever a lost connection left
    in doubt is read again; numbers and positions are written together. Without a pause it always works."""

    def __init__(self, connect: Connect, writer: Writer, *, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._connect = connect
        self._writer = writer
        self._pause_seconds = pause_seconds
        self._connection: Connection | None = None
        self._held: _Held | None = None
        self._all_numbered_at = 0.0

    @property
    def is_holder(self) -> bool:
        return self._held is not None

    @property
    def lag_seconds(self) -> float:
        """How long ago it last had numbered all that it found; 0 where another one holds the lock."""
        return time.monotonic() - self._all_numbered_at if self._held else 0.0

    @property
    def is_tree_broken(self) -> bool:
        """Whether the holder of the lock found rows that are not those of the newest head."""
        return self._held is not None and self._held.tree is None

    @property
    def unproven(self) -> int:
        """How many numbered events are not in the tree yet; 0 where another one holds the lock."""
        held = self._held
        return 0 if held is None else held.past - (0 if held.tree is None else held.tree.size)

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
        if self._held is None:
            self._held = await self._take_over()
            if self._held is None:
                await asyncio.sleep(TAKE_OVER_SECONDS)
                return
            self._all_numbered_at = time.monotonic()
        began = time.monotonic()
        is_all = await self._number(self._held)
        counted = await self._count(self._held)
        grown = self._held.tree is None or await self._held.tree.grow(self._held.past)
        if is_all:
            self._all_numbered_at = began
        # Behind a long backlog it works half of the time, so that calls have the store for the other half.
        worked = min(time.monotonic() - began, TAKE_OVER_SECONDS)
        await asyncio.sleep(self._pause_seconds if is_all and counted and grown else worked * bool(self._pause_seconds))

    async def _take_over(self) -> _Held | None:
        if self._connection is None:
            self._connection = await self._connect()
            await store.prepare(self._connection)
        connection = self._connection
        if not await store.take_lock(connection):
            return None
        end = await store.sequence_end(connection)
        rows = await store.unended(connection, end.settled)
        unended = {
            row.invocation_id: Unended(row.number, row.sequence, row.workspace_id, row.root_task_id) for row in rows
        }
        return _Held(connection, end.past, unended, await _tree(connection))

    def _drop(self) -> None:
        self._held = None
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _number(self, held: _Held) -> bool:
        """Numbers what it finds, up to a limit. True when that was all."""
        found = await self._find(held)
        rows = list(numbered(held.past, found.openings, found.events, held.unended))
        self._learn(held, rows)
        told = [
            (life.router_id, life.epoch, position)
            for life in found.lives
            if (positions := held.positions.get((life.router_id, life.epoch))) is not None
            and (position := positions.numbered_below(is_over=life.is_over and found.has_all_openings)) is not None
        ]
        if rows or told:
            async with held.connection.transaction():
                if rows:
                    await store.add_numbers(held.connection, self._writer, rows, held.settled)
                if told:
                    await store.add_positions(held.connection, told)
        if rows and held.tree is not None:
            await held.tree.learn(rows[0].number, found.leaves_of(rows))
        for router_id, epoch, position in told:
            if position == store.ENDED_EPOCH:
                del held.positions[router_id, epoch]
        return found.is_all

    async def _find(self, held: _Held) -> _Found:
        connection = held.connection
        over, live = _split(await store.lives(connection))
        lives = [*over[:_MAX_OLD_EPOCHS], *live]
        for life in lives:
            held.positions.setdefault((life.router_id, life.epoch), EpochPositions(life))
        known = [held.positions[life.router_id, life.epoch] for life in lives]
        ahead = await store.openings_behind(connection, [each.behind() for each in known], MAX_OPENINGS)
        late = await store.openings_at(connection, [place for each in known for place in each.to_look_up()])
        places = defaultdict[Life, list[int]](list)
        for one in (*ahead, *late):
            places[one.router_id, one.epoch].append(one.position)
        for life, each in zip(lives, known, strict=True):
            each.found(places[life.router_id, life.epoch])
            each.looked_up(life)
        openings = await self._with_ancestors(held, [one for one in (*ahead, *late) if not one.is_numbered])
        behind = [(invocation, one.root_task_id, one.sequence) for invocation, one in held.unended.items()]
        behind += [(one.invocation_id, one.root_task_id, one.events - 1) for one in openings]
        events = await store.events_behind(connection, behind, MAX_EVENTS)
        has_all_openings = len(ahead) < MAX_OPENINGS
        is_all = has_all_openings and len(events) < MAX_EVENTS and len(over) <= _MAX_OLD_EPOCHS
        return _Found(openings, events, lives, has_all_openings, is_all)

    async def _with_ancestors(self, held: _Held, openings: Sequence[OpeningFound]) -> Sequence[OpeningFound]:
        """A parent was written before its child, so that it is there; it may be of an epoch whose turn comes later."""
        batch = {one.invocation_id: one for one in openings}
        parents = {one.parent_invocation_id for one in openings if one.parent_invocation_id is not None}
        for _ in range(_MAX_DEPTH):
            missing = [parent for parent in parents if parent not in batch and parent not in held.unended]
            if not missing:
                break
            above = [one for one in await store.openings_named(held.connection, missing) if not one.is_numbered]
            batch.update({one.invocation_id: one for one in above})
            parents = {one.parent_invocation_id for one in above if one.parent_invocation_id is not None}
        return list(batch.values())

    def _learn(self, held: _Held, rows: Sequence[Numbered]) -> None:
        for row in rows:
            if row.is_terminal:
                del held.unended[row.invocation_id]
                continue
            opened = held.unended.get(row.invocation_id)
            number = row.number if opened is None else opened.number
            last = row.sequence + row.events - 1
            held.unended[row.invocation_id] = Unended(number, last, row.workspace_id, row.root_task_id)
            held.past = row.past
        held.past = rows[-1].past if rows else held.past

    async def _count(self, held: _Held) -> bool:
        """Counts complete tiles, each in its own transaction. True when none is left."""
        for _ in range(_MAX_TILES_AT_ONCE):
            if not await count_next_tile(held.connection, held.past):
                return True
        return False


async def _tree(connection: Connection) -> TreeGrowth | None:
    """Numbers and figures go on without it: a metric and `aop ledger check` tell that it is broken."""
    try:
        return await TreeGrowth.resumed(connection)
    except TreeBroken:
        return None


def _split(lives: Sequence[store.LifeRow]) -> tuple[Sequence[store.LifeRow], Sequence[store.LifeRow]]:
    """Epochs that are over, the oldest first, and the others."""
    return [life for life in lives if life.is_over], [life for life in lives if not life.is_over]


def _is_expected(failure: BaseException) -> bool:
    """Anything else is reported."""
    if isinstance(failure, asyncpg.PostgresError):
        return bool(failure.sqlstate.startswith(_STORE_FAILS))
    return isinstance(failure, CONNECTION_LOST)
