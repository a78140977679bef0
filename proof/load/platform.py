"""The platform under load: its units as usual, an installed Agent and the generators in processes of their own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.measure import peer_process
from proof.area import Run
from proof.checker import violations
from proof.gathering import Seen, history_of, settled
from proof.gauges import descriptors
from proof.load.agent import serve_agent
from proof.load.calls import Call, Place
from proof.load.jobs import Job, Outcome, generate
from proof.record import AgentCall
from proof.world import ALLOWED, Plan, World, world_of
from tests.support.cards import some_limits
from tests.support.metrics import numbers
from tests.support.nested import ANY_PORT
from tests.support.waiting import becomes_true

_STORE_POOL = 20
"""So many connections to its store a unit opens when it first needs them, and keeps."""
MAX_SECONDS = 600
"""The greatest that an invocation may be given."""
_PROBE_SECONDS = 0.5
_PROCESSES = 4
"""More than are ever busy at once; each is started when it is first needed."""

T = TypeVar("T")


@dataclass
class Loaded:
    made: World
    place: Place
    seen: Path
    """Who asked the Agent for what."""
    processes: ProcessPoolExecutor
    calls: list[Call] = field(default_factory=list)

    @property
    def pids(self) -> dict[str, int]:
        return {"Control Plane": self.made.control_plane.pid, "Router": self.made.router.pid}

    async def apart(self, work: Callable[..., T], *arguments: object) -> T:
        """Done by another process, so that it takes no time of this one."""
        return await asyncio.get_running_loop().run_in_executor(self.processes, work, *arguments)

    async def uncounted(self, job: Job, **how: Any) -> Outcome:
        return await self.apart(generate, self.place, job, how)

    async def generate(self, job: Job, **how: Any) -> Outcome:
        """A part of the load, of which every call is judged in the end."""
        outcome = await self.uncounted(job, **how)
        self.calls += outcome.calls
        return outcome

    def descriptors(self) -> dict[str, int]:
        """Of each unit, with the connections to its store that it may still open."""
        return {unit.log.stem: descriptors(unit.pid) + _STORE_POOL for unit in self.made.units}

    async def problems(self, before: Mapping[str, int] | None) -> list[str]:
        """Every invariant that is broken, and whatever a caller got otherwise than it ordered."""
        await self._quiet()
        await settled(self.made, 60)
        history = await history_of(self.made, Seen(self.calls, before=before, counts=True, details=20))
        lines = [line.split() for line in self.seen.read_text().splitlines()]
        history = replace(history, agents=[AgentCall(float(at), *rest) for at, *rest in lines])
        wrong = [f"{call.invocation_id or call.trace_id}: {call.wrong}" for call in self.calls if call.wrong]
        return [*violations(history), *wrong]

    async def _quiet(self, seconds: float = 60.0) -> None:
        """Waits until nothing runs and nothing more begins: what callers left behind may still be on its way in."""
        last, units = -1, [unit.unit for unit in self.made.units]

        async def is_so() -> bool:
            nonlocal last
            await asyncio.sleep(_PROBE_SECONDS)
            running = sum([sum((await numbers(unit, "aop_invocations_in_flight")).values()) for unit in units])
            before, last = last, await self.made.first.recorded()
            return running == 0 and before == last

        with suppress(TimeoutError):
            await becomes_true(is_so, seconds)


@asynccontextmanager
async def loaded(run: Run, slots: int, log_level: str = "info") -> AsyncIterator[Loaded]:
    """`slots` invocations at a time; the Router has room for more, so that the Gateway is the one to refuse."""
    both = {
        ALLOWED: ANY_PORT,
        "PLATFORM_INVOCATION_DEADLINE_MS": str(MAX_SECONDS * 1000),
        "PLATFORM_LOG_LEVEL": log_level,
    }
    plan = Plan(
        control_plane={**both, "PLATFORM_GATEWAY_MAX_IN_FLIGHT_INVOCATIONS": str(slots)},
        router={**both, "PLATFORM_ROUTER_MAX_IN_FLIGHT_INVOCATIONS": str(2 * slots)},
    )
    seen, proofs = run.folder / "agent.seen", run.folder / "proofs"
    proofs.mkdir()
    async with world_of(run, plan) as made:
        with (
            peer_process(partial(serve_agent, made.first.router.port, seen, proofs)) as (_, port),
            ProcessPoolExecutor(_PROCESSES, get_context("spawn")) as processes,
        ):
            url = f"http://127.0.0.1:{port}/a2a"
            limits = some_limits(timeoutMs=MAX_SECONDS * 1000, maxOutputBytes=1 << 30)
            card, _, _ = await made.first.installed(
                protocol={**made.first.card["protocol"], "endpoint": url}, limits=limits
            )
            place = Place(made.first.gateway.port, url, proofs, made.first.token, card["agentId"])
            yield Loaded(made, place, seen, processes)
