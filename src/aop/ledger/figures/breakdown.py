"""Counts of steps by outcome, Agent, Skill, code and reason.

All steps are counted at once, a column of numbers for each count: an answer may have hundreds of steps with dozens of
entries each.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final, NamedTuple, TypeVar

import msgspec

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.figures import AgentCounts, CallCounts, CodeCalls, ReasonCalls, SkillCounts
from aop.contracts.lineage import EventType
from aop.ledger.figures.tally import Key

_SUMS_AT_ONCE: Final = 3_000
# The places of counts: accepted calls, then ended ones.
_PLACES: Final = {
    None: 0,
    EventType.SUCCEEDED: 1,
    EventType.FAILED: 2,
    EventType.CANCELED: 3,
    EventType.TIMED_OUT: 4,
}

T = TypeVar("T")
N = TypeVar("N", str, tuple[str, str])
Column = Sequence[int]
"""A number for each step."""
Codes = Mapping[ErrorCode, Mapping[Reason | None, int]]
"""The place of each code and reason."""


class CallKind(NamedTuple):
    """What the calls of some keys have in common: places of Agent, Skill, outcome and error."""

    agent: int
    skill: int
    outcome: int
    error: int


class Yielder:
    def __init__(self) -> None:
        self._sums = 0

    async def after(self, sums: int) -> None:
        """Gives the loop of the unit its turn when enough was added since the last one."""
        self._sums += sums
        if self._sums >= _SUMS_AT_ONCE:
            self._sums = 0
            await asyncio.sleep(0)


class Breakdown:
    """Which Agents and Skills have entries of their own. `kinds` has the number of a kind for each key: there are at
    most some hundred kinds, however many keys."""

    def __init__(self, keys: Mapping[int, Key], agents: Sequence[str], skills: Sequence[tuple[str, str]]) -> None:
        self._agents, self._skills = agents, skills
        self._codes, self._errors = _error_places(keys.values())
        agent_places = {agent: place for place, agent in enumerate(agents)}
        skill_places = {skill: place for place, skill in enumerate(skills)}
        kinds = dict[CallKind, int]()
        self.kinds = {
            number: kinds.setdefault(
                CallKind(
                    agent_places.get(key.agent_id, len(agents)),
                    skill_places.get((key.agent_id, key.capability), len(skills)),
                    _PLACES[key.outcome],
                    0 if key.error_code is None else self._codes[key.error_code][key.reason],
                ),
                len(kinds),
            )
            for number, key in keys.items()
        }
        self._kinds = list(kinds)

    @property
    def sums(self) -> int:
        """How many kinds there are."""
        return len(self._kinds)

    async def columns(self, steps: Sequence[Sequence[int]], yielder: Yielder) -> dict[str, Sequence[object]]:
        """The members of WindowFigures that count, each with a value for each step, from its sums by kinds."""
        table = _Table(self._kinds, list(zip(*steps, strict=True)), len(steps), yielder)
        agents, other_agents = await table.named(
            self._agents, itemgetter(0), lambda agent, counts: AgentCounts(agent_id=agent, counts=counts)
        )
        skills, other_skills = await table.named(
            self._skills,
            itemgetter(1),
            lambda skill, counts: SkillCounts(agent_id=skill[0], capability=skill[1], counts=counts),
        )
        errors = [table.sums(kind.error == place for kind in self._kinds) for place in range(self._errors)]
        return {
            "counts": table.call_counts(True for _ in self._kinds),
            "agents": agents,
            "other_agents": other_agents,
            "skills": skills,
            "other_skills": other_skills,
            "errors": [_code_calls(self._codes, sums) for sums in zip(*errors, strict=True)],
        }


@dataclass(frozen=True)
class _Table:
    """A column of sums for each kind."""

    kinds: Sequence[CallKind]
    columns: Sequence[Column]
    steps: int
    yielder: Yielder

    async def named(
        self, names: Sequence[N], place_of: Callable[[CallKind], int], entry: Callable[[N, CallCounts], T]
    ) -> tuple[Sequence[tuple[T, ...]], Sequence[CallCounts | msgspec.UnsetType]]:
        """For each step the entries of all names that have calls in it, and the counts of all others."""
        entries = list[list[T | None]]()
        for place, name in enumerate(names):
            counts = self.call_counts(place_of(kind) == place for kind in self.kinds)
            entries.append([entry(name, each) if each.calls else None for each in counts])
            await self.yielder.after(self.steps)
        others = self.call_counts(place_of(kind) == len(names) for kind in self.kinds)
        rows = zip(*entries, strict=True) if entries else [()] * self.steps
        named = [tuple([each for each in row if each is not None]) for row in rows]
        return named, [each if each.calls else msgspec.UNSET for each in others]

    def call_counts(self, is_counted: Iterable[bool]) -> Sequence[CallCounts]:
        """Every call that ended was accepted in the same step, so that one without calls has no outcomes either."""
        parts: list[list[Column]] = [[] for _ in _PLACES]
        for kind, column, counts in zip(self.kinds, self.columns, is_counted, strict=True):
            if counts:
                parts[kind.outcome].append(column)
        calls, *ended = columns = [self._sum(part) for part in parts]
        running = [one - two - three - four - five for one, two, three, four, five in zip(*columns, strict=True)]
        return list(map(CallCounts, calls, running, *ended))

    def sums(self, is_counted: Iterable[bool]) -> Column:
        return self._sum([column for column, counts in zip(self.columns, is_counted, strict=True) if counts])

    def _sum(self, columns: Sequence[Column]) -> Column:
        if len(columns) == 1:
            return columns[0]
        return list(map(sum, zip(*columns, strict=True))) if columns else [0] * self.steps


def _error_places(keys: Iterable[Key]) -> tuple[Codes, int]:
    """How many places there are, too. The first is of calls without a code."""
    codes, number = defaultdict[ErrorCode, dict[Reason | None, int]](dict), 1
    for key in keys:
        if key.error_code is not None and key.reason not in codes[key.error_code]:
            codes[key.error_code][key.reason] = number
            number += 1
    return codes, number


def _code_calls(codes: Codes, sums: Sequence[int]) -> tuple[CodeCalls, ...]:
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
