"""Makes the document of figures from the sums of a window."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

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
from aop.ledger.figures.tally import Key, Latencies, Tally

NAMED_IN_TOTAL: Final = 200
NAMED_IN_BUCKET: Final = 10
# The places in a list of counts: accepted calls, then ended ones.
_PLACES: Final = {
    None: 0,
    EventType.SUCCEEDED: 1,
    EventType.FAILED: 2,
    EventType.CANCELED: 3,
    EventType.TIMED_OUT: 4,
}

N = TypeVar("N", str, tuple[str, str])
Codes = Mapping[ErrorCode, Counter[Reason | None]]


def figures_of(tally: Tally, workspace_id: str, window: Window) -> Figures:
    whole, latencies = Counter[Key](), Latencies()
    for calls in tally.calls.values():
        for key, number in calls.items():
            whole[key] += number
    for each in tally.latencies.values():
        latencies.merge(each)
    agents = _ranked(whole, lambda key: key.agent_id)
    skills = _ranked(whole, lambda key: (key.agent_id, key.capability))
    total, part = _Entries(whole, agents, skills, NAMED_IN_TOTAL), _Entries(whole, agents, skills, NAMED_IN_BUCKET)
    return Figures(
        workspace_id=workspace_id,
        since=window.start(0),
        until=window.query["until"],
        step=window.step,
        latency_error=LATENCY_ERROR,
        left_out=LeftOut(
            agents=max(0, len(agents) - NAMED_IN_TOTAL),
            skills=max(0, len(skills) - NAMED_IN_TOTAL),
        ),
        total=total.figures(whole, latencies),
        buckets=tuple(
            FigureBucket(
                start=window.start(number),
                **msgspec.structs.asdict(part.figures(tally.calls.get(number, {}), tally.latencies.get(number))),
            )
            for number in range(window.buckets)
        ),
    )


def _ranked(calls: Mapping[Key, int], name: Callable[[Key], N]) -> Sequence[N]:
    """The most calls first, then by name."""
    sums = Counter[N]()
    for key, number in calls.items():
        sums[name(key)] += number if key.outcome is None else 0
    return sorted(sums, key=lambda each: (-sums[each], each))


class _Entries:
    """Which Agents and Skills have entries of their own, and the place of each key among them."""

    def __init__(
        self, keys: Mapping[Key, int], agents: Sequence[str], skills: Sequence[tuple[str, str]], limit: int
    ) -> None:
        self._agents, self._skills = agents[:limit], skills[:limit]
        agent_places = {agent: place for place, agent in enumerate(self._agents)}
        skill_places = {skill: place for place, skill in enumerate(self._skills)}
        self._places = {
            key: (
                agent_places.get(key.agent_id, limit),
                skill_places.get((key.agent_id, key.capability), limit),
                _PLACES[key.outcome],
            )
            for key in keys
        }

    def figures(self, calls: Mapping[Key, int], latencies: Latencies | None) -> WindowFigures:
        whole, codes = _zeros(), defaultdict[ErrorCode, Counter[Reason | None]](Counter)
        agents, skills = defaultdict[int, list[int]](_zeros), defaultdict[int, list[int]](_zeros)
        for key, number in calls.items():
            agent, skill, place = self._places[key]
            whole[place] += number
            agents[agent][place] += number
            skills[skill][place] += number
            if key.error_code is not None:
                codes[key.error_code][key.reason] += number
        named_agents = [
            AgentCounts(agent_id=name, counts=_counts(agents.pop(place)))
            for place, name in enumerate(self._agents)
            if place in agents
        ]
        named_skills = [
            SkillCounts(agent_id=name[0], capability=name[1], counts=_counts(skills.pop(place)))
            for place, name in enumerate(self._skills)
            if place in skills
        ]
        return WindowFigures(
            counts=_counts(whole),
            latency=msgspec.UNSET if latencies is None or latencies.is_empty else latency_of(latencies),
            agents=tuple(named_agents),
            other_agents=_others(agents),
            skills=tuple(named_skills),
            other_skills=_others(skills),
            errors=_errors(codes),
        )


def _zeros() -> list[int]:
    return [0] * len(_PLACES)


def _counts(numbers: Sequence[int]) -> CallCounts:
    calls, succeeded, failed, canceled, timed_out = numbers
    return CallCounts(
        calls=calls,
        running=calls - succeeded - failed - canceled - timed_out,
        succeeded=succeeded,
        failed=failed,
        canceled=canceled,
        timed_out=timed_out,
    )


def _others(left: Mapping[int, Sequence[int]]) -> CallCounts | msgspec.UnsetType:
    """What has no entry of its own is all at one place."""
    return next(map(_counts, left.values()), msgspec.UNSET)


def _errors(codes: Codes) -> tuple[CodeCalls, ...]:
    ordered = sorted(codes.items(), key=lambda item: (-item[1].total(), item[0]))
    return tuple(
        CodeCalls(
            code=code,
            calls=reasons.total(),
            reasons=tuple(
                ReasonCalls(reason=reason, calls=-less)
                for less, reason in sorted((-number, one) for one, number in reasons.items() if one is not None)
            ),
        )
        for code, reasons in ordered
    )
