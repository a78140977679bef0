"""Strangers at every unit: connections with invented bearers, each with a body that comes byte by byte."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aop.local.ports import any_free_port
from proof.area import Figure, Findings, Run, proves
from proof.callers.attackers import Attacker, Fate, besiege
from proof.gauges import memory_rise, percentile, resident_mib
from proof.load import jobs
from proof.load.jobs import Outcome
from proof.load.platform import Loaded
from proof.world import PATH
from tests.support.loop import SPACE
from tests.support.publication import process_on
from tests.support.replicas import Replica

_HONEST_CALLERS = 4
_DOOR_MIB = 128.0
_UNFINISHED = 900_000
_REFUSALS: Mapping[str, Sequence[str]] = {
    "door, A2A": ("401", "503"),
    "door, MCP": ("401", "503"),
    "Gateway": ("401",),
    "Router": ("403",),
}
"""What a stranger is told there. The door asks the Gateway about so many bearers at once and no more."""


@dataclass(frozen=True)
class Siege:
    """`connections` at each address of the door, a fifth of them at each other unit. `honest_p99` is in seconds;
    without it, twice the time before the siege."""

    connections: int
    seconds: float
    honest_p99: float | None = None
    workers: int = 1

    @property
    def door(self) -> str:
        return "the door" if self.workers == 1 else f"a door of {self.workers} workers"


async def withstand(run: Run, on: Loaded, siege: Siege, found: Findings) -> None:
    async with _door(run, on, siege.workers) as door:
        port, made = door.unit.port, {"callers": _HONEST_CALLERS, "pause": 0.01, "port": door.unit.port}
        before = await on.generate(jobs.door_calls, seconds=3, **made)
        held = resident_mib(door.pid)
        run.say(f"{siege.connections} strangers at each address of {siege.door}")
        async with memory_rise(door.pid) as rise:
            fates, beside = await asyncio.gather(
                on.apart(besiege, _strangers(on, port, siege.connections), siege.seconds),
                on.generate(jobs.door_calls, seconds=siege.seconds, **made),
            )
    judge_refusals(found, fates)
    judge_beside(found, siege, before, beside)
    if siege.workers == 1:
        found.figures.append(Figure("door: memory at its peak", held + rise.mib, "MiB", at_most=_DOOR_MIB))


@asynccontextmanager
async def _door(run: Run, on: Loaded, workers: int) -> AsyncIterator[Replica]:
    async with process_on(any_free_port()) as unit:
        settings = {
            "PLATFORM_DOOR_LISTEN_ADDRESS": f"127.0.0.1:{unit.port}",
            "PLATFORM_DOOR_GATEWAY_ORIGIN": f"http://127.0.0.1:{on.place.gateway_port}",
            "PLATFORM_DRAIN_SECONDS": "0",
        }
        options = () if workers == 1 else ("--workers", str(workers))
        door = Replica("door", unit, settings, run.folder / f"door-{workers}.log", options=options)
        await door.start()
        try:
            await door.ready()
            yield door
        finally:
            await door.kill()


def _strangers(on: Loaded, door: int, number: int) -> dict[str, Sequence[Attacker]]:
    """A bearer of its own for each, so that nothing that is known of one helps against another."""
    gateway, router = on.place.gateway_port, on.made.first.router.port
    addresses = {
        "door, A2A": (door, f"/a2a/{SPACE}/{on.place.agent_id}"),
        "door, MCP": (door, f"/mcp/{SPACE}"),
        "Gateway": (gateway, PATH),
        "Router": (router, "/internal/v1/invocations"),
    }
    return {
        name: [_stranger(*address) for _ in range(number if address[0] == door else number // 5)]
        for name, address in addresses.items()
    }


def _stranger(port: int, path: str) -> Attacker:
    lines = [f"POST {path} HTTP/1.1", f"host: 127.0.0.1:{port}", f"authorization: Bearer aop_{secrets.token_hex(24)}"]
    lines += ["content-type: application/json", "accept: application/json", f"content-length: {_UNFINISHED}", "", ""]
    return Attacker("\r\n".join(lines).encode(), port, sends=True, again_seconds=20.0)


@proves("A stranger with an invented bearer is refused at the head of its request by door, Gateway and Router.")
def judge_refusals(found: Findings, fates: Mapping[str, Sequence[Fate]]) -> None:
    for name, all_of_kind in fates.items():
        answers = {fate.status.split(" ")[1] for fate in all_of_kind if fate.status}
        found.hits[f"strangers refused: {name}"] += sum(bool(fate.status) for fate in all_of_kind)
        found.require(answers <= set(_REFUSALS[name]), f"strangers at {name} were answered {sorted(answers)}")


@proves("Beside strangers at every address all calls at the door succeed, in at most twice their time.")
def judge_beside(found: Findings, siege: Siege, before: Outcome, beside: Outcome) -> None:
    failed = [call for call in beside.calls if call.outcome != "succeeded"]
    found.broken += [f"a call at the door was answered {call.status} {call.code or ''}" for call in failed[:3]]
    usual, slowest = (percentile([call.seconds for call in each.calls], 0.99) for each in (before, beside))
    allowed = siege.honest_p99 or 2 * usual
    found.figures += [
        Figure(f"calls at {siege.door} beside strangers", len(beside.calls), at_least=1),
        Figure(f"calls at {siege.door} that failed", len(failed), at_most=0),
        Figure(f"a call at {siege.door} before the strangers, 99th percentile", usual, "s"),
        Figure(f"a call at {siege.door} beside them, 99th percentile", slowest, "s", at_most=allowed),
    ]
