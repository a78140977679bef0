"""Sums of a window while it is read: calls by key and bucket, and latencies as one long number for each bucket."""

import struct
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import EventType
from aop.store.rows import Row

# An array of integers as the server sends it: a head of five numbers, then for each element its length and itself.
_HEAD_BYTES: Final = 20
_PLACE_BITS: Final = 64


class Key(NamedTuple):
    """What calls are counted by. One without an outcome counts acceptances."""

    agent_id: str
    capability: str
    outcome: EventType | None
    error_code: ErrorCode | None
    reason: Reason | None


class KeyRow(Row, frozen=True):
    number: int
    agent_id: str
    capability: str
    outcome: EventType | None
    error_code: ErrorCode | None
    reason: Reason | None


class LateRow(Row, frozen=True):
    """Calls that no tile counts."""

    bucket: int
    agent_id: str
    capability: str
    outcome: EventType | None
    error_code: ErrorCode | None
    reason: Reason | None
    latency: int | None
    max_latency_ms: int | None
    calls: int


class Latencies:
    """How many calls took as long as each bucket of latencies says, and the longest.

    All counts are places of one long number, so that a sum of many is one addition. A place has 64 bits: a count in the
    lower half, and in the upper one the lengths of elements, which nobody needs.
    """

    def __init__(self) -> None:
        self.packed = 0
        self.max_ms = 0

    @property
    def is_empty(self) -> bool:
        return not self.packed

    def add(self, first: int, sent: bytes, max_ms: int) -> None:
        """An array of counts as the server sends it, the count of bucket `first` at its end."""
        self.packed += int.from_bytes(sent[_HEAD_BYTES:], "big") << (first * _PLACE_BITS)
        self.max_ms = max(self.max_ms, max_ms)

    def add_calls(self, latency: int, calls: int, max_ms: int) -> None:
        self.packed += calls << (latency * _PLACE_BITS)
        self.max_ms = max(self.max_ms, max_ms)

    def merge(self, other: "Latencies") -> None:
        self.packed += other.packed
        self.max_ms = max(self.max_ms, other.max_ms)

    def counts(self) -> Sequence[int]:
        """Calls of each bucket, from the first to the last that has any."""
        number = -(-self.packed.bit_length() // _PLACE_BITS)
        halves = struct.unpack(f"<{2 * number}I", self.packed.to_bytes(number * _PLACE_BITS // 8, "little"))
        return halves[::2]


class Tally:
    """`calls` has the calls of each bucket by the number of their key, `latencies` what took how long."""

    def __init__(self) -> None:
        self.calls: dict[int, dict[int, int]] = defaultdict(dict)
        self.latencies: dict[int, Latencies] = defaultdict(Latencies)
        self.keys: dict[int, Key] = {}
        self._numbers: dict[Key, int] = {}

    def add_cell(
        self,
        bucket: int,
        keys: Sequence[int],
        calls: Sequence[int],
        first_latency: int | None,
        latencies: bytes,
        max_latency_ms: int,
    ) -> None:
        sums = self.calls[bucket]
        before = sums.get
        for key, number in zip(keys, calls, strict=True):
            sums[key] = before(key, 0) + number
        if first_latency is not None:
            self.latencies[bucket].add(first_latency, latencies, max_latency_ms)

    def key_numbers(self) -> Sequence[int]:
        """Of all keys in the cells."""
        return list(set[int]().union(*self.calls.values()))

    def name(self, rows: Iterable[KeyRow]) -> None:
        """Once, after the last cell."""
        for row in rows:
            key = Key(row.agent_id, row.capability, row.outcome, row.error_code, row.reason)
            self.keys[row.number], self._numbers[key] = key, row.number

    def add_late(self, row: LateRow) -> None:
        """After the keys have names. One that no cell has gets a number below zero."""
        key = Key(row.agent_id, row.capability, row.outcome, row.error_code, row.reason)
        number = self._numbers.setdefault(key, -1 - len(self._numbers))
        self.keys[number] = key
        sums = self.calls[row.bucket]
        sums[number] = sums.get(number, 0) + row.calls
        if row.latency is not None:
            self.latencies[row.bucket].add_calls(row.latency, row.calls, row.max_latency_ms or 0)
