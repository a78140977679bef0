"""Proofs of the tree (RFC 6962, sections 2.1.1 and 2.1.2): that a leaf is in it, and that a tree only grew."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Final

from aop.ledger.tree.hashing import EMPTY_ROOT, joined, node_hash, perfect
from aop.ledger.tree.nodes import Nodes

LEAVES_AT_ONCE: Final = 16
"""The tiles of so many take some milliseconds to hash, and less than a megabyte."""

Range = tuple[int, int]
"""Leaves from a number to before another one; it begins where a perfect subtree of its size can begin."""


async def root(nodes: Nodes, size: int) -> bytes:
    return EMPTY_ROOT if size == 0 else (await _hashes(nodes, [(0, size)]))[0]


async def inclusion(nodes: Nodes, numbers: Sequence[int], size: int) -> Sequence[Sequence[bytes]]:
    """For each leaf, the hashes beside its way to the root, from below.

    Some leaves at a time: each may need a tile of its own, and the loop has its turn before all of them are hashed.
    """
    found = list[Sequence[bytes]]()
    for first in range(0, len(numbers), LEAVES_AT_ONCE):
        paths = [list(_beside(number, 0, size)) for number in numbers[first : first + LEAVES_AT_ONCE]]
        hashes = iter(await _hashes(nodes, [part for path in paths for part in path]))
        found += [[next(hashes) for _ in path] for path in paths]
        nodes.forget()
        await asyncio.sleep(0)
    return found


async def consistency(nodes: Nodes, old: int, new: int) -> Sequence[bytes]:
    """That the first leaves of the new tree are all leaves of the old one. Nothing is needed if one is empty or both
    are equal."""
    return await _hashes(nodes, [] if old in (0, new) else list(_between(old, 0, new, whole=True)))


def root_from(number: int, size: int, node: bytes, path: Sequence[bytes]) -> bytes | None:
    """The root that a leaf and its path lead to; None if the path does not fit the place."""
    neighbours = list(_beside(number, 0, size))
    if len(neighbours) != len(path):
        return None
    for (start, _), beside in zip(neighbours, path, strict=True):
        node = node_hash(beside, node) if start < number else node_hash(node, beside)
    return node


def _beside(number: int, start: int, past: int) -> Iterator[Range]:
    if past - start == 1:
        return
    middle = start + _left(past - start)
    if number < middle:
        yield from _beside(number, start, middle)
        yield middle, past
    else:
        yield from _beside(number, middle, past)
        yield start, middle


def _between(old: int, start: int, past: int, *, whole: bool) -> Iterator[Range]:
    """`whole`: the old tree, whose root the reader has, is exactly this range."""
    if old == past:
        if not whole:
            yield start, past
        return
    middle = start + _left(past - start)
    if old <= middle:
        yield from _between(old, start, middle, whole=whole)
        yield middle, past
    else:
        yield from _between(old, middle, past, whole=False)
        yield start, middle


def _left(count: int) -> int:
    """The largest power of two below the count."""
    return 1 << (count - 1).bit_length() - 1


async def _hashes(nodes: Nodes, parts: Sequence[Range]) -> Sequence[bytes]:
    split = [perfect(*part) for part in parts]
    await nodes.read([node for each in split for node in each])
    return [joined(map(nodes.hash, each)) for each in split]
