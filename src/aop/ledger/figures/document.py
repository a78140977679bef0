"""Makes the document of figures from the sums of a window."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec

from aop.contracts.figures import LATENCY_ERROR, FigureBucket, Figures, Latency, LeftOut, Window, WindowFigures
from aop.ledger.figures.breakdown import Breakdown, Yielder
from aop.ledger.figures.latency_buckets import latency_of
from aop.ledger.figures.tally import Key, StepSums

NAMED_IN_TOTAL: Final = 200
NAMED_IN_BUCKET: Final = 10
_AS_LONG_AS: Final = 50
"""So many sums take as long as one step of the document, or its percentiles."""

N = TypeVar("N", str, tuple[str, str])


class FiguresDocument:
    """Of a Workspace and a window whose keys and calls in total are known. The loop of the unit runs in between."""

    def __init__(
        self, workspace_id: str, window: Window, keys: Mapping[int, Key], total: StepSums[dict[int, int]]
    ) -> None:
        self._workspace_id, self._window, self._total = workspace_id, window, total
        accepted = [(key, total.calls[number] if key.outcome is None else 0) for number, key in keys.items()]
        self._agents = _ranked((key.agent_id, calls) for key, calls in accepted)
        self._skills = _ranked(((key.agent_id, key.capability), calls) for key, calls in accepted)
        self._in_total = self._breakdown(keys, NAMED_IN_TOTAL)
        self.in_bucket = self._breakdown(keys, NAMED_IN_BUCKET)
        """By which numbers the calls of each key are counted in a step."""

    async def of(self, steps: Sequence[StepSums[list[int]]]) -> Figures:
        window, yielder, whole = self._window, Yielder(), [0] * self._in_total.sums
        for number, kind in self._in_total.kinds.items():
            whole[kind] += self._total.calls[number]
        (total,) = await _members(self._in_total, [whole], [self._total], yielder)
        buckets = list[FigureBucket]()
        for members in await _members(self.in_bucket, [step.calls for step in steps], steps, yielder):
            buckets.append(FigureBucket(start=window.start(len(buckets)), **members))
            await yielder.after(_AS_LONG_AS)
        return Figures(
            workspace_id=self._workspace_id,
            since=window.start(0),
            until=window.query["until"],
            step=window.step,
            latency_error=LATENCY_ERROR,
            left_out=LeftOut(
                agents=max(0, len(self._agents) - NAMED_IN_TOTAL),
                skills=max(0, len(self._skills) - NAMED_IN_TOTAL),
            ),
            total=WindowFigures(**total),
            buckets=tuple(buckets),
        )

    def _breakdown(self, keys: Mapping[int, Key], named: int) -> Breakdown:
        return Breakdown(keys, self._agents[:named], self._skills[:named])


async def _members(
    breakdown: Breakdown, sums: Sequence[Sequence[int]], steps: Sequence[StepSums[Any]], yielder: Yielder
) -> Sequence[dict[str, Any]]:
    """Of the figures of each step."""
    columns, latencies = await breakdown.columns(sums, yielder), list[Latency | msgspec.UnsetType]()
    for step in steps:
        latencies.append(latency_of(step.latencies, step.max_ms) if any(step.latencies) else msgspec.UNSET)
        await yielder.after(_AS_LONG_AS)
    columns["latency"] = latencies
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _ranked(accepted: Iterable[tuple[N, int]]) -> Sequence[N]:
    """The most calls first, then by name."""
    sums = Counter[N]()
    for name, number in accepted:
        sums[name] += number
    return sorted(sums, key=lambda each: (-sums[each], each))
