"""What every area of the proof is made of: what it is given, and what it found."""

import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from aop.local.state import DatabaseUrls
from tests.support.postgres import PostgresForTests
from tests.support.waiting import generous

HOURS = 2.0


@dataclass(frozen=True)
class Run:
    """One run of one area. The folder is its own, and is kept when something did not hold."""

    full: bool
    seed: int
    folder: Path
    postgres: PostgresForTests
    say: Callable[[str], None]
    hours: float = HOURS
    """How long the soak lasts."""

    @property
    def random(self) -> random.Random:
        """A new one at each use, so that parts that run side by side do not disturb each other's numbers."""
        return random.Random(self.seed)

    def pick(self, quick: int, full: int) -> int:
        return full if self.full else quick

    @asynccontextmanager
    async def stores(self) -> AsyncIterator[tuple[DatabaseUrls, str]]:
        """A database of its own, as the logins of the units and as its superuser see it; dropped when all went well."""
        urls = await self.postgres.new_platform()
        database = urls.migration.partition("?")[0].rpartition("/")[2]
        yield urls, self.postgres.url(database)
        await self.postgres.drop(database)


def give_way() -> None:
    """In a process that only computes: areas that run beside it and measure time go first."""
    os.nice(10)


_CLOCK_UNITS = frozenset({"s", "ms"})


@dataclass(frozen=True)
class Figure:
    """A number for the reader of the report, with the bound it has to keep, when there is one."""

    name: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    def __str__(self) -> str:
        bounds = {"at most": self.at_most, "at least": self.at_least}
        allowed = " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)
        return f"{self.name} is {self.value:.3g} {self.unit}, allowed is {allowed}"

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

    def require(self, holds: bool, otherwise: str) -> None:
        if not holds:
            self.broken.append(otherwise)

    def on_busy_machine(self) -> "Findings":
        return replace(self, figures=[figure.on_busy_machine() for figure in self.figures])

    @property
    def problems(self) -> list[str]:
        missed = [f"the fault never happened: {name}" for name, count in self.hits.items() if not count]
        return [*self.broken, *missed, *(f"out of bounds: {each}" for each in self.figures if not each.held)]


Function = TypeVar("Function", bound=Callable[..., object])


def proves(*promises: str) -> Callable[[Function], Function]:
    """Marks a function that fails the run when one of these promises is broken."""

    def marked(function: Function) -> Function:
        function.__dict__["promises"] = promises
        return function

    return marked


@dataclass(frozen=True)
class Area:
    """`proofs` are the functions that prove its promises, in the order in which the report prints them.

    One that is to be `alone` has bounds, mostly of time, that work beside it would spoil.
    """

    name: str
    title: str
    run: Callable[[Run], Awaitable[Findings]]
    proofs: Sequence[Callable[..., object]]
    alone: bool = False

    @property
    def claims(self) -> dict[str, Callable[..., object]]:
        """Each promise, and what proves it."""
        return {promise: proof for proof in self.proofs for promise in proof.__dict__["promises"]}
