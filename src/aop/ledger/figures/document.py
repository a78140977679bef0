"""Makes the document of figures from the sums of a window."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
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
_SUMS_AT_ONCE: Final = 2_000
"""The loop of the unit has its turn after so many: there may be hundreds of buckets with thousands of keys each."""
# The places in a list of counts: accepted calls, then ended ones.
_PLACES: Final = {
    None: 0,
    EventType.SUCCEEDED: 1,
    EventType.FAILED: 2,
    EventType.CANCELED: 3,
    EventType.TIMED_OUT: 4,
}
_NUMBERS: Final = len(_PLACES)

N = TypeVar("N", str, tuple[str, str])
Codes = Mapping[ErrorCode, Mapping[Reason | None, int]]
"""Where the calls of each code and reason are added."""


async def figures_of(tally: Tally, workspace_id: str, window: Window) -> Figures:
    whole, latencies, turns = dict.fromkeys(tally.keys, 0), Latencies(), _Turns()
    for calls in tally.calls.values():
        for key, number in calls.items():
            whole[key] += number
        await turns.after(len(calls))
    for each in tally.latencies.values():
        latencies.merge(each)
    accepted = [(key, whole[number] if key.outcome is None else 0) for number, key in tally.keys.items()]
    agents = _ranked((key.agent_id, number) for key, number in accepted)
    skills = _ranked(((key.agent_id, key.capability), number) for key, number in accepted)
    total, part = (_Entries(tally.keys, agents[:most], skills[:most]) for most in (NAMED_IN_TOTAL, NAMED_IN_BUCKET))
    buckets = list[FigureBucket]()
    for number in range(window.buckets):
        calls = tally.calls.get(number, {})
        figures = part.figures(calls, tally.latencies.get(number))
        buckets.append(FigureBucket(start=window.start(number), **msgspec.structs.asdict(figures)))
        await turns.after(len(calls))
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
        buckets=tuple(buckets),
    )


class _Turns:
    def __init__(self) -> None:
        self._sums = 0

    async def after(self, sums: int) -> None:
        """Gives the loop its turn when enough was added since the last one."""
        self._sums += sums
        if self._sums >= _SUMS_AT_ONCE:
            self._sums = 0
            await asyncio.sleep(0)


def _ranked(accepted: Iterable[tuple[N, int]]) -> Sequence[N]:
    """The most calls first, then by name."""
    sums = Counter[N]()
    for name, number in accepted:
        sums[name] += number
    return sorted(sums, key=lambda each: (-sums[each], each))


class _Entries:
    """Which Agents and Skills have entries of their own, and where calls of a key are added.

    Sums are one list of numbers, a few behind each other for each entry and as many at the end for the rest. An answer
    may have hundreds of buckets with dozens of keys each.
    """

    def __init__(self, keys: Mapping[int, Key], agents: Sequence[str], skills: Sequence[tuple[str, str]]) -> None:
        self._agents, self._skills = agents, skills
        self._codes, self._errors = _error_places(keys.values())
        agent_places = {agent: place for place, agent in enumerate(agents)}
        skill_places = {skill: place for place, skill in enumerate(skills)}
        self._places = {
            number: (
                agent_places.get(key.agent_id, len(agents)) * _NUMBERS + _PLACES[key.outcome],
                skill_places.get((key.agent_id, key.capability), len(skills)) * _NUMBERS + _PLACES[key.outcome],
                0 if key.error_code is None else self._codes[key.error_code][key.reason],
            )
            for number, key in keys.items()
        }

    def figures(self, calls: Mapping[int, int], latencies: Latencies | None) -> WindowFigures:
        agents, skills = [0] * _NUMBERS * (len(self._agents) + 1), [0] * _NUMBERS * (len(self._skills) + 1)
        errors = [0] * self._errors
        for key, number in calls.items():
            agent, skill, error = self._places[key]
            agents[agent] += number
            skills[skill] += number
            errors[error] += number
        named_agents, other_agents = _cut(self._agents, agents)
        named_skills, other_skills = _cut(self._skills, skills)
        return WindowFigures(
            counts=_counts([sum(agents[place::_NUMBERS]) for place in range(_NUMBERS)]),
            latency=msgspec.UNSET if latencies is None or latencies.is_empty else latency_of(latencies),
            agents=tuple([AgentCounts(agent_id=name, counts=counts) for name, counts in named_agents]),
            other_agents=other_agents,
            skills=tuple([SkillCounts(agent_id=one[0], capability=one[1], counts=each) for one, each in named_skills]),
            other_skills=other_skills,
            errors=_errors(self._codes, errors),
        )


def _cut(
    names: Sequence[N], sums: Sequence[int]
) -> tuple[Sequence[tuple[N, CallCounts]], CallCounts | msgspec.UnsetType]:
    """The counts of each name that has any, and those of all others."""
    parts = [sums[place : place + _NUMBERS] for place in range(0, len(sums), _NUMBERS)]
    named = [(name, _counts(part)) for name, part in zip(names, parts, strict=False) if any(part)]
    return named, _counts(parts[-1]) if any(parts[-1]) else msgspec.UNSET


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


def _error_places(keys: Iterable[Key]) -> tuple[Codes, int]:
    """How many places there are, too. The first is of calls without a code."""
    codes, number = defaultdict[ErrorCode, dict[Reason | None, int]](dict), 1
    for key in keys:
        if key.error_code is not None and key.reason not in codes[key.error_code]:
            codes[key.error_code][key.reason] = number
            number += 1
    return codes, number


def _errors(codes: Codes, sums: Sequence[int]) -> tuple[CodeCalls, ...]:
    found = [(-sum([sums[place] for place in reasons.values()]), code, reasons) for code, reasons in codes.items()]
    return tuple(
        [
            CodeCalls(code=code, calls=-less, reasons=_reasons(reasons, sums))
            for less, code, reasons in sorted(found, key=itemgetter(0, 1))
            if less
        ]
    )


def _reasons(places: Mapping[Reason | None, int], sums: Sequence[int]) -> tuple[ReasonCalls, ...]:
    found = sorted([(-sums[place], reason) for reason, place in places.items() if reason is not None and sums[place]])
    return tuple([ReasonCalls(reason=reason, calls=-less) for less, reason in found])
