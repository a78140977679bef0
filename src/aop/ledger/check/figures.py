"""Counts the figures again: tiles of level 0 from the rows of the Ledger, those of level 1 from level 0."""

from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from aop.ledger.check.tree import Breach
from aop.ledger.figures.calls_by_tile import CallsByMinute, Key
from aop.ledger.figures.hours import MINUTE, NUMBERS_IN_TILE, TILES_IN_RUN, FigureRow
from aop.ledger.figures.tiles import TileCounts, detached_tiles, numbers_of, rows_of_calls, rows_of_run, tile_counts
from aop.ledger.tree.leaf import EVENT_COLUMNS, OPENING_COLUMNS, InvocationLeaves
from aop.ledger.tree.store import NumberedRows
from aop.store.database import Connection

_MAX_KEYS: Final = 100_000
_WORKSPACE, _AGENT, _CAPABILITY, _CREATED = map(
    OPENING_COLUMNS.index, ("workspace_id", "target_agent_id", "capability", "created_at")
)
_TYPE, _LATENCY, _CODE, _REASON = map(EVENT_COLUMNS.index, ("type", "latency_ms", "error_code", "reason"))
_ROWS: Final = """
SELECT tile, workspace_id, width, extract(epoch FROM start)::bigint, cell, parts
  FROM ledger.figure WHERE edition = $1 AND level = $2 AND tile >= $3 AND tile < $4
"""


class FiguresCheck:
    def __init__(self, connection: Connection, newest: TileCounts, *, has_detached: bool) -> None:
        self._connection = connection
        self._newest = newest
        self._has_detached = has_detached
        self._keys: dict[Key, int] = {}

    @classmethod
    async def begun(cls, connection: Connection) -> "FiguresCheck":
        has_detached = await connection.fetchval("SELECT EXISTS (SELECT FROM ledger.detached_month WHERE events > 0)")
        return cls(connection, await tile_counts(connection), has_detached=has_detached)

    async def breaches(self, rows: NumberedRows, first: int, past: int) -> AsyncGenerator[Breach, None]:
        """Of the tiles that lie in a range which begins at a tile. What is not counted yet is no problem."""
        begin, end = first // NUMBERS_IN_TILE, min(self._newest.tiles, past // NUMBERS_IN_TILE)
        if begin >= end:
            return
        calls = _calls(rows, first)
        if len(self._keys) > _MAX_KEYS:
            self._keys.clear()
        unknown = {
            key for tile in calls.values() for of_minute in tile.values() for key in of_minute
        } - self._keys.keys()
        self._keys |= await numbers_of(self._connection, unknown)
        there = await self._there(0, begin, end)
        gone = await detached_tiles(self._connection, first, past) if self._has_detached else set[int]()
        for tile in sorted(set(range(begin, end)) - gone):
            for row in _differing(there[tile], rows_of_calls(calls[tile], self._keys)):
                yield Breach(f"tile {tile}", _miscount(row))

    async def sums(self, first: int, last: int) -> AsyncGenerator[Breach, None]:
        """Of the tiles of level 1 over a range of numbers."""
        in_run, edition = NUMBERS_IN_TILE * TILES_IN_RUN, self._newest.edition
        for tile in range(first // in_run, min(self._newest.runs, last // in_run + 1)):
            there = await self._there(1, tile, tile + 1)
            right = [row async for row in rows_of_run(self._connection, edition, tile)]
            for row in _differing(there[tile], right):
                yield Breach(f"tile {tile} of level 1", _miscount(row))

    async def _there(self, level: int, begin: int, end: int) -> Mapping[int, Sequence[FigureRow]]:
        found = defaultdict[int, list[FigureRow]](list)
        for tile, *row in await self._connection.fetch(_ROWS, self._newest.edition, level, begin, end):
            found[tile].append(FigureRow(*row))
        return found


def _calls(rows: NumberedRows, first: int) -> Mapping[int, CallsByMinute]:
    """By tile."""
    tiles = defaultdict[int, dict[int, dict[Key, list[int | None]]]](lambda: defaultdict(lambda: defaultdict(list)))

    def add(number: int, of: InvocationLeaves, *ended: str | None, latency_ms: int | None = None) -> None:
        accepted = int(of.columns[_CREATED].timestamp())
        key = of.columns[_WORKSPACE], of.columns[_AGENT], of.columns[_CAPABILITY], *ended
        tiles[number // NUMBERS_IN_TILE][accepted - accepted % MINUTE][key].append(latency_ms)

    for number, _, _, of_invocation in rows.openings:
        if number >= first:
            add(number, of_invocation, None, None, None)
    for number, _, _, of_invocation, columns in rows.events:
        if columns[_TYPE] != "stream":
            add(number, of_invocation, columns[_TYPE], columns[_CODE], columns[_REASON], latency_ms=columns[_LATENCY])
    return tiles


def _differing(there: Sequence[FigureRow], right: Iterable[FigureRow]) -> Sequence[FigureRow]:
    """One of each Workspace, width and start, be it too much, missing or wrong."""
    differing = set(there) ^ set(right)
    return list({(row.workspace_id, row.width, row.start): row for row in sorted(differing, key=repr)}.values())


def _miscount(row: FigureRow) -> str:
    start = datetime.fromtimestamp(row.start, UTC).isoformat()
    return f"does not count the calls of Workspace {row.workspace_id} in {row.width} s from {start} as they are"
