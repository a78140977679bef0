"""Tiles: what was accepted and what ended in a fixed range of numbers, counted by Workspace and time of acceptance.

A tile is counted once, when all its numbers are given, and never changes: a call that ends later is in a later tile, at
the time at which it was accepted. Level 0 counts rows of the Ledger. Level 1 sums what 64 tiles of level 0 count.
"""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from aop.ledger.figures.calls_by_tile import CallsByMinute, CallsByTile, Key
from aop.ledger.figures.cell import Sum, packed
from aop.ledger.figures.hours import HOUR, MINUTE, NUMBERS_IN_TILE, TILES_IN_RUN, FigureRow, RowsOfHours, parts_in
from aop.ledger.figures.latency_buckets import bucket_of
from aop.store.database import Connection
from aop.store.queries import queries_beside
from aop.store.rows import Row, to_row

_QUERIES: Final = queries_beside(__file__)
_ADD_TILE: Final = "INSERT INTO ledger.figure_tile (edition, level, tile) VALUES ($1, $2, $3)"
_ROWS_AT_ONCE: Final = 200
_HOURS_AT_ONCE: Final = 50


class TileCounts(Row, frozen=True):
    edition: int
    tiles: int
    runs: int


async def tile_counts(connection: Connection) -> TileCounts:
    return to_row(TileCounts, await connection.fetchrow(_QUERIES["tile_counts"]))


async def count_tiles(connection: Connection, past: int, by_tile: CallsByTile, limit: int) -> bool:
    """Counts the first tiles that are not counted, as far as the numbers before `past` fill them, each in its own
    transaction. What is not in `by_tile` is read. True when none is left."""
    newest = await tile_counts(connection)
    edition, tiles, runs = newest.edition, newest.tiles, newest.runs
    for _ in range(limit):
        if tiles == (runs + 1) * TILES_IN_RUN:
            await _count_run(connection, edition, runs)
            runs += 1
        elif (tiles + 1) * NUMBERS_IN_TILE > past:
            return True
        else:
            calls = by_tile.take(tiles) or await _calls_of_tile(connection, tiles)
            await _count_tile(connection, edition, tiles, calls, by_tile.keys)
            tiles += 1
    return False


async def begin_edition(connection: Connection) -> int | None:
    """Counts the first tiles again, in an edition that counts from now on; the sequencer counts the others. None while
    there is no tile. Tiles over rows of detached months are as they were: of these there is nothing to count. All of
    them are there at once, so that reads never miss their calls."""
    newest = await tile_counts(connection)
    if newest.tiles == 0:
        return None
    edition, last = newest.edition + 1, await connection.fetchval("SELECT max(last_number) FROM ledger.detached_month")
    past = 1 if last is None else last // NUMBERS_IN_TILE + 1
    detached = await detached_tiles(connection, 0, past * NUMBERS_IN_TILE)
    async with connection.transaction():
        for tile in range(past):
            if tile and tile % TILES_IN_RUN == 0:
                await _count_run(connection, edition, tile // TILES_IN_RUN - 1)
            if tile in detached:
                await connection.execute(_ADD_TILE, edition, 0, tile)
                await connection.execute(_QUERIES["copy_rows"], edition, tile, newest.edition)
            else:
                await _count_tile(connection, edition, tile, await _calls_of_tile(connection, tile), {})
    return edition


async def detached_tiles(connection: Connection, first: int, past: int) -> set[int]:
    """Those of level 0 in a range of numbers whose calls cannot be counted again."""
    return {row[0] for row in await connection.fetch(_QUERIES["detached_tiles"], first, past)}


async def _calls_of_tile(connection: Connection, tile: int) -> CallsByMinute:
    """Of a tile of level 0, from the rows of the Ledger."""
    calls = defaultdict[int, dict[Key, list[int | None]]](lambda: defaultdict(list))
    for *key, minutes, latencies in await connection.fetch(_QUERIES["calls_of_tile"], tile):
        for minute, latency_ms in zip(minutes, latencies, strict=True):
            calls[minute][tuple(key)].append(latency_ms)
    return calls


async def numbers_of(connection: Connection, keys: Iterable[Key], *, adds: bool = False) -> dict[Key, int]:
    """Of those that have one. If `adds`, those that no tile needed before get one."""
    columns = [list(column) for column in zip(*keys, strict=True)]
    if not columns:
        return {}
    if adds:
        await connection.execute(_QUERIES["add_keys"], *columns)
    return {tuple(key): number for *key, number in await connection.fetch(_QUERIES["numbers_of_keys"], *columns)}


def rows_of_calls(calls: CallsByMinute, numbers: Mapping[Key, int]) -> Iterator[FigureRow]:
    """As they should be in the store. Calls of a key that has no number are left out."""
    minutes = defaultdict[tuple[str, int], _Minute](_Minute)
    for start, of_minute in calls.items():
        for key, latencies in of_minute.items():
            if key in numbers:
                minutes[key[0], start].add(numbers[key], latencies)
    rows = RowsOfHours()
    for (workspace_id, hour), begun in groupby(sorted(minutes), key=_hour_of):
        yield from rows.add(workspace_id, hour, {start: minutes[workspace_id, start].cell() for _, start in begun})
    yield from rows.end()


async def rows_of_run(connection: Connection, edition: int, run: int) -> AsyncIterator[FigureRow]:
    """As they should be in the store, of a tile of level 1, as far as level 0 is right."""
    rows, hour, minutes = RowsOfHours(), ("", 0), defaultdict[int, Sum](Sum)
    async for workspace_id, start, parts in connection.cursor(
        _QUERIES["hours_of_run"], edition, run, prefetch=_HOURS_AT_ONCE
    ):
        if hour != (workspace_id, start):
            for row in _rows_of_hour(rows, hour, minutes):
                yield row
            hour = workspace_id, start
            minutes.clear()
        for width, within, at in parts_in(parts):
            if width == MINUTE:
                minutes[start + within].add(parts, at)
    for row in (*_rows_of_hour(rows, hour, minutes), *rows.end()):
        yield row


class _Minute:
    __slots__ = ("_calls", "_latencies", "_max_ms")

    def __init__(self) -> None:
        self._calls, self._latencies, self._max_ms = Counter[int](), Counter[int](), 0

    def add(self, key: int, latencies: Sequence[int | None]) -> None:
        """One call for each latency."""
        self._calls[key] += len(latencies)
        known = [latency_ms for latency_ms in latencies if latency_ms is not None]
        self._latencies.update(map(bucket_of, known))
        self._max_ms = max(self._max_ms, *known) if known else self._max_ms

    def cell(self) -> bytes:
        longest = max(self._latencies, default=-1)
        return packed(self._calls, [self._latencies[bucket] for bucket in range(longest + 1)], self._max_ms)


def _hour_of(minute: tuple[str, int]) -> tuple[str, int]:
    return minute[0], minute[1] - minute[1] % HOUR


def _rows_of_hour(rows: RowsOfHours, hour: tuple[str, int], minutes: Mapping[int, Sum]) -> Iterator[FigureRow]:
    if minutes:
        yield from rows.add(*hour, {start: each.take_cell() for start, each in minutes.items()})


async def _count_tile(
    connection: Connection, edition: int, tile: int, calls: CallsByMinute, numbers: dict[Key, int]
) -> None:
    """Of level 0. Keeps the numbers of keys that it learns."""
    async with connection.transaction():
        unknown = {key for of_minute in calls.values() for key in of_minute} - numbers.keys()
        numbers |= await numbers_of(connection, unknown, adds=True)
        await _add(connection, (edition, 0, tile), _each(rows_of_calls(calls, numbers)))


async def _count_run(connection: Connection, edition: int, run: int) -> None:
    """Of level 1."""
    async with connection.transaction():
        await _add(connection, (edition, 1, run), rows_of_run(connection, edition, run))


async def _each(rows: Iterable[FigureRow]) -> AsyncIterator[FigureRow]:
    for row in rows:
        yield row


async def _add(connection: Connection, place: tuple[int, int, int], rows: AsyncIterator[FigureRow]) -> None:
    """A tile with its rows, a part of them at a time."""
    await connection.execute(_ADD_TILE, *place)
    batch = list[FigureRow]()
    async for row in rows:
        batch.append(row)
        if len(batch) == _ROWS_AT_ONCE:
            await _add_rows(connection, place, batch)
            batch.clear()
    await _add_rows(connection, place, batch)


async def _add_rows(connection: Connection, place: tuple[int, int, int], rows: Sequence[FigureRow]) -> None:
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        await connection.execute(_QUERIES["add_rows"], *place, *columns)
