"""A cell: how many calls of a Workspace were accepted and ended in some seconds, by key and by latency, as bytes.

After a head come the numbers of the keys, the calls of each, and the calls of each bucket of latencies from the first
to the last that has any. All are whole numbers of 32 bits, so that two cells are added as two long numbers are.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

# How many keys and buckets of latencies there are, the first of these buckets, and the longest latency.
_HEAD: Final = struct.Struct("<IHHQ")
_NUMBER_BYTES: Final = 4
_NUMBER_BITS: Final = 8 * _NUMBER_BYTES


def packed(calls: Mapping[int, int], latencies: Sequence[int], max_ms: int) -> bytes:
    """Latencies of all buckets up to the last that has calls, the one of number 0 first."""
    keys = sorted(calls)
    first = next((bucket for bucket, number in enumerate(latencies) if number), 0)
    numbers = (*keys, *(calls[key] for key in keys), *latencies[first:])
    head = _HEAD.pack(len(keys), len(latencies) - first, first, max_ms)
    return head + struct.pack(f"<{len(numbers)}I", *numbers)


class Sum:
    """Cells added up. Those with the same keys, as most neighbours have, are one long number.

    After at most 50,000 its numbers must be taken: a cell has at most as many calls as a tile of level 1 has numbers,
    which is 2 to the power of 16.
    """

    __slots__ = ("_calls", "_latencies", "max_ms")

    def __init__(self) -> None:
        self._calls: dict[bytes, int] = {}
        self._latencies = 0
        self.max_ms = 0

    def add(self, data: bytes, at: int = 0) -> None:
        keys, buckets, first, max_ms = _HEAD.unpack_from(data, at)
        begin = at + _HEAD.size
        middle = begin + keys * _NUMBER_BYTES
        end = middle + keys * _NUMBER_BYTES
        names = data[begin:middle]
        self._calls[names] = self._calls.get(names, 0) + int.from_bytes(data[middle:end], "little")
        if buckets:
            latencies = int.from_bytes(data[end : end + buckets * _NUMBER_BYTES], "little")
            self._latencies += latencies << (first * _NUMBER_BITS)
            self.max_ms = max(self.max_ms, max_ms)

    def take_calls(self) -> Iterable[tuple[int, int]]:
        """Pairs of a key and its calls; a key may be in several. The sum has none afterwards."""
        taken, self._calls = self._calls, {}
        return chain.from_iterable(
            zip(_numbers(keys), _numbers(calls.to_bytes(len(keys), "little")), strict=True)
            for keys, calls in taken.items()
        )

    def take_latencies(self) -> Sequence[int]:
        """Calls of each bucket, from number 0 to the last that has any. The sum has none afterwards."""
        taken, self._latencies = self._latencies, 0
        return _numbers(taken.to_bytes(-(-taken.bit_length() // _NUMBER_BITS) * _NUMBER_BYTES, "little"))

    def take_cell(self) -> bytes:
        calls = dict[int, int]()
        for key, number in self.take_calls():
            calls[key] = calls.get(key, 0) + number
        return packed(calls, self.take_latencies(), self.max_ms)


def _numbers(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // _NUMBER_BYTES}I", data)
