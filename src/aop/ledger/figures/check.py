"""Counts the figures again: tiles of level 0 from the rows of the Ledger, those of level 1 from level 0."""

from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from aop.ledger.figures.counting import DETACHED_TILES, NUMBERS_IN_TILE, TILES_IN_RUN
from aop.ledger.figures.hours import MINUTE, FigureRow
from aop.ledger.figures.learned import Key
from aop.ledger.figures.tiles import Counted, counted, rows_of_calls, rows_of_run
from aop.ledger.tree.check import Breach
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
_KEYS: Final = """
SELECT workspace_id, target_agent_id, capability, outcome, error_code, reason, key
  FROM ledger.figure_key WHERE workspace_id = ANY($1)
"""


class FiguresCheck:
    def __init__(self, connection: Connection, newest: Counted, *, has_detached: bool) -> None:
        self._connection = connection
        self._newest = newest
        self._has_detached = has_detached
        self._keys: dict[str, Mapping[Key, int]] = {}

    @classmethod
    async def begun(cls, connection: Connection) -> "FiguresCheck":
        has_detached = await connection.fetchval("SELECT EXISTS (SELECT FROM ledger.detached_month WHERE events > 0)")
        return cls(connection, await counted(connection), has_detached=has_detached)

    async def breaches(self, rows: NumberedRows, first: int, past: int) -> AsyncGenerator[Breach, None]:
        """Of the tiles that lie in a range which begins at a tile. What is not counted yet is no problem."""
        begin, end = first // NUMBERS_IN_TILE, min(self._newest.tiles, past // NUMBERS_IN_TILE)
        if begin >= end:
            return
        calls = _calls(rows, first)
        await self._learn_keys({key[0] for of_tile in calls.values() for key in of_tile})
        there = await self._there(0, begin, end)
        for tile in sorted(set(range(begin, end)) - await self._detached(first, past)):
            right = rows_of_calls(
                (key[0], number, starts, latencies)
                for key, (starts, latencies) in calls[tile].items()
                if (number := self._keys[key[0]].get(key)) is not None
            )
            for row in _differing(there[tile], right):
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

    async def _detached(self, first: int, past: int) -> set[int]:
        """Tiles whose calls cannot be counted again."""
        return (
            {row[0] for row in await self._connection.fetch(DETACHED_TILES, first, past)}
            if self._has_detached
            else set()
        )

    async def _learn_keys(self, workspaces: set[str]) -> None:
        if sum(map(len, self._keys.values())) > _MAX_KEYS:
            self._keys.clear()
        unknown = workspaces - self._keys.keys()
        learned = {workspace: dict[Key, int]() for workspace in unknown}
        for *key, number in await self._connection.fetch(_KEYS, list(unknown)) if unknown else ():
            learned[key[0]][tuple(key)] = number
        self._keys |= learned


def _calls(rows: NumberedRows, first: int) -> Mapping[int, Mapping[Key, tuple[list[int], list[int | None]]]]:
    """By tile and key: in which minutes they were accepted, and their latencies."""
    found = defaultdict[int, dict[Key, tuple[list[int], list[int | None]]]](lambda: defaultdict(lambda: ([], [])))
    for number, _, _, of_invocation in rows.openings:
        if number >= first:
            _count(found[number // NUMBERS_IN_TILE], of_invocation, (None, None, None), None)
    for number, _, _, of_invocation, columns in rows.events:
        if columns[_TYPE] != "stream":
            ended = columns[_TYPE], columns[_CODE], columns[_REASON]
            _count(found[number // NUMBERS_IN_TILE], of_invocation, ended, columns[_LATENCY])
    return found


def _count(
    calls: dict[Key, tuple[list[int], list[int | None]]],
    of_invocation: InvocationLeaves,
    ended: tuple[str | None, str | None, str | None],
    latency_ms: int | None,
) -> None:
    columns = of_invocation.columns
    starts, latencies = calls[(columns[_WORKSPACE], columns[_AGENT], columns[_CAPABILITY], *ended)]
    accepted = int(columns[_CREATED].timestamp())
    starts.append(accepted - accepted % MINUTE)
    latencies.append(latency_ms)


def _differing(there: Sequence[FigureRow], right: Iterable[FigureRow]) -> Sequence[FigureRow]:
    """One of each Workspace, width and start, be it too much, missing or wrong."""
    differing = set(there) ^ set(right)
    return list({(row.workspace_id, row.width, row.start): row for row in sorted(differing, key=repr)}.values())


def _miscount(row: FigureRow) -> str:
    start = datetime.fromtimestamp(row.start, UTC).isoformat()
    return f"does not count the calls of Workspace {row.workspace_id} in {row.width} s from {start} as they are"
