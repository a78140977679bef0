"""What a seed means: who calls when, what Agents, store and callers do wrong, and how the Router's life ends."""

import random
from dataclasses import dataclass, replace
from enum import StrEnum

from proof.simulation.agent import Script
from proof.simulation.scripts import json_script, stream_script
from proof.simulation.store import FAULTED, StorePlan

FIRST_PAUSE = 0.3


class Ending(StrEnum):
    """How a life of the Router ends."""

    QUIET = "quiet"
    DRAIN = "drain"
    KILLED = "killed"
    FENCED = "fenced by a newer epoch"


class Kind(StrEnum):
    """The Card an Invocation runs against."""

    USUAL = "usual"
    HASTY = "short deadline"
    WHOLE = "no streams"
    FOREIGN = "foreign authentication"


_CARDS = (Kind.USUAL,) * 12 + (Kind.HASTY,) * 4 + (Kind.WHOLE, Kind.FOREIGN)


@dataclass(frozen=True)
class CallPlan:
    name: str
    at: float
    """In seconds of the Router's life, for a child of its parent's work."""
    stream: bool
    card: Kind
    script: Script
    leaves_after: float | None
    stalls: float
    resolve_seconds: float
    """How long the Control Plane takes to say which Card; 0 when the Router knows it already."""
    parent: str | None = None


@dataclass(frozen=True)
class Plan:
    seed: int
    calls: tuple[CallPlan, ...]
    store: StorePlan
    ending: Ending
    ends_at: float
    grace: float
    clock_back_at: float | None
    suspended_at: float | None

    @property
    def roots(self) -> tuple[CallPlan, ...]:
        return tuple(call for call in self.calls if call.parent is None)


def plan_of(seed: int) -> Plan:
    source = random.Random(seed)
    store = _store(source)
    calls: list[CallPlan] = []
    # A stall shows what it does only to calls that go on coming.
    for number in range(source.choice((5, 9) if store.stalled_until else (1, 1, 1, 2, 3))):
        name = f"call-{number}"
        child = f"{name}-child" if source.random() < 0.2 else None
        root = _call(source, name, child, None)
        calls.append(replace(root, at=source.random() * (store.stalled_until + 1)) if store.stalled_until else root)
        if child is not None:
            calls.append(_call(source, child, None, name))
    ending = source.choice((Ending.QUIET, Ending.QUIET, *Ending))
    return Plan(
        seed,
        tuple(calls),
        store,
        ending,
        source.choice((0.02, 0.3, 1.5)) * source.random(),
        source.choice((0.0, 0.2, 5.0)),
        source.random() if source.random() < 0.1 else None,
        0.3 * source.random() if source.random() < 0.05 else None,
    )


def _call(source: random.Random, name: str, child: str | None, parent: str | None) -> CallPlan:
    stream = source.random() < 0.5
    card = source.choice(_CARDS) if parent is None else Kind.USUAL
    return CallPlan(
        name,
        source.choice((0.0, 0.0, FIRST_PAUSE)) * source.random(),
        stream,
        card,
        stream_script(source, child) if stream else json_script(source, child),
        source.choice((0.01, 0.3, 2.0)) * source.random() if source.random() < 0.3 else None,
        source.choice((0.5, 30.0)) if stream and source.random() < 0.2 else 0.0,
        source.choice((0.02, 3.0)) * source.random() if source.random() < 0.15 else 0.0,
        parent,
    )


def _store(source: random.Random) -> StorePlan:
    weather = source.random()
    if weather < 0.4:
        return StorePlan()
    if weather < 0.6:
        return StorePlan(fault_rate=0.3)
    if weather < 0.82:
        return StorePlan(fault_rate=0.7, only=source.choice(FAULTED[:3]))
    begins = source.choice((0.0, 0.5)) * source.random()
    if weather < 0.92:
        begins *= source.choice((1, 4))
        return StorePlan(stalled_from=begins, stalled_until=begins + source.choice((1.5, 4.0, 7.0)))
    return StorePlan(fault_rate=0.1, down_from=begins, down_until=begins + source.choice((0.2, 1.0, 6.0)))
