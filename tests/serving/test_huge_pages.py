"""Huge pages for the memory of a unit: what is asked for, and that nothing else changes."""

import subprocess
import sys

import pytest

from aop.serving.unit.huge_pages import _own_memory

pytestmark = pytest.mark.second_ring

_MAPS = """\
55d0c0000000-55d0c0400000 r-xp 00000000 08:01 131 /usr/bin/python3.11
55d0c1000000-55d0c1600000 rw-p 00000000 00:00 0 [heap]
7f0000100000-7f0000500000 rw-p 00000000 00:00 0
7f0000600000-7f0000700000 rw-p 00000000 00:00 0
7f0001000000-7f0001400000 rw-p 00000000 08:01 77 /usr/lib/x86_64-linux-gnu/libssl.so.3
7f0002000000-7f0002400000 rw-s 00000000 00:05 12 /dev/zero (deleted)
7ffc10000000-7ffc10400000 rw-p 00000000 00:00 0 [stack]
"""
_WORKS_ON = """
from aop.serving.unit.huge_pages import use_huge_pages
kept = [bytes([number % 251]) * 4096 for number in range(4096)]
use_huge_pages()
use_huge_pages()
assert all(one == bytes([number % 251]) * 4096 for number, one in enumerate(kept))
print("as before")
"""


def test_only_whole_huge_pages_of_the_processes_own_memory_are_asked_for() -> None:
    megabyte = 1 << 20
    assert [(first, (past - first) // megabyte) for first, past in _own_memory(_MAPS)] == [
        (0x55D0C1000000, 6),
        (0x7F0000200000, 2),
    ]


def test_a_process_has_the_same_memory_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", _WORKS_ON], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("as before\n", "")
