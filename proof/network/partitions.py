"""Machines that lose each other, in one and in both directions, and links that lose, delay and reorder packets."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aop.local.state import DatabaseUrls
from proof.area import Figure, Findings, proves
from proof.network.machines import CUT, Weather, Wire, packet_device
from proof.record import CallResult
from proof.traffic import by_mode
from proof.world import Plan, World, world
from tests.support.agent import echo
from tests.support.cards import some_limits
from tests.support.peers import Behaviour, after
from tests.support.replicas import Replica
from tests.support.streaming_agent import a_whole_stream, streamed

HERE, CONTROL_PLANE, ROUTER = "10.99.0.1", "10.99.0.2", "10.99.0.3"
DEADLINE_SECONDS = 3.0
PATIENT_SECONDS = 30.0
"""The deadline of the Agent that is called in rough weather."""
ROUGH = Weather(loss=0.01, delay=(0.002, 0.03))
AT_ONCE = 16
_SPARE_SECONDS = 2.0
_PEER_SECONDS = 60.0
"""After so long without a sign of it a peer counts as gone."""
_CHUNKS = 5
Way = tuple[str, str]


@dataclass(frozen=True)
class Partition:
    """`codes` are those a call may get that begins in it, within `seconds`.

    The answer of a call that began before travels against the first way, and arrives unless that is lost too.
    """

    name: str
    ways: tuple[Way, ...]
    codes: frozenset[str]
    seconds: float
    answer_lost: bool = True


_AT_AGENT = frozenset({"AGENT_UNAVAILABLE", "TIMEOUT"})
_AT_ROUTER = frozenset({"DEPENDENCY_ERROR"})
PARTITIONS = (
    Partition("Router to Agent", ((ROUTER, HERE),), _AT_AGENT, DEADLINE_SECONDS, answer_lost=False),
    Partition("Agent to Router", ((HERE, ROUTER),), _AT_AGENT, DEADLINE_SECONDS),
    Partition("Router and Agent", ((ROUTER, HERE), (HERE, ROUTER)), _AT_AGENT, DEADLINE_SECONDS),
    Partition("Gateway to Router", ((CONTROL_PLANE, ROUTER),), _AT_ROUTER, _PEER_SECONDS, answer_lost=False),
    Partition("Router to Gateway", ((ROUTER, CONTROL_PLANE),), _AT_ROUTER, _PEER_SECONDS),
    Partition("Gateway and Router", ((CONTROL_PLANE, ROUTER), (ROUTER, CONTROL_PLANE)), _AT_ROUTER, _PEER_SECONDS),
)


@dataclass(frozen=True)
class Machines:
    """The platform on three machines: callers and the Agent on one, the Control Plane and the Router on one each."""

    wire: Wire
    made: World
    patient: str

    async def call(self, number: int, *, stream: bool = False, **members: Any) -> CallResult:
        return await self.made.call({"number": number}, seconds=2 * _PEER_SECONDS, stream=stream, **members)


@asynccontextmanager
async def machines(
    wire: Wire, exchange: Path, stores: DatabaseUrls, superuser: str, folder: Path
) -> AsyncIterator[Machines]:
    """This process is in a namespace of its own already, and gets its end of the wire here."""
    wire.plug_in(HERE, packet_device(HERE))
    hosts = {"control-plane": CONTROL_PLANE, "router": ROUTER}

    def launched(unit: Replica) -> Replica:
        return replace(unit, command=("-m", "proof.network.machines"), options=(str(exchange), hosts[unit.name]))

    card = {"limits": some_limits(timeoutMs=int(DEADLINE_SECONDS * 1000))}
    plan = Plan(launched=launched, here=HERE, elsewhere=(CONTROL_PLANE, ROUTER), card=card)
    async with world(stores, superuser, folder, plan) as made:
        limits = some_limits(timeoutMs=int(PATIENT_SECONDS * 1000))
        patient, _, _ = await made.first.installed(limits=limits)
        yield Machines(wire, made, patient["agentId"])


@proves("Lost, late and reordered packets change nothing but the time a call takes.")
async def rough_weather(on: Machines, calls: int, found: Findings) -> None:
    """Every link loses, delays and reorders: slower, and otherwise as ever."""
    on.made.agent.usual = (answering(),)
    hosts = (HERE, CONTROL_PLANE, ROUTER)
    on.wire.set(ROUGH, *((near, far) for near in hosts for far in hosts if near != far))
    gate = asyncio.Semaphore(AT_ONCE)

    async def call(number: int) -> CallResult:
        async with gate:
            return await on.call(number, stream=number % 2 == 1, agentId=on.patient)

    results = await asyncio.gather(*(call(number) for number in range(calls)))
    on.wire.clear()
    for number, one in enumerate(results):
        chunks = one.chunk_values
        whole = chunks == list(range(_CHUNKS)) if number % 2 else f'"number": {number}'.encode() in one.body
        found.require(one.outcome == "succeeded" and whole, f"in rough weather: {one.outcome}/{one.code} {chunks}")
    for harm in ("packet lost", "packet late", "packet out of order"):
        found.hits[harm] += on.wire.hits[harm]


@proves(
    "Machines that lose each other in one or both directions get typed failures in time, and work again once"
    " they are back."
)
async def partition(on: Machines, lost: Partition, found: Findings) -> None:
    """One call runs into it and two begin in it; all are answered in time, and once it is over calls succeed again."""
    agent = on.made.agent
    agent.usual = (after(0.4, answering()),)
    running = asyncio.create_task(on.call(0))
    await agent.arrival("message/send", len(agent.calls("message/send")) + 1)
    on.wire.set(CUT, *lost.ways)
    before = on.wire.hits["packet lost"]
    results = await asyncio.gather(running, on.call(1), on.call(2, stream=True))
    on.wire.clear()
    found.hits[f"packets lost, {lost.name}"] += on.wire.hits["packet lost"] - before
    arrived = results[0].outcome == "succeeded" and not lost.answer_lost
    for one in results[1:] if arrived else results:
        found.require(one.code in lost.codes, f"{lost.name}: answered {one.status}/{one.code}")
    slowest, bound = max(one.seconds for one in results), lost.seconds + _SPARE_SECONDS
    found.figures.append(Figure(f"told of the loss, {lost.name}", slowest, "s", at_most=bound))
    agent.usual = (answering(),)
    healed = time.monotonic()
    await asyncio.gather(*(unit.ready() for unit in on.made.units))
    while (await on.call(3)).outcome != "succeeded" and time.monotonic() < healed + 10:
        pass
    name, seconds = f"first success after it, {lost.name}", time.monotonic() - healed
    found.figures.append(Figure(name, seconds, "s", at_most=8 + _SPARE_SECONDS))


def answering() -> Behaviour:
    return by_mode(echo, streamed(*a_whole_stream(_CHUNKS)))
