"""An event loop without a world, whose time jumps and whose order a seed chooses, and the history of what happened."""

import asyncio
import contextvars
import heapq
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple, TypeVar, TypeVarTuple
from uuid import UUID

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

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

    def __init__(self) -> None:
        super().__init__()
        self._ready: list[asyncio.Handle] = []
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._timer_numbers = count()
        self._tasks: list[asyncio.Task[Any]] = []
        self._now = 0.0
        self._end = 0.0
        self._random = random.Random()
        self._shuffled = False
        self.max_steps = MAX_STEPS
        self.faults: list[str] = []
        self.set_exception_handler(self._note_fault)

    def begin(self, seed: int, max_seconds: float) -> None:
        self._tasks.clear()
        self._ready.clear()
        self._timers.clear()
        self._now, self._end = 0.0, max_seconds
        self._random.seed(seed)
        self._shuffled = self._random.random() < _SHUFFLED
        self.faults.clear()

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        asyncio.set_event_loop(self)
        try:
            return self.run_until_complete(main)
        finally:
            asyncio.set_event_loop(None)

    def create_task(
        self,
        coro: Coroutine[Any, Any, T] | Generator[Any, None, T],
        *,
        name: object = None,
        context: contextvars.Context | None = None,
    ) -> asyncio.Task[T]:
        task = asyncio.Task(coro, loop=self, name=None if name is None else str(name), context=context)
        self._tasks.append(task)
        return task

    def unfinished(self) -> list[asyncio.Task[Any]]:
        """In the order in which they began."""
        return [task for task in self._tasks if not task.done()]

    def abandon(self) -> None:
        """What never rests is dropped where it stands."""
        for task in self.unfinished():
            task._log_destroy_pending = False  # type: ignore[attr-defined]  # of asyncio itself
        self._tasks.clear()
        self._ready.clear()
        self._timers.clear()

    def time(self) -> float:
        return self._now

    def work(self, seconds: float) -> None:
        """Time passes while one callback computes, and no timer can run meanwhile."""
        self._now += seconds

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: contextvars.Context | None = None
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, next(self._timer_numbers), timer))
        return timer

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: contextvars.Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def _run_once(self) -> None:
        ready, choose = self._ready, self._random.random
        for _ in range(self.max_steps):
            if not ready:
                self._advance()
            place = int(choose() * len(ready)) if self._shuffled else 0
            handle = ready.pop(place)
            if not handle.cancelled():
                handle._run()
            if self._stopping:  # type: ignore[attr-defined]  # of asyncio itself
                return
        raise NeverRests("too many steps")

    def _advance(self) -> None:
        """To the next timer; those due at the same moment become ready together."""
        timers = self._timers
        while timers and timers[0][2].cancelled():
            heapq.heappop(timers)
        if not timers:
            raise NeverRests("somebody waits for what can no longer happen")
        self._now = max(self._now, timers[0][0])
        if self._now > self._end:
            raise NeverRests(f"it still goes on after {self._end:.0f} seconds")
        while timers and timers[0][0] <= self._now:
            self._ready.append(heapq.heappop(timers)[2])

    def _note_fault(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        fault = context.get("exception")
        self.faults.append(f"{context.get('message')}: {type(fault).__name__} {fault}")

    def _process_events(self, event_list: Any) -> None:
        """There are none: nothing is connected to the outside."""

    def _write_to_self(self) -> None:
        """Nobody else could wake this loop."""
