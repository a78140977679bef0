"""Reads the tree again: its leaves from the rows of the Ledger, every tile and every head over them."""

from collections.abc import AsyncGenerator, Sequence

from aop.ledger.tree import store
from aop.ledger.tree.hashing import Peaks, perfect_root
from aop.ledger.tree.nodes import peaks_over
from aop.ledger.tree.store import TILE, TreeBroken
from aop.store.database import Connection

Problem = tuple[str, str]
"""What it is about, and what is wrong."""


async def tree_problems(connection: Connection, first: int, last: int) -> AsyncGenerator[Problem, None]:
    """Of the tiles and heads over a range of numbers. What is not in the tree yet is no problem."""
    newest = await store.newest_head(connection)
    if newest is None or newest.size <= first - first % TILE:
        return
    start, past = first // TILE, min(newest.size, (last // TILE + 1) * TILE)
    try:
        peaks = await peaks_over(connection, start)
        for tile in range(start, -(-past // TILE)):
            begin = tile * TILE
            leaves = await store.leaf_hashes(connection, begin, min(begin + TILE, newest.size))
            async for problem in _heads(connection, peaks, begin, leaves):
                yield problem
            if len(leaves) == TILE:
                async for problem in _tile(connection, peaks, leaves):
                    yield problem
    except TreeBroken as broken:
        yield "the tree", str(broken)


async def _heads(
    connection: Connection, peaks: Peaks, begin: int, leaves: Sequence[bytes]
) -> AsyncGenerator[Problem, None]:
    for head in await store.heads_between(connection, begin, begin + len(leaves)):
        if peaks.root(leaves[: head.size - begin]) != head.root:
            yield f"head {head.size}", "is not the root over the events before it"


async def _tile(connection: Connection, peaks: Peaks, leaves: Sequence[bytes]) -> AsyncGenerator[Problem, None]:
    tile, root = peaks.tiles, perfect_root(leaves)
    expected = [(0, tile, root, b"".join(leaves)), *((*completed, None) for completed in peaks.add(root))]
    for level, place, right, hashes in expected:
        row = await store.tile_of(connection, level, place)
        if row is None or row.root != right or row.hashes != hashes:
            yield f"tile {place} of level {level} of the tree", "is not over its events"
