"""Runs one reader on many inputs near valid ones: only documented refusals, agreement with its oracle, bounded time."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol


class Reader(Protocol):
    """`attempt` gives True for an accepted input and False for a refused one; anything it raises is a find."""

    name: str

    def invent(self) -> Any: ...

    def attempt(self, given: Any) -> bool: ...


Make = Callable[[random.Random], Reader]


class Disagreement(AssertionError):
    """The reader and its oracle do not say the same."""


@dataclass
class Fuzzed:
    name: str
    executions: int = 0
    accepted: int = 0
    slowest_seconds: float = 0.0
    seconds: float = 0.0
    finds: list[str] = field(default_factory=list)


def require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Disagreement(otherwise)


def fuzz(make: Make, seed: int, count: int, most_seconds: float) -> Fuzzed:
    """Stops after that many inputs, that much time, or ten finds."""
    reader = make(random.Random(seed))
    done, began = Fuzzed(reader.name), time.thread_time()
    while done.executions < count and len(done.finds) < 10:
        given = reader.invent()
        started = time.thread_time()
        try:
            done.accepted += reader.attempt(given)
        except Exception as problem:  # noqa: BLE001  whatever it is, it is what is looked for
            done.finds.append(f"{reader.name}, {given!r:.2000}: {type(problem).__name__} {problem}")
        now = time.thread_time()
        done.slowest_seconds = max(done.slowest_seconds, now - started)
        done.executions += 1
        if now - began > most_seconds:
            break
    done.seconds = time.thread_time() - began
    return done
