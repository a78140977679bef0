"""An event loop without a world, whose time jumps and whose order a seed chooses, and the history of what happened."""

import asyncio
import heapq
import random
from collections import Counter
from collections.abc import Coroutine, Generator
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

MAX_STEPS = 100_000
_SHUFFLED = 0.6
"""How many of the seeds choose freely among ready callbacks; the others keep the order of a real loop."""


class Happening(NamedTuple):
    time: float
    who: str
    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.time:9.4f}  {self.who:<14} {self.what} {self.detail}".rstrip()


@dataclass
class History:
    """Ids differ from run to run, so an Invocation is called by its name, or by when it was first seen."""

    loop: asyncio.AbstractEventLoop
    happened: list[Happening] = field(default_factory=list)
    hits: Counter[str] = field(default_factory=Counter)
    is_over: bool = False
    """Set when the process under test is dead: what its remains do is seen by nobody."""
    _names: dict[UUID, str] = field(default_factory=dict)

    def note(self, who: str, what: str, detail: str = "") -> None:
        if not self.is_over:
            self.happened.append(Happening(self.loop.time(), who, what, detail))

    def hit(self, name: str) -> None:
        if not self.is_over:
            self.hits[name] += 1

    def disturb(self, what: str) -> None:
        """Something was done to the Router."""
        self.note("router", what)
        self.hit(what)

    def name(self, invocation: UUID, name: str) -> None:
        self._names[invocation] = name

    def name_of(self, invocation: UUID) -> str:
        return self._names.setdefault(invocation, f"unnamed-{len(self._names)}")

    def row(self, kind: str, row: Any) -> None:
        """A row of the Ledger has become a fact; the store goes on though the Router be dead."""
        if kind == "accepted" and row["parent_invocation_id"] is not None:
            self.name(row["invocation_id"], f"{self.name_of(row['parent_invocation_id'])}-child")
        detail = f"{row['type']} {row['error_code'] or ''}".strip() if kind == "terminal" else ""
        who = self.name_of(row["invocation_id"])
        self.happened.append(Happening(self.loop.time(), who, f"recorded {kind}", detail))


class NeverRests(Exception):
    """Nothing more can happen although somebody waits, or it goes on and on."""


class SimulatedLoop(asyncio.BaseEventLoop):
    """Used for one seed after another; `begin` forgets everything of the one before."""

    _ready: list[asyncio.Handle]
    """Of asyncio itself, as are the timers: a queue there, here any of them may be the next."""
    _scheduled: list[asyncio.TimerHandle]
    _stopping: bool

    def __init__(self) -> None:
        super().__init__()
        self._ready = []
        self._tasks: list[asyncio.Task[Any]] = []
        self._now = 0.0
        self._end = 0.0
        self._random = random.Random()
        self._shuffled = False
        self.max_steps = MAX_STEPS
        self.faults: list[str] = []
        self.set_exception_handler(self._note_fault)
        self.set_task_factory(self._new_task)

    def begin(self, seed: int, max_seconds: float) -> None:
        self.abandon()
        self._now, self._end = 0.0, max_seconds
        self._random.seed(seed)
        self._shuffled = self._random.random() < _SHUFFLED
        self.faults.clear()

    def _new_task(
        self, _: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any] | Generator[Any, None, Any], **how: Any
    ) -> asyncio.Task[Any]:
        self._tasks.append(asyncio.Task(work, loop=self, **how))
        return self._tasks[-1]

    def unfinished(self) -> list[asyncio.Task[Any]]:
        """In the order in which they began."""
        return [task for task in self._tasks if not task.done()]

    def abandon(self) -> None:
        """What never rests is dropped where it stands."""
        for task in self.unfinished():
            task._log_destroy_pending = False  # type: ignore[attr-defined]  # of asyncio itself
        for each in (self._tasks, self._ready, self._scheduled):
            each.clear()

    def time(self) -> float:
        return self._now

    def work(self, seconds: float) -> None:
        """Time passes while one callback computes, and no timer can run meanwhile."""
        self._now += seconds

    def _run_once(self) -> None:
        ready, choose = self._ready, self._random.random
        for _ in range(self.max_steps):
            if not ready:
                self._advance()
            handle = ready.pop(int(choose() * len(ready)) if self._shuffled else 0)
            if not handle.cancelled():
                handle._run()
            if self._stopping:
                return
        raise NeverRests("too many steps")

    def _advance(self) -> None:
        """To the next timer; those due at the same moment become ready together."""
        timers = self._scheduled
        while timers and timers[0].cancelled():
            heapq.heappop(timers)
        if not timers:
            raise NeverRests("somebody waits for what can no longer happen")
        self._now = max(self._now, timers[0].when())
        if self._now > self._end:
            raise NeverRests(f"it still goes on after {self._end:.0f} seconds")
        while timers and timers[0].when() <= self._now:
            self._ready.append(heapq.heappop(timers))

    def _note_fault(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        fault = context.get("exception")
        self.faults.append(f"{context.get('message')}: {type(fault).__name__} {fault}")

    def _process_events(self, event_list: Any) -> None:
        """There are none: nothing is connected to the outside."""

    def _write_to_self(self) -> None:
        """Nobody else could wake this loop."""
