"""Makes the document of figures from the rows that the store counted."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

import msgspec

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.figures import (
    LATENCY_ERROR,
    AgentCounts,
    CallCounts,
    CodeCalls,
    FigureBucket,
    Figures,
    LeftOut,
    ReasonCalls,
    SkillCounts,
    Window,
    WindowFigures,
)
from aop.contracts.lineage import EventType
from aop.ledger.figures.latency_buckets import latency_of
from aop.store.rows import Row

NAMED_IN_TOTAL: Final = 200
NAMED_IN_BUCKET: Final = 10


class Counted(StrEnum):
    """What a row counts. The rank of an Agent or a Skill is its place among all of the window, by calls."""

    AGENT_NAME = "agent_name"
    SKILL_NAME = "skill_name"
    AGENT = "agent"
    SKILL = "skill"
    CODE = "code"
    LATENCY = "latency"
    FOUND = "found"


class FigureRow(Row, frozen=True):
    """`bucket` is None in a row of the total; `outcome` is None where calls are counted that were accepted."""

    kind: Counted
    bucket: int | None = None
    rank: int | None = None
    outcome: EventType | None = None
    error_code: ErrorCode | None = None
    reason: Reason | None = None
    calls: int | None = None
    agent_id: str | None = None
    capability: str | None = None
    latencies: list[int] | None = None
    latency_calls: list[int] | None = None


Outcomes = Counter[EventType | None]


class _Part:
    """The total, or one bucket, while it is counted."""

    def __init__(self) -> None:
        self.agents: dict[int, Outcomes] = defaultdict(Outcomes)
        self.skills: dict[int, Outcomes] = defaultdict(Outcomes)
        self.codes: dict[ErrorCode, Counter[Reason | None]] = defaultdict(Counter)
        self.latencies: Counter[int] = Counter()
        self.max_latency = 0

    def add(self, row: FigureRow) -> None:
        calls = row.calls or 0
        match row.kind:
            case Counted.AGENT:
                self.agents[row.rank or 0][row.outcome] += calls
            case Counted.SKILL:
                self.skills[row.rank or 0][row.outcome] += calls
            case Counted.CODE if row.error_code is not None:
                self.codes[row.error_code][row.reason] += calls
            case _:
                raise ValueError(f"no part of a window: {row.kind}")

    def took(self, latencies: Mapping[int, int], max_latency: int) -> None:
        self.latencies.update(latencies)
        self.max_latency = max(self.max_latency, max_latency)


class Tally:
    """All rows of one read, in any order."""

    def __init__(self, rows: Iterable[FigureRow]) -> None:
        self._agents: dict[int, str] = {}
        self._skills: dict[int, tuple[str, str]] = {}
        self._left_out = LeftOut(agents=0, skills=0)
        self._total, self._buckets = _Part(), defaultdict[int, _Part](_Part)
        for row in rows:
            self._take(row)

    def _take(self, row: FigureRow) -> None:
        match row:
            case FigureRow(kind=Counted.AGENT_NAME, rank=int(rank), agent_id=str(agent)):
                self._agents[rank] = agent
            case FigureRow(kind=Counted.SKILL_NAME, rank=int(rank), agent_id=str(agent), capability=str(capability)):
                self._skills[rank] = agent, capability
            case FigureRow(kind=Counted.FOUND, rank=int(agents), calls=int(skills)):
                self._left_out = LeftOut(agents=max(0, agents - NAMED_IN_TOTAL), skills=max(0, skills - NAMED_IN_TOTAL))
            case FigureRow(kind=Counted.LATENCY, bucket=int(bucket), latencies=list(keys), latency_calls=list(calls)):
                latencies, max_latency = dict(zip(keys, calls, strict=True)), row.calls or 0
                self._buckets[bucket].took(latencies, max_latency)
                self._total.took(latencies, max_latency)
            case FigureRow(bucket=None):
                self._total.add(row)
            case FigureRow(bucket=int(bucket)):
                self._buckets[bucket].add(row)

    def figures(self, workspace_id: str, window: Window) -> Figures:
        empty = self._members(_Part(), NAMED_IN_BUCKET)
        return Figures(
            workspace_id=workspace_id,
            since=window.start(0),
            until=window.query["until"],
            step=window.step,
            latency_error=LATENCY_ERROR,
            left_out=self._left_out,
            total=self._members(self._total, NAMED_IN_TOTAL),
            buckets=tuple(
                FigureBucket(
                    start=window.start(number),
                    **msgspec.structs.asdict(
                        self._members(self._buckets[number], NAMED_IN_BUCKET) if number in self._buckets else empty
                    ),
                )
                for number in range(window.buckets)
            ),
        )

    def _members(self, part: _Part, named: int) -> WindowFigures:
        agents, skills = sorted(part.agents.items()), sorted(part.skills.items())
        return WindowFigures(
            counts=_counts(*part.agents.values()),
            latency=latency_of(part.latencies, part.max_latency) if part.latencies else msgspec.UNSET,
            agents=tuple(
                AgentCounts(agent_id=self._agents[rank], counts=_counts(outcomes))
                for rank, outcomes in agents
                if rank <= named
            ),
            other_agents=_others(part.agents, named),
            skills=tuple(
                SkillCounts(agent_id=self._skills[rank][0], capability=self._skills[rank][1], counts=_counts(outcomes))
                for rank, outcomes in skills
                if rank <= named
            ),
            other_skills=_others(part.skills, named),
            errors=tuple(_code(code, reasons) for code, reasons in sorted(part.codes.items(), key=_by_calls)),
        )


def _counts(*all_outcomes: Outcomes) -> CallCounts:
    summed = sum(all_outcomes, Outcomes())
    calls = summed[None]
    return CallCounts(
        calls=calls,
        running=2 * calls - summed.total(),
        succeeded=summed[EventType.SUCCEEDED],
        failed=summed[EventType.FAILED],
        canceled=summed[EventType.CANCELED],
        timed_out=summed[EventType.TIMED_OUT],
    )


def _others(ranked: Mapping[int, Outcomes], named: int) -> CallCounts | msgspec.UnsetType:
    others = [outcomes for rank, outcomes in ranked.items() if rank > named]
    return _counts(*others) if others else msgspec.UNSET


def _code(code: ErrorCode, reasons: Counter[Reason | None]) -> CodeCalls:
    said = sorted((-calls, reason) for reason, calls in reasons.items() if reason is not None)
    return CodeCalls(
        code=code,
        calls=reasons.total(),
        reasons=tuple(ReasonCalls(reason=reason, calls=-calls) for calls, reason in said),
    )


def _by_calls(item: tuple[ErrorCode, Counter[Reason | None]]) -> tuple[int, ErrorCode]:
    return -item[1].total(), item[0]
