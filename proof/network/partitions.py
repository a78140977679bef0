"""Machines that lose each other, in one and in both directions, and links that lose, delay and reorder packets."""

import asyncio
import json
import time
from dataclasses import dataclass

from proof.area import Figure, Findings
from proof.caller import calling, request
from proof.network.machines import CONTROL_PLANE, DEADLINE_SECONDS, HERE, ROUTER, Machines
from proof.network.wire import CUT, Weather
from proof.record import Told
from proof.traffic import PATH
from tests.support.agent import chosen, echo, method_of
from tests.support.peers import Behaviour, after
from tests.support.streaming_agent import piece, status, streamed, task

ROUGH = Weather(loss=0.01, delay=(0.002, 0.03))
AT_ONCE = 16
_SPARE_SECONDS = 2.0
_PEER_SECONDS = 5.0
"""After so long without a sign of it a peer counts as gone."""
_CHUNKS = 5
Way = tuple[str, str]


@dataclass(frozen=True)
class Partition:
    """`codes` are what a call may be told that begins in it; `seconds` the longest it may take to be told.

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
    Partition("Gateway to Router", ((CONTROL_PLANE, ROUTER),), _AT_ROUTER, 2 * _PEER_SECONDS, answer_lost=False),
    Partition("Router to Gateway", ((ROUTER, CONTROL_PLANE),), _AT_ROUTER, 2 * _PEER_SECONDS),
    Partition("Gateway and Router", ((CONTROL_PLANE, ROUTER), (ROUTER, CONTROL_PLANE)), _AT_ROUTER, 2 * _PEER_SECONDS),
)


async def rough_weather(made: Machines, calls: int, found: Findings) -> None:
    """Every link loses, delays and reorders: slower, and otherwise as ever."""
    made.platform.agent.usual = (answering(),)
    hosts = (HERE, CONTROL_PLANE, ROUTER)
    made.wire.set(ROUGH, *((near, far) for near in hosts for far in hosts if near != far))
    gate = asyncio.Semaphore(AT_ONCE)

    async def call(number: int) -> Told:
        async with gate:
            return await _call(made, stream=number % 2 == 1, number=number, agentId=made.patient)

    told = await asyncio.gather(*(call(number) for number in range(calls)))
    made.wire.clear()
    for number, one in enumerate(told):
        chunks = [event["chunk"] for event in one.events if event["type"] == "chunk"]
        whole = chunks == list(range(_CHUNKS)) if number % 2 else f'"number": {number}'.encode() in one.body
        found.require(one.outcome == "succeeded" and whole, f"in rough weather: {one.outcome}/{one.code} {chunks}")
    for harm in ("packet lost", "packet late", "packet out of order"):
        found.hits[harm] += made.wire.hits[harm]
    found.figures.append(Figure("slowest call in rough weather", max(one.ended - one.began for one in told), "s"))


async def partition(made: Machines, lost: Partition, found: Findings) -> None:
    """One call runs into it and one begins in it; both are told in time, and once it is over calls succeed again."""
    made.platform.agent.usual = (after(0.4, answering()),)
    running = asyncio.create_task(_call(made, stream=False, number=0))
    await made.platform.agent.arrival("message/send", len(made.platform.agent.calls("message/send")) + 1)
    made.wire.set(CUT, *lost.ways)
    before = made.wire.hits["packet lost"]
    told = await asyncio.gather(running, _call(made, stream=False, number=1), _call(made, stream=True, number=2))
    made.wire.clear()
    found.hits[f"packets lost, {lost.name}"] += made.wire.hits["packet lost"] - before
    arrived = told[0].outcome == "succeeded" and not lost.answer_lost
    for one in told[1:] if arrived else told:
        found.require(one.code in lost.codes, f"{lost.name}: told {one.status}/{one.code}")
    longest = max(one.ended - one.began for one in told)
    bound = lost.seconds + _SPARE_SECONDS
    found.figures.append(Figure(f"told of the loss, {lost.name}", longest, "s", at_most=bound))
    await _recovers(made, lost, found)


async def _recovers(made: Machines, lost: Partition, found: Findings) -> None:
    made.platform.agent.usual = (answering(),)
    healed = time.monotonic()
    await asyncio.gather(*(unit.ready() for unit in made.units))
    while (await _call(made, stream=False, number=3)).outcome != "succeeded":
        if time.monotonic() > healed + 10:
            break
    found.figures.append(
        Figure(f"first success after it, {lost.name}", time.monotonic() - healed, "s", at_most=8 + _SPARE_SECONDS)
    )


def answering() -> Behaviour:
    pieces = [piece(number, number, _CHUNKS) for number in range(_CHUNKS)]
    stream = streamed(task(), *pieces, status("completed"))
    return chosen(lambda received: stream if method_of(received) == "message/stream" else echo)


async def _call(made: Machines, *, stream: bool, number: int, **members: str) -> Told:
    body = made.platform.request(json.dumps({"number": number}).encode(), stream=stream, **members)
    async with calling(made.platform.gateway.port) as caller:
        await caller.send(request(PATH, body, made.platform.token, stream=stream))
        return await caller.answer()
