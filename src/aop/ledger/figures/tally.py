"""Sums of a window while it is read: calls of each step by number, and its latencies."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Final, Generic, NamedTuple, TypeVar

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import EventType
from aop.ledger.figures.cell import Sum
from aop.ledger.figures.hours import parts_in
from aop.ledger.figures.pieces import Plan
from aop.store.rows import Row

_SETTLED_BYTES: Final = 1 << 20
"""After so much of cells their sums are settled: fewer than 50,000, as a cell has 24 bytes or more."""


class Key(NamedTuple):
    """What calls are counted by. One without an outcome counts acceptances."""

    agent_id: str
    capability: str
    outcome: EventType | None
    error_code: ErrorCode | None
    reason: Reason | None


class KeyRow(Row, frozen=True):
    """A key and its number."""

    number: int
    agent_id: str
    capability: str
    outcome: EventType | None
    error_code: ErrorCode | None
    reason: Reason | None

    @property
    def key(self) -> Key:
        return Key(self.agent_id, self.capability, self.outcome, self.error_code, self.reason)


class LateRow(KeyRow, frozen=True):
    """Calls that no tile counts; its number is that of the step."""

    latency: int | None
    max_latency_ms: int | None
    calls: int


S = TypeVar("S", bound=dict[int, int] | list[int])


class StepSums(Generic[S]):
    """`calls` by number, and `latencies` of each bucket from number 0 on."""

    __slots__ = ("_sum", "add", "calls", "latencies", "max_ms")

    def __init__(self, calls: S) -> None:
        self.calls = calls
        self.latencies: list[int] = []
        self.max_ms = 0
        self._sum = Sum()
        self.add = self._sum.add

    def add_calls(self, number: int, row: LateRow) -> None:
        self.calls[number] += row.calls
        if row.latency is not None:
            self.latencies += [0] * (row.latency + 1 - len(self.latencies))
            self.latencies[row.latency] += row.calls
            self.max_ms = max(self.max_ms, row.max_latency_ms or 0)

    def settle(self, numbers: Mapping[int, int]) -> None:
        calls = self.calls
        for key, number in self._sum.take_calls():
            calls[numbers[key]] += number
        before, latencies = self.latencies, list(self._sum.take_latencies())
        self.latencies = list(map(sum, zip_longest(before, latencies, fillvalue=0))) if before else latencies
        self.max_ms = max(self.max_ms, self._sum.max_ms)


class Tally(Generic[S]):
    """Adds up the rows of a window. `numbers` says by which number the calls of a key are counted in a step."""

    def __init__(self, plan: Plan, steps: Sequence[StepSums[S]], numbers: Mapping[int, int]) -> None:
        self.steps = steps
        self._plan = plan
        self._numbers = numbers
        self._unsettled = set[StepSums[S]]()
        self._unsettled_bytes = 0

    def add_row(self, start: int, in_parts: bool, data: bytes) -> None:
        if in_parts:
            step_of = self._plan.parts.get
            for width, within, at in parts_in(data):
                number = step_of((width, start + within))
                if number is not None:
                    step = self.steps[number]
                    step.add(data, at)
                    self._unsettled.add(step)
        else:
            step = self.steps[self._plan.step_of(start)]
            step.add(data)
            self._unsettled.add(step)
        self._unsettled_bytes += len(data)
        if self._unsettled_bytes > _SETTLED_BYTES:
            self.settle()

    def settle(self) -> None:
        """After the last row too."""
        for step in self._unsettled:
            step.settle(self._numbers)
        self._unsettled.clear()
        self._unsettled_bytes = 0
