"""The platform under load: its units as usual, and an installed Agent in a process of its own."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from proof.area import Run
from proof.checker import violations
from proof.gathering import Seen, history_of, settled
from proof.gauges import descriptors
from proof.load.calls import Call, Place
from proof.load.generator import Generators, Outcome, generators
from proof.plan import Plan
from proof.record import AgentCall
from proof.world import ALLOWED, World, world_of
from tests.support.cards import some_limits
from tests.support.metrics import numbers
from tests.support.nested import ANY_PORT
from tests.support.waiting import becomes_true

_STORE_POOL = 20
"""So many connections to its store a unit opens when it first needs them, and keeps."""
MAX_SECONDS = 600
"""The greatest that an invocation may be given."""

_PROBE_SECONDS = 0.5


@dataclass
class Loaded:
    made: World
    place: Place
    seen: Path
    """Who asked the Agent for what."""
    agent: asyncio.subprocess.Process
    generators: Generators
    calls: list[Call] = field(default_factory=list)

    @property
    def pids(self) -> dict[str, int]:
        return {"Control Plane": self.made.control_plane.pid, "Router": self.made.router.pid}

    async def generate(self, what: str, **job: Any) -> Outcome:
        """A part of the load, done by a process of its own."""
        outcome = await self.generators.do(what, **job)
        self.calls += outcome.calls
        return outcome

    def descriptors(self) -> dict[str, int]:
        """Of each unit, with the connections to its store that it may still open."""
        return {unit.log.stem: descriptors(unit.pid) + _STORE_POOL for unit in self.made.units}

    async def end_agent(self) -> None:
        """From here on all that it was asked can be read."""
        if self.agent.returncode is None:
            self.agent.send_signal(signal.SIGTERM)
            await self.agent.wait()

    async def agent_calls(self) -> list[AgentCall]:
        await self.end_agent()
        lines = [line.split() for line in self.seen.read_text().splitlines()]
        return [AgentCall(float(at), method, invocation_id, jti) for at, method, invocation_id, jti in lines]

    async def problems(self, before: Mapping[str, int] | None) -> list[str]:
        """Every invariant that is broken, and whatever a caller got otherwise than it ordered."""
        await self._quiet()
        await settled(self.made, 60)
        history = await history_of(self.made, Seen(self.calls, before=before, counts=True, details=20))
        history = replace(history, agents=await self.agent_calls())
        recorded = {row.invocation_id: row.chunks for row in history.ledger}
        miscounted = [
            f"{call.invocation_id}: {len(call.chunks)} chunks delivered, {recorded.get(call.invocation_id)} recorded"
            for call in self.calls
            if call.complete and call.invocation_id is not None
            if recorded.get(call.invocation_id) != len(call.chunks)
        ]
        wrong = [f"{call.invocation_id or call.trace_id}: {call.wrong}" for call in self.calls if call.wrong]
        return [*violations(history), *miscounted, *wrong]

    async def _quiet(self, seconds: float = 60.0) -> None:
        """Waits until nothing runs and nothing more begins: what callers left behind may still be on its way in."""
        last, units = -1, [unit.unit for unit in self.made.units]

        async def is_so() -> bool:
            nonlocal last
            await asyncio.sleep(_PROBE_SECONDS)
            running = sum([sum((await numbers(unit, "aop_invocations_in_flight")).values()) for unit in units])
            before, last = last, (await self.made.ledger.rows("SELECT count(*) FROM ledger.invocation"))[0]["count"]
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
    async with world_of(run, plan) as made:
        seen = run.folder / "agent.seen"
        async with _agent(made.first.router.port, seen) as (process, port):
            protocol = {**made.first.card["protocol"], "endpoint": f"http://127.0.0.1:{port}/a2a"}
            limits = some_limits(timeoutMs=MAX_SECONDS * 1000, maxOutputBytes=1 << 30)
            card, _, _ = await made.first.installed(protocol=protocol, limits=limits)
            place = Place(made.gateway_port(), port, made.first.token, card["agentId"])
            async with generators(place) as ready:
                yield Loaded(made, place, seen, process, ready)


@asynccontextmanager
async def _agent(router_port: int, seen: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "proof.load.agent", "--router", str(router_port), "--seen", str(seen)),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        yield process, int(await process.stdout.readline())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
