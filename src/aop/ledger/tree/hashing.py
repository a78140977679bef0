"""The hashes of the tree (RFC 6962, section 2.1), and the root of a tree that grows."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final

HASH_BYTES: Final = 32
TILE_HEIGHT: Final = 8
"""A tile stands for two to the power of so many leaves, or tiles below it."""
Node = tuple[int, int]
"""A perfect subtree: its height, and how many of this height stand before it."""
EMPTY_ROOT: Final = sha256(b"").digest()


def leaf_hash(leaf: bytes) -> bytes:
    return sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def perfect_root(hashes: Sequence[bytes]) -> bytes:
    """Over a power of two of neighbours."""
    while len(hashes) > 1:
        pairs = iter(hashes)
        hashes = [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]
    return hashes[0]


def pyramid(hashes: Sequence[bytes]) -> Sequence[Sequence[bytes]]:
    """All perfect subtrees over hashes that begin at a whole tile, by height, up to that of a tile."""
    levels = [hashes]
    for _ in range(TILE_HEIGHT):
        pairs = iter(hashes)
        hashes = [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=False)]
        levels.append(hashes)
    return levels


def perfect(start: int, past: int) -> Sequence[Node]:
    """The perfect subtrees of a range of leaves, the largest first."""
    found = list[Node]()
    for height in reversed(range((past - start).bit_length())):
        if (past - start) & 1 << height:
            found.append((height, start >> height))
            start += 1 << height
    return found


def subtrees(levels: Sequence[Sequence[bytes]], size: int) -> Sequence[bytes]:
    """The roots of the perfect subtrees over the first hashes of a pyramid, the largest first."""
    return [levels[height][place] for height, place in perfect(0, size)]


def joined(roots: Iterable[bytes]) -> bytes:
    """The root over perfect trees that stand beside each other, the largest first."""
    first, *others = reversed(list(roots))
    for root in others:
        first = node_hash(root, first)
    return first


def split(raw: bytes) -> Sequence[bytes]:
    return [raw[at : at + HASH_BYTES] for at in range(0, len(raw), HASH_BYTES)]


class Peaks:
    """The perfect trees over tiles that stand beside each other, the largest first: all that a growing tree needs."""

    def __init__(self, tiles: int = 0, peaks: Iterable[tuple[int, bytes]] = ()) -> None:
        """With the roots of the perfect trees over the first tiles, by how often they were doubled."""
        self.tiles = tiles
        self._peaks = list(peaks)

    def add(self, root: bytes) -> Sequence[tuple[int, int, bytes]]:
        """Joins a new tile with those before it. Returns what that completes: level, place and root of higher tiles."""
        completed = list[tuple[int, int, bytes]]()
        doubled = 0
        while self._peaks and self._peaks[-1][0] == doubled:
            root = node_hash(self._peaks.pop()[1], root)
            doubled += 1
            if doubled % TILE_HEIGHT == 0:
                completed.append((doubled // TILE_HEIGHT, self.tiles >> doubled, root))
        self._peaks.append((doubled, root))
        self.tiles += 1
        return completed

    def root(self, leaves: Sequence[bytes]) -> bytes:
        """Over the tiles, and the leaves behind them."""
        return self.root_behind(subtrees(pyramid(leaves), len(leaves)))

    def root_behind(self, behind: Sequence[bytes]) -> bytes:
        """Over the tiles, and the roots of the perfect trees behind them."""
        roots = [*(root for _, root in self._peaks), *behind]
        return joined(roots) if roots else EMPTY_ROOT
