"""The hashes of the tree (RFC 6962, section 2.1), and the root of a tree that grows."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final

HASH_BYTES: Final = 32
TILE_HEIGHT: Final = 8
"""A tile stands for two to the power of so many leaves, or tiles below it."""
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


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Over any number of neighbours."""
    if not hashes:
        return EMPTY_ROOT
    roots = list[bytes]()
    start = 0
    for bit in reversed(range(len(hashes).bit_length())):
        if len(hashes) & 1 << bit:
            roots.append(perfect_root(hashes[start : start + (1 << bit)]))
            start += 1 << bit
    return joined(roots)


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
        roots = [root for _, root in self._peaks]
        return joined([*roots, root_of(leaves)] if leaves or not roots else roots)
