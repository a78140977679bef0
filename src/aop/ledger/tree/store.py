"""SQL of the tree: rows that leaves are made from, tiles and heads."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from aop.base.recent import RecentlyUsed
from aop.ledger.model import MAX_OPENING_EVENTS
from aop.ledger.months import detached_numbers
from aop.ledger.tree.hashing import HASH_BYTES, split
from aop.ledger.tree.leaf import EVENT_COLUMNS, OPENING_COLUMNS, InvocationLeaves
from aop.store.database import Connection
from aop.store.rows import Row, to_row_or_none, to_rows

TILE: Final = 256
"""How many leaves, or tiles below it, a tile stands for."""
_ALL: Final = 2**62
_OPENING = ", ".join(f"invocation.{name}" for name in OPENING_COLUMNS)
_EVENT = ", ".join(f"event.{name}" for name in EVENT_COLUMNS)
_OPENINGS = (
    f"SELECT number.number, number.workspace_id, number.events, {_OPENING} FROM ledger.number"  # noqa: S608
    " JOIN ledger.invocation USING (invocation_id, root_task_id)"
    " WHERE number.number >= $1 AND number.number < $2 AND number.sequence = 0"
)
_EVENTS = (
    "SELECT number.number, number.workspace_id, number.is_terminal, invocation_id, root_task_id,"  # noqa: S608
    f" {_EVENT} FROM ledger.number"
    " JOIN ledger.event USING (invocation_id, root_task_id, sequence)"
    " WHERE number.number >= $1 AND number.number < $2 AND number.sequence > 0"
)
_NAMED = (
    f"SELECT {_OPENING} FROM unnest($1::uuid[], $2::uuid[]) AS named (invocation_id, root_task_id)"  # noqa: S608
    " JOIN ledger.invocation USING (invocation_id, root_task_id)"
)
OF_INVOCATION: Final = (
    f"SELECT {_OPENING} FROM ledger.invocation WHERE invocation_id = $1"  # noqa: S608
    " AND ($2::text IS NULL OR workspace_id = $2) LIMIT $3"
)
"""The openings of one Invocation; the same parameters as those of a Trace."""
# The condition on the position is that of the index.
OF_TRACE: Final = (
    f"SELECT {_OPENING} FROM ledger.invocation"  # noqa: S608
    " WHERE trace_id = $1 AND workspace_id = $2 AND position > 0 LIMIT $3"
)
_NUMBERED_OPENINGS = (
    f"SELECT number.number, {_OPENING} FROM ledger.invocation"  # noqa: S608
    " JOIN ledger.number USING (invocation_id, root_task_id) WHERE number.sequence = 0 AND number.number >= $1"
)
_PAGE_OF_INVOCATION = f"{_NUMBERED_OPENINGS} AND invocation_id = $2 AND invocation.workspace_id = $3 LIMIT $4"
_PAGE_OF_TRACE = (
    f"{_NUMBERED_OPENINGS} AND invocation.trace_id = $2 AND invocation.workspace_id = $3 AND invocation.position > 0"
    " ORDER BY number.number LIMIT $4"
)
# Of openings those whose terminal is not under a head yet.
_UNPROVEN = (
    "SELECT EXISTS (SELECT FROM ({}) AS opened WHERE (SELECT true FROM ledger.number AS ended"
    " WHERE ended.invocation_id = opened.invocation_id AND ended.is_terminal AND ended.number < $4 LIMIT 1) IS NULL)"
)
_PART_OF_INVOCATION = (
    f"SELECT number.number, {_EVENT} FROM ledger.event"  # noqa: S608
    " JOIN ledger.number USING (invocation_id, root_task_id, sequence)"
    " WHERE event.invocation_id = $1 AND event.root_task_id = $2 AND event.sequence >= $3"
    " ORDER BY event.sequence LIMIT $4"
)
_OF_INVOCATIONS = (
    f"SELECT event.invocation_id, {_EVENT} FROM ledger.event"  # noqa: S608
    " WHERE invocation_id = ANY($1) AND root_task_id = ANY($2) ORDER BY invocation_id, sequence LIMIT $3"
)
_ROOTS = (
    "SELECT run.level, run.first, string_agg(tree_tile.root, ''::bytea ORDER BY tree_tile.tile)"
    " FROM unnest($1::smallint[], $2::bigint[]) AS run (level, first)"
    " JOIN ledger.tree_tile ON tree_tile.level = run.level AND tree_tile.tile >= run.first"
    " AND tree_tile.tile < run.first + 256 GROUP BY run.level, run.first"
)
_TILES = (
    "SELECT level, tile, root, hashes FROM unnest($1::smallint[], $2::bigint[]) AS wanted (level, tile)"
    " JOIN ledger.tree_tile USING (level, tile)"
)
_HEAD = "SELECT size, root FROM ledger.tree_head"
# The head behind the range too: the one before that may be in it.
_LOST_HEADS = (
    "SELECT one.size, one.before FROM ledger.tree_head AS one WHERE one.size > $1 AND one.size <= coalesce("
    "(SELECT min(size) FROM ledger.tree_head WHERE size > $2), $2) AND one.before > 0"
    " AND (SELECT true FROM ledger.tree_head AS last WHERE last.size = one.before) IS NULL ORDER BY one.size"
)


class TreeBroken(Exception):
    """The rows and the tree do not agree, or rows are missing: history was changed."""


class HeadRow(Row, frozen=True):
    """The root over all leaves before `size`."""

    size: int
    root: bytes


class TileRow(Row, frozen=True):
    level: int
    tile: int
    root: bytes
    hashes: bytes | None


class LeafCache(RecentlyUsed[UUID, InvocationLeaves]):
    """What Invocations that have not ended share in their leaves: the sequencer reads their openings once.

    Those of the rows at hand are the ones used last, and do not give way to each other within the limit: a row whose
    Invocation is not here has no leaf.
    """

    def __init__(self, max_items: int = 20_000) -> None:
        super().__init__(max_items=max_items)


@dataclass(frozen=True)
class NumberedRows:
    """Rows of a range of numbers, in any order."""

    openings: Sequence[tuple[int, str, int, InvocationLeaves]]
    """Number, Workspace and events as the sequence has them, and the Invocation."""
    events: Sequence[tuple[int, str, bool, InvocationLeaves, Sequence[Any]]]
    """Number, Workspace and whether it is a terminal, its Invocation, and its columns."""

    def hashes(self) -> dict[int, bytes]:
        """Of all leaves, by number."""
        found = dict[int, bytes]()
        for number, _, _, of_invocation in self.openings:
            for leaf in of_invocation.hashes_of_opening():
                found[number] = leaf
                number += 1  # noqa: PLW2901  an opening stands for up to three numbers
        for number, _, _, of_invocation, columns in self.events:
            found[number] = of_invocation.hash_of_event(columns)
        return found

    def names(self) -> dict[int, str]:
        """The Invocations, by number of their events."""
        found = {number: f"inv_{each.columns[0].hex}" for number, _, _, each, _ in self.events}
        for first, _, events, each in self.openings:
            found |= dict.fromkeys(range(first, first + events), f"inv_{each.columns[0].hex}")
        return found


async def leaf_hashes(connection: Connection, first: int, past: int, cache: LeafCache | None = None) -> Sequence[bytes]:
    """Of all leaves in a range of numbers, made from their rows; of rows that were detached, as the tree has them."""
    return await hashes_of(connection, await rows_between(connection, first, past, cache), first, past)


async def hashes_of(connection: Connection, rows: NumberedRows, first: int, past: int) -> Sequence[bytes]:
    hashes = rows.hashes()
    if any(number not in hashes for number in range(first, past)):
        missing = set(await detached_numbers(connection, first - MAX_OPENING_EVENTS, past)) - hashes.keys()
        tiles = await tile_hashes(connection, {number // TILE for number in missing})
        hashes |= {number: tiles[number // TILE][number % TILE] for number in missing if number // TILE in tiles}
    try:
        return [hashes[number] for number in range(first, past)]
    except KeyError:
        raise TreeBroken("a number has no row") from None


async def rows_between(connection: Connection, first: int, past: int, cache: LeafCache | None = None) -> NumberedRows:
    """A row with a number before the first may stand for events behind it."""
    cache = cache or LeafCache(past - first + TILE)
    openings = list[tuple[int, str, int, InvocationLeaves]]()
    for number, workspace_id, events, *columns in await connection.fetch(
        _OPENINGS, max(0, first - MAX_OPENING_EVENTS + 1), past
    ):
        of_invocation = InvocationLeaves(columns)
        cache.keep(columns[0], of_invocation)
        openings.append((number, workspace_id, events, of_invocation))
    rows = await connection.fetch(_EVENTS, first, past)
    missing = {row[3]: row[4] for row in rows if cache.find(row[3]) is None}
    for columns in await connection.fetch(_NAMED, list(missing), list(missing.values())) if missing else ():
        cache.keep(columns[0], InvocationLeaves(columns))
    later = list[tuple[int, str, bool, InvocationLeaves, Sequence[Any]]]()
    for number, workspace_id, is_terminal, invocation, _, *columns in rows:
        known = cache.find(invocation)
        if known is not None:  # or else its number has no leaf
            later.append((number, workspace_id, is_terminal, known, columns))
    # Only now: rows come in any order, and a terminal may come before what happened earlier.
    for _, _, is_terminal, of_invocation, _ in later:
        if is_terminal:
            cache.forget(of_invocation.columns[0])
    return NumberedRows(openings, later)


async def events_of(
    connection: Connection, invocations: Sequence[UUID], root_tasks: Sequence[UUID], limit: int
) -> Sequence[Sequence[Any]]:
    """With the Invocation before the columns of each event."""
    return [tuple(row) for row in await connection.fetch(_OF_INVOCATIONS, invocations, root_tasks, limit)]


async def openings_from(
    connection: Connection, of: str, name: str, workspace_id: str, number: int, limit: int
) -> Sequence[tuple[int, Sequence[Any]]]:
    """Of OF_INVOCATION or OF_TRACE those that were numbered from there on, each with its number, by this number."""
    page = _PAGE_OF_TRACE if of == OF_TRACE else _PAGE_OF_INVOCATION
    return [(first, columns) for first, *columns in await connection.fetch(page, number, name, workspace_id, limit)]


async def has_unproven(connection: Connection, of: str, name: str, workspace_id: str, size: int) -> bool:
    """Whether one of them runs, or has an event that a head of this size is not over."""
    found: bool = await connection.fetchval(_UNPROVEN.format(of), name, workspace_id, _ALL, size)
    return found


async def events_from(
    connection: Connection, opening: Sequence[Any], sequence: int, limit: int
) -> Sequence[tuple[int, Sequence[Any]]]:
    """Of one Invocation from a sequence on, each with its number."""
    rows = await connection.fetch(_PART_OF_INVOCATION, opening[0], opening[1], sequence, limit)
    return [(number, columns) for number, *columns in rows]


async def numbers_of(connection: Connection, invocations: Sequence[UUID]) -> Mapping[tuple[UUID, int], int]:
    """By Invocation and sequence of the row."""
    rows = await connection.fetch(
        "SELECT invocation_id, sequence, number FROM ledger.number WHERE invocation_id = ANY($1)", invocations
    )
    return {(row[0], row[1]): row[2] for row in rows}


async def newest_head(connection: Connection) -> HeadRow | None:
    return to_row_or_none(HeadRow, await connection.fetchrow(f"{_HEAD} ORDER BY size DESC LIMIT 1"))


async def head_of(connection: Connection, size: int) -> HeadRow | None:
    return to_row_or_none(HeadRow, await connection.fetchrow(f"{_HEAD} WHERE size = $1", size))


async def heads_between(connection: Connection, behind: int, last: int) -> Sequence[HeadRow]:
    return to_rows(
        HeadRow, await connection.fetch(f"{_HEAD} WHERE size > $1 AND size <= $2 ORDER BY size", behind, last)
    )


async def lost_heads(connection: Connection, behind: int, last: int) -> Sequence[tuple[int, int]]:
    """Heads that another one names as the one before it and that are not there: the size of that one, and theirs."""
    return [(row[0], row[1]) for row in await connection.fetch(_LOST_HEADS, behind, last)]


async def leaves_in_tiles(connection: Connection) -> int:
    """How many leaves the tiles of level 0 stand for."""
    tiles: int = await connection.fetchval("SELECT coalesce(max(tile) + 1, 0) FROM ledger.tree_tile WHERE level = 0")
    return tiles * TILE


async def tiles_of(connection: Connection, places: Iterable[tuple[int, int]]) -> Mapping[tuple[int, int], TileRow]:
    """By level and place."""
    wanted = list(places)
    rows = to_rows(TileRow, await connection.fetch(_TILES, [each[0] for each in wanted], [each[1] for each in wanted]))
    return {(row.level, row.tile): row for row in rows}


async def batch_end(connection: Connection, size: int, limit: int) -> int:
    """Where a batch of the sequencer ends behind this size: the last within the limit, or else the first."""
    past: int = await connection.fetchval(
        "SELECT coalesce((SELECT max(past) FROM ledger.numbering WHERE past > $1 AND past <= $1 + $2),"
        " (SELECT min(past) FROM ledger.numbering WHERE past > $1))",
        size,
        limit,
    )
    return past


async def tile_hashes(connection: Connection, tiles: Iterable[int]) -> Mapping[int, Sequence[bytes]]:
    """The hashes of leaves of these tiles of level 0, as far as they are complete."""
    rows = await connection.fetch(
        "SELECT tile, hashes FROM ledger.tree_tile WHERE level = 0 AND tile = ANY($1)", list(tiles)
    )
    return {tile: split(hashes) for tile, hashes in rows}


async def tile_roots(
    connection: Connection, runs: Sequence[tuple[int, int]]
) -> Mapping[tuple[int, int], Sequence[bytes]]:
    """The roots of the tiles of runs, each named by its level and its first tile; the last run may be shorter."""
    rows = await connection.fetch(_ROOTS, [level for level, _ in runs], [first for _, first in runs])
    return {(level, first): split(roots) for level, first, roots in rows}


async def add_tree(connection: Connection, tiles: Sequence[TileRow], head: HeadRow) -> None:
    """In the caller's transaction. Whatever does not follow what is there refuses all of it."""
    if tiles:
        columns: list[list[Any]] = [list(column) for column in zip(*map(_columns, tiles), strict=True)]
        await connection.execute(
            "INSERT INTO ledger.tree_tile (level, tile, root, hashes)"
            " SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bytea[], $4::bytea[])",
            *columns,
        )
    await connection.execute("INSERT INTO ledger.tree_head (size, root) VALUES ($1, $2)", head.size, head.root)


def _columns(tile: TileRow) -> tuple[int, int, bytes, bytes | None]:
    if tile.hashes is not None and len(tile.hashes) != TILE * HASH_BYTES:
        raise TreeBroken("a tile of level 0 has 256 hashes")
    return tile.level, tile.tile, tile.root, tile.hashes
