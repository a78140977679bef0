"""The tree grows after the numbers: the Router that holds the lock of the sequencer adds tiles and heads."""

import asyncio
from collections.abc import Sequence
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


class TreeGrowth:
    """Knows the leaves behind the last complete tile, and the perfect trees over the tiles before them."""

    def __init__(self, connection: Connection, size: int, leaves: Sequence[bytes], peaks: Peaks) -> None:
        self._connection = connection
        self.size = size
        self._leaves = list(leaves)
        self._peaks = peaks
        self._cache = LeafCache()
        self._ahead = list[bytes]()
        self._learns = False

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

    def begin_learning(self, first: int) -> None:
        """Rows follow that got numbers from `first` on. They need not be read again, unless the tree has not grown up
        to them, or the Invocation of one is not known."""
        self._ahead.clear()
        self._learns = first == self.size

    def learn(self, invocation: UUID, sequence: int, columns: Sequence[Any]) -> None:
        """A row with the columns of its leaves."""
        if not self._learns:
            return
        if sequence == 0:
            leaves = InvocationLeaves(columns)
            self._cache.keep(invocation, leaves)
            self._ahead += leaves.hashes_of_opening()
            return
        known = self._cache.find(invocation)
        if known is None:
            self._ahead.clear()
            self._learns = False
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
