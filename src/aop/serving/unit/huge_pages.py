"""Asks the kernel to put the memory of a unit on huge pages, once it is built.

A call that comes alone finds cold caches, and much of what it waits for is where its pages are: a unit touches some
thousand of them. On pages of 2 MiB that takes a few entries of the processor's tables in place of as many. Where the
kernel cannot do this, nothing changes.
"""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_COLLAPSE: Final = 25
"""MADV_COLLAPSE of Linux 6.1 and later, which does it at once."""
_PAGE: Final = 2 << 20


def use_huge_pages() -> None:
    if sys.platform != "linux":
        return
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    with suppress(OSError):  # no /proc
        for first, past in _own_memory(Path("/proc/self/maps").read_text()):
            madvise(first, past - first, _COLLAPSE)  # if it is refused, the memory stays as it is


def _own_memory(maps: str) -> Iterator[tuple[int, int]]:
    """Whole huge pages of memory that belongs to no file and to no stack."""
    for line in maps.splitlines():
        addresses, rights, _, _, inode, *name = line.split(maxsplit=5)
        if rights != "rw-p" or inode != "0" or (name and name[0] != "[heap]"):
            continue
        start, end = (int(address, 16) for address in addresses.split("-"))
        first, past = -(-start // _PAGE) * _PAGE, end // _PAGE * _PAGE
        if first < past:
            yield first, past
