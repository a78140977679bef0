"""The tree of RFC 6962 as its definitions read, for small trees: what the product is compared with."""

from collections.abc import Sequence
from hashlib import sha256


def _power_below(count: int) -> int:
    power = 1
    while power * 2 < count:
        power *= 2
    return power


def tree_hash(leaves: Sequence[bytes]) -> bytes:
    """2.1, over the bytes of leaves."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    k = _power_below(len(leaves))
    return sha256(b"\x01" + tree_hash(leaves[:k]) + tree_hash(leaves[k:])).digest()


def path(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    """2.1.1."""
    if len(leaves) == 1:
        return []
    k = _power_below(len(leaves))
    if m < k:
        return [*path(m, leaves[:k]), tree_hash(leaves[k:])]
    return [*path(m - k, leaves[k:]), tree_hash(leaves[:k])]


def consistency(m: int, leaves: Sequence[bytes], *, whole: bool = True) -> list[bytes]:
    """2.1.2."""
    if m == len(leaves):
        return [] if whole else [tree_hash(leaves)]
    k = _power_below(len(leaves))
    if m <= k:
        return [*consistency(m, leaves[:k], whole=whole), tree_hash(leaves[k:])]
    return [*consistency(m - k, leaves[k:], whole=False), tree_hash(leaves[:k])]
