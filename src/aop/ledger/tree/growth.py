"""The tree grows behind the numbers: whoever holds the lock of the sequencer adds tiles and heads."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final
from uuid import UUID

from aop.ledger.tree import store
from aop.ledger.tree.hashing import Peaks, node_hash, perfect_root
from aop.ledger.tree.leaf import EVENT_COLUMNS, InvocationLeaves
from aop.ledger.tree.nodes import peaks_over
from aop.ledger.tree.store import TILE, HeadRow, LeafCache, TileRow, TreeBroken
from aop.store.database import Connection

MAX_LEAVES: Final = 8_192
"""How many are added in one transaction, if the batches of numbers allow it."""
_TYPE: Final = EVENT_COLUMNS.index("type")
# Leaves are made in the loop that calls run in. Those of half a second of lone calls take 2 ms, and a call waits for
# those of so many rows at most, about 0.2 ms.
_ROWS_AT_ONCE: Final = 16


class TreeGrowth:
    """Knows the leaves behind the last complete tile, and the perfect trees over the tiles before them."""

    def __init__(self, connection: Connection, size: int, leaves: Sequence[bytes], peaks: Peaks) -> None:
        self._connection = connection
        self.size = size
        self._leaves = list(leaves)
        self._peaks = peaks
        self._cache = LeafCache()
        self._ahead = list[bytes]()

    @classmethod
    async def resumed(cls, connection: Connection) -> "TreeGrowth":
        """From the store. Refuses to go on from leaves that are not those of the newest head."""
        head = await store.newest_head(connection)
        if head is None:
            return cls(connection, 0, (), Peaks())
        tiles = head.size // TILE
        leaves = await store.leaf_hashes(connection, tiles * TILE, head.size)
        peaks = await peaks_over(connection, tiles)
        if peaks.root(leaves) != head.root:
            raise TreeBroken("the newest head is not over these leaves")
        return cls(connection, head.size, leaves, peaks)

    async def learn(self, first: int, rows: Iterable[tuple[UUID, int, Sequence[Any]]]) -> None:
        """Rows that got numbers from `first` on, each with its Invocation, its sequence and the columns of its leaves.

        They were just read, and rows never change: they need not be read again, unless the tree has not grown up to
        them, or the Invocation of one is not known.
        """
        self._ahead.clear()
        if first != self.size:
            return
        for count, (invocation, sequence, columns) in enumerate(rows, 1):
            if count % _ROWS_AT_ONCE == 0:
                await asyncio.sleep(0)
            if sequence == 0:
                leaves = InvocationLeaves(columns)
                self._cache.add(invocation, leaves)
                self._ahead += leaves.hashes_of_opening()
                continue
            known = self._cache.get(invocation)
            if known is None:
                self._ahead.clear()
                return
            self._ahead.append(known.hash_of_event(columns))
            if columns[_TYPE] != "stream":
                self._cache.forget(invocation)

    async def grow(self, past: int) -> bool:
        """Adds leaves up to this number, or as many as one transaction should have. True when none is left."""
        if past == self.size:
            return True
        target = past
        if past - self.size > MAX_LEAVES:
            target = await store.batch_end(self._connection, self.size, MAX_LEAVES)
        if len(self._ahead) == target - self.size:
            self._leaves += self._ahead
        else:
            self._leaves += await store.leaf_hashes(self._connection, self.size, target, self._cache)
        self._ahead.clear()
        tiles = await self._complete()
        head = HeadRow(target, self._peaks.root(self._leaves))
        async with self._connection.transaction():
            await store.add_tree(self._connection, tiles, head)
        self.size = target
        return target == past

    async def _complete(self) -> Sequence[TileRow]:
        """Takes the complete tiles away from the leaves, and returns them with those of higher levels they complete."""
        rows = list[TileRow]()
        start = 0
        while start + TILE <= len(self._leaves):
            hashes = self._leaves[start : start + TILE]
            root = node_hash(await _root(hashes[: TILE // 2]), await _root(hashes[TILE // 2 :]))
            rows.append(TileRow(0, self._peaks.tiles, root, b"".join(hashes)))
            rows += [TileRow(*completed, None) for completed in self._peaks.add(root)]
            start += TILE
        del self._leaves[:start]
        return rows


async def _root(hashes: Sequence[bytes]) -> bytes:
    root = perfect_root(hashes)
    await asyncio.sleep(0)  # half a tile takes 0.1 ms, for which a call may wait
    return root
