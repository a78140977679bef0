"""Nodes of the tree by height and place, read from the tiles on the way and nothing else."""

from collections.abc import Iterable, Sequence

from aop.ledger.tree import store
from aop.ledger.tree.hashing import TILE_HEIGHT, Node, Peaks, perfect, pyramid
from aop.ledger.tree.store import TILE, TreeBroken
from aop.store.database import Connection


class Nodes:
    """The perfect subtrees of a tree of one size. `read` brings what some nodes need, at most one read of each kind."""

    def __init__(self, connection: Connection, size: int) -> None:
        self._connection = connection
        self._size = size
        self._runs: dict[Node, Sequence[Sequence[bytes]]] = {}

    async def read(self, nodes: Iterable[Node]) -> None:
        wanted = {_run(node) for node in nodes} - self._runs.keys()
        tiles = sorted(first // TILE for level, first in wanted if level == 0)
        runs = sorted((level - 1, first) for level, first in wanted if level > 0)
        if tiles:
            hashes = await store.tile_hashes(self._connection, tiles)
            for tile in tiles:
                leaves = hashes.get(tile) or await self._unfinished(tile)
                self._runs[0, tile * TILE] = pyramid(leaves)
        if runs:
            roots = await store.tile_roots(self._connection, runs)
            for level, first in runs:
                self._runs[level + 1, first] = pyramid(roots.get((level, first), ()))

    def forget(self) -> None:
        """Lets go of what was read so far."""
        self._runs.clear()

    def hash(self, node: Node) -> bytes:
        height, place = node
        run = self._runs[_run(node)]
        within, place = height % TILE_HEIGHT, place % (TILE >> height % TILE_HEIGHT)
        try:
            return run[within][place]
        except IndexError:
            raise TreeBroken("a tile is missing") from None

    async def _unfinished(self, tile: int) -> Sequence[bytes]:
        """Of the last tile of the tree, which is not stored before it is complete."""
        first = tile * TILE
        return await store.leaf_hashes(self._connection, first, min(first + TILE, self._size))


def _run(node: Node) -> Node:
    """What is read together: 256 hashes of one level of tiles, named by the level and its first."""
    height, place = node
    level, within = divmod(height, TILE_HEIGHT)
    return level, (place << within) // TILE * TILE


async def peaks_over(connection: Connection, tiles: int) -> Peaks:
    """The perfect trees over the first tiles, from the store."""
    nodes, wanted = Nodes(connection, tiles * TILE), perfect(0, tiles * TILE)
    await nodes.read(wanted)
    return Peaks(tiles, [(height - TILE_HEIGHT, nodes.hash((height, place))) for height, place in wanted])
