"""Checks the file of an exported month: by itself, and against the tree, whose hashes stay when a month is detached."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aop.contracts.ledger_export import ExportLast
from aop.ledger.archive.file import FileWrong, MonthFile
from aop.ledger.months import Month
from aop.ledger.tree.hashing import leaf_hash, perfect_root, split
from aop.ledger.tree.store import TILE
from aop.store.database import Connection

_AT_ONCE: Final = 16_384
_HASHES: Final = "SELECT tile, root, hashes FROM ledger.tree_tile WHERE level = 0 AND tile = ANY($1::bigint[])"
# In one statement, because the tree grows meanwhile. A month is detached once all its events are in complete tiles.
_IS_LOST: Final = """
SELECT NOT EXISTS (SELECT FROM ledger.tree_tile WHERE level = 0 AND tile = $1)
   AND (EXISTS (SELECT FROM ledger.detached_month WHERE month = $2)
        OR coalesce($1 < (SELECT max(size) / $3 FROM ledger.tree_head), false))
"""
_COUNTED: Final = """
SELECT count(*) FILTER (WHERE sequence = 0), coalesce(sum(events), 0)::bigint FROM ledger.number
 WHERE root_task_id >= $1 AND root_task_id < $2
"""


@dataclass(frozen=True)
class VerifiedExport:
    month: Month
    last: ExportLast
    in_tree: int
    """Events that were compared with the tree. Those behind its last complete tile are not in it yet."""
    last_number: int | None


def verified_alone(path: Path) -> VerifiedExport:
    """Without a store: lines, counts and digest."""
    file = MonthFile(path)
    number: int | None = None
    for event in file.events():
        number = event.number
    return VerifiedExport(file.month, file.last, 0, number)


async def verified(connection: Connection, path: Path) -> VerifiedExport:
    """Also that each event is in the tree under its number, and that the file has all events of its month."""
    file, in_tree, waiting, missing = MonthFile(path), 0, dict[int, bytes](), list[int]()
    number: int | None = None
    for event in file.events():
        number = event.number
        waiting[event.number] = leaf_hash(bytes(event.leaf))
        if len(waiting) >= _AT_ONCE:
            in_tree += await _compared(connection, waiting, missing)
            waiting = {}
    in_tree += await _compared(connection, waiting, missing)
    if missing and await connection.fetchval(_IS_LOST, min(missing), file.month.first_day, TILE):
        raise FileWrong(f"tile {min(missing)} of the tree is missing")
    counts = await connection.fetchrow(_COUNTED, file.month.first_root, file.month.past_root)
    if tuple(counts) != (file.last.invocations, file.last.events):
        raise FileWrong(f"the Ledger has {counts[0]} Invocations with {counts[1]} events in {file.month}")
    return VerifiedExport(file.month, file.last, in_tree, number)


async def _compared(connection: Connection, leaves: Mapping[int, bytes], missing: list[int]) -> int:
    """How many of them lie in complete tiles; each tile is the root's that the levels above it stand on. `missing` gets
    the tiles that are not there."""
    in_tree, hashes = 0, dict[int, Sequence[bytes]]()
    for tile, root, stored in await connection.fetch(_HASHES, sorted({number // TILE for number in leaves})):
        hashes[tile] = split(stored)
        if perfect_root(hashes[tile]) != root:
            raise FileWrong(f"tile {tile} of the tree is broken")
    missing += {number // TILE for number in leaves} - hashes.keys()
    for number, leaf in leaves.items():
        if number // TILE in hashes:
            in_tree += 1
            if hashes[number // TILE][number % TILE] != leaf:
                raise FileWrong(f"event {number} is not the one in the tree")
    return in_tree
