"""What every area of the proof is made of: what it is given, and what it found."""

import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.measure import Plot
from tests.support.postgres import PostgresForTests
from tests.support.waiting import generous


@dataclass(frozen=True)
class Run:
    """One run of one area. The folder is its own, and is kept when something did not hold."""

    full: bool
    seed: int
    folder: Path
    postgres: PostgresForTests
    say: Callable[[str], None]

    @property
    def random(self) -> random.Random:
        """A new one at each look, so that parts that run side by side do not disturb each other's numbers."""
        return random.Random(self.seed)

    def pick(self, quick: int, full: int) -> int:
        return full if self.full else quick


def give_way() -> None:
    """In a process that only computes: areas that run beside it and look at the clock go first."""
    os.nice(10)


_CLOCK_UNITS = frozenset({"s", "ms"})


@dataclass(frozen=True)
class Figure:
    """A number a reader of the report wants, with the bound it has to keep, when there is one."""

    name: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    def __str__(self) -> str:
        bounds = {"at most": self.at_most, "at least": self.at_least}
        told = " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)
        return f"{self.name} is {self.value:.3g} {self.unit}, allowed is {told}"

    @property
    def held(self) -> bool:
        over = self.at_most is not None and self.value > self.at_most
        return not over and (self.at_least is None or self.value >= self.at_least)

    def on_busy_machine(self) -> "Figure":
        """With a bound of time by the clock that other work beside it does not break; other bounds stay."""
        if self.at_most is None or self.unit not in _CLOCK_UNITS:
            return self
        return replace(self, at_most=generous(self.at_most))


@dataclass
class Findings:
    """`hits` says how often each fault met the stage it was meant for: one that never did proves nothing."""

    hits: Counter[str] = field(default_factory=Counter)
    figures: list[Figure] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)

    def require(self, holds: bool, otherwise: str) -> None:
        if not holds:
            self.broken.append(otherwise)

    def on_busy_machine(self) -> "Findings":
        return replace(self, figures=[figure.on_busy_machine() for figure in self.figures])

    @property
    def problems(self) -> list[str]:
        missed = [f"the fault never happened: {name}" for name, count in self.hits.items() if not count]
        return [*self.broken, *missed, *(f"out of bounds: {each}" for each in self.figures if not each.held)]


@dataclass(frozen=True)
class Area:
    """`claims` are the sentences the report prints above the figures.

    One that is to be `alone` has bounds, mostly of time, that work beside it would spoil.
    """

    name: str
    title: str
    claims: tuple[str, ...]
    run: Callable[[Run], Awaitable[Findings]]
    alone: bool = False
