"""The tree grows behind the numbers: whoever holds the lock of the sequencer adds tiles and heads."""

from collections.abc import Sequence
from typing import Final

from aop.ledger.tree import store
from aop.ledger.tree.hashing import Peaks, perfect_root
from aop.ledger.tree.nodes import peaks_over
from aop.ledger.tree.store import TILE, HeadRow, LeafCache, TileRow, TreeBroken
from aop.store.database import Connection

MAX_LEAVES: Final = 8_192
"""How many are added in one transaction, if the batches of numbers allow it."""


class TreeGrowth:
    """Knows the leaves behind the last complete tile, and the perfect trees over the tiles before them."""

    def __init__(self, connection: Connection, size: int, leaves: Sequence[bytes], peaks: Peaks) -> None:
        self._connection = connection
        self.size = size
        self._leaves = list(leaves)
        self._peaks = peaks
        self._cache = LeafCache()

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

    async def grow(self, past: int) -> bool:
        """Adds leaves up to this number, or as many as one transaction should have. True when none is left."""
        if past == self.size:
            return True
        target = past
        if past - self.size > MAX_LEAVES:
            target = await store.batch_end(self._connection, self.size, MAX_LEAVES)
        self._leaves += await store.leaf_hashes(self._connection, self.size, target, self._cache)
        tiles = self._complete()
        head = HeadRow(target, self._peaks.root(self._leaves))
        async with self._connection.transaction():
            await store.add_tree(self._connection, tiles, head)
        self.size = target
        return target == past

    def _complete(self) -> Sequence[TileRow]:
        """Takes the complete tiles away from the leaves, and returns them with those of higher levels they complete."""
        rows = list[TileRow]()
        start = 0
        while start + TILE <= len(self._leaves):
            hashes = self._leaves[start : start + TILE]
            root = perfect_root(hashes)
            rows.append(TileRow(0, self._peaks.tiles, root, b"".join(hashes)))
            rows += [TileRow(*completed, None) for completed in self._peaks.add(root)]
            start += TILE
        del self._leaves[:start]
        return rows
