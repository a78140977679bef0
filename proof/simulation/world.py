"""Runs one seed: callers, Agents and store around a life of the Router, its end, and the next life that closes it."""

import asyncio
import json
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

from aop.base.clock import utc_now
from aop.ledger.write.journal import Journal
from aop.store.problems import StoreUnavailable
from proof.simulation.agent import SimulatedAgents
from proof.simulation.caller import Caller
from proof.simulation.control_plane import CAPABILITY, RELEASES, WORKSPACE, SimulatedControlPlane
from proof.simulation.plan import CallPlan, Ending, Kind, Plan
from proof.simulation.router import Doubles, SimulatedRouter, epoch_of_new_life
from tests.ledger.simulated.loop import History, SimulatedLoop
from tests.ledger.simulated.store import Store
from tests.support.settings import CONTROL_PLANE_TO_ROUTER

MAX_SECONDS = 400.0
CANARY = "canary-in-the-input"
_SETTLE_SECONDS = 30.0
_START_SECONDS = 3.0
_SET_BACK = timedelta(hours=1)


def _id_of(seed: int, number: int) -> str:
    """Digits of a UUIDv7 of this month, the same in every run: the Ledger has partitions for the months around now."""
    month = utc_now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return f"{int(month.timestamp()) * 1000:012x}7{number:03x}8{seed:015x}"


class World:
    def __init__(self, plan: Plan, loop: SimulatedLoop, journal: type[Journal] = Journal) -> None:
        self.plan = plan
        self.history = History(loop)
        self.store = Store(plan.store, plan.seed, self.history)
        scripts = {call.name: call.script for call in plan.calls}
        self.agents = SimulatedAgents(scripts, plan.seed, self.history, self._call_child)
        self.callers: dict[str, Caller] = {}
        self.begun: dict[str, float] = {}
        self.suspended_at: float | None = None
        self.broken: list[str] = []
        self._loop = loop
        self._journal = journal
        self._calls = {call.name: call for call in plan.calls}
        self._tasks: set[asyncio.Task[None]] = set()
        self._must_end = asyncio.Event()
        self._ids = {call.name: _id_of(plan.seed, number) for number, call in enumerate(plan.roots, 1)}
        for name, identity in self._ids.items():
            self.history.name(UUID(identity), name)

    @property
    def store_failed(self) -> bool:
        return any(name.startswith("store: ") for name in self.history.hits)

    @property
    def faults(self) -> Sequence[str]:
        """What the loop was told of exceptions that nobody took."""
        return self._loop.faults

    async def run(self) -> None:
        self.store.healed = True
        epoch = await epoch_of_new_life(self.store)
        self.store.healed = False
        seconds = {f"inv_{self._ids[call.name]}": call.resolve_seconds for call in self.plan.roots}
        doubles = Doubles(self.agents, SimulatedControlPlane(seconds), self.store, self._journal)
        self.router = SimulatedRouter(doubles, epoch, self._must_end.set)
        self.router.start()
        disturbances = {self._set_clock_back: self.plan.clock_back_at, self._suspend: self.plan.suspended_at}
        timers = [self._loop.call_later(at, disturb) for disturb, at in disturbances.items() if at is not None]
        for call in self.plan.roots:
            self._start(self._call_root(call, self._ids[call.name]))
        await self._live()
        for timer in timers:
            timer.cancel()
        await self._end()
        await epoch_of_new_life(self.store)

    def _set_clock_back(self) -> None:
        self.history.disturb("clock set back")
        self.router.clock.back = _SET_BACK

    def _suspend(self) -> None:
        self.history.disturb("release suspended")
        self.suspended_at = self._loop.time()
        self.router.suspend(RELEASES[Kind.USUAL])

    async def _live(self) -> None:
        """Until nobody calls any more, or the end of this life."""
        if self.plan.ending is Ending.QUIET:
            await self._all_called()
            return
        calls = asyncio.create_task(self._all_called())
        await asyncio.wait({calls}, timeout=self.plan.ends_at)
        self.history.disturb(f"ending: {self.plan.ending}" + ("" if calls.done() else " while it ran"))
        if self.plan.ending is Ending.DRAIN:
            await self.router.drain(self.plan.grace)
        elif self.plan.ending is Ending.FENCED:
            await self._fence()
            must_end = asyncio.create_task(self._must_end.wait())
            await asyncio.wait({calls, must_end}, return_when=asyncio.FIRST_COMPLETED)
            must_end.cancel()
            await asyncio.wait({must_end})
        if self.plan.ending in {Ending.KILLED, Ending.FENCED}:
            calls.cancel()
        await asyncio.wait({calls})

    async def _fence(self) -> None:
        """Another process takes over; it, too, needs the store."""
        while True:
            with suppress(StoreUnavailable, TimeoutError):
                async with asyncio.timeout(_START_SECONDS):
                    await epoch_of_new_life(self.store)
                return
            await asyncio.sleep(0.2)

    async def _end(self) -> None:
        self.store.healed = True
        if self.plan.ending in {Ending.QUIET, Ending.DRAIN}:
            if not await self.router.settles(_SETTLE_SECONDS):
                self.broken.append("the Router did not come to rest though its store was well again")
            elif self.plan.ending is Ending.QUIET:
                self._require_ended()
            await self.router.close()
        self.history.is_over = True
        self.store.life += 1
        await self._bury()

    def _require_ended(self) -> None:
        """A Router that lives on ends all it accepted itself, without waiting for its next life."""
        for key in self.store.tables.invocations:
            if self.store.tables.terminal(key) is None:
                self.broken.append(f"{self.history.name_of(key)}: accepted, and left to the next life")

    async def _bury(self) -> None:
        """What a dead process was doing ends here; nobody sees or hears of it any more."""
        own = asyncio.current_task()
        for _ in range(100):
            left = [task for task in self._loop.unfinished() if task is not own]
            if not left:
                return
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=0.5)
        self.broken.append("some tasks could not be ended")

    async def _all_called(self) -> None:
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def _start(self, call: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(call)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _call_root(self, call: CallPlan, identity: str) -> None:
        await asyncio.sleep(call.at)
        release = RELEASES[call.card]
        if call.resolve_seconds:
            self.router.cards.forget(release.release_id)
        context = {
            "invocationId": f"inv_{identity}",
            "rootTaskId": f"task_{identity}",
            "traceId": identity,
            "workspaceId": WORKSPACE,
            "caller": {"type": "user", "id": "alice"},
            "agentCardVersion": "1.0.0",
            "agentReleaseId": release.release_id,
            "agentCardDigest": release.digest,
            "authorizationDigest": release.digest,
        }
        await self._call(call, b"/internal/v1/invocations", CONTROL_PLANE_TO_ROUTER, context)

    async def _call_child(self, name: str, delegation: str) -> None:
        """The parent's Agent waits for the child, which is called, and goes on, though nobody should wait any more."""
        await asyncio.shield(self._start(self._call_as_agent(self._calls[name], delegation)))

    async def _call_as_agent(self, call: CallPlan, delegation: str) -> None:
        await asyncio.sleep(call.at)
        await self._call(call, b"/agent/v1/invocations", delegation, {})

    async def _call(self, call: CallPlan, path: bytes, token: str, context: dict[str, Any]) -> None:
        wanted = {"targetAgentId": RELEASES[call.card].agent_id, "capability": CAPABILITY, "stream": call.stream}
        body = context | wanted | {"input": {"name": call.name, "text": CANARY}}
        caller = self.callers[call.name] = Caller(call.name, call.stalls, self.history)
        self.begun[call.name] = self._loop.time()
        self.history.note(call.name, "called", call.script.kind)
        leaving = None if call.leaves_after is None else self._loop.call_later(call.leaves_after, caller.leave)
        scope = caller.scope(path, token, json.dumps(body).encode(), stream=call.stream)
        try:
            await self.router.application(scope, caller.receive, caller.send)
        except Exception as fault:  # noqa: BLE001  the server would cut the connection: always a find
            self.broken.append(f"{call.name}: the application raised {type(fault).__name__}: {fault}")
        finally:
            if leaving is not None:
                leaving.cancel()
