"""The jobs of a generator: kinds of load, each a coroutine over one Caller, and one of them done in a process."""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import uvloop

from aop.client import proof_folder
from proof.gauges import percentile
from proof.load.agent import FAULTS
from proof.load.calls import Call, Caller, Place
from tests.support.cards import a_card
from tests.support.loop import SPACE, open_skill

Job = Callable[..., Coroutine[Any, Any, None]]


@dataclass(frozen=True)
class Outcome:
    """What a job came to; the milliseconds are how late chunks were."""

    calls: Sequence[Call]
    p99_ms: float
    counted: Mapping[str, int]


def generate(place: Place, job: Job, how: Mapping[str, Any]) -> Outcome:
    async def done() -> Outcome:
        caller = Caller(place)
        async with caller.client:
            await job(caller, **how)
            await caller.door.close()
        return Outcome(caller.made, percentile(caller.late, 0.99), caller.counted)

    return uvloop.run(done())


async def streams(caller: Caller, number: int, chunks: int, pause_ms: int, spread: float) -> None:
    """So many streams of so many chunks, opened over `spread` seconds."""
    readers = []
    for each in range(number):
        order = {"number": each, "chunks": chunks, "pauseMs": pause_ms}
        readers.append(asyncio.create_task(caller.stream(order)))
        await asyncio.sleep(spread / number)
    await asyncio.gather(*readers)


async def calls(caller: Caller, callers: int, seconds: float, pause: float = 0.0, pause_ms: int = 0) -> None:
    """JSON callers, each with one call at a time and a pause behind it; the Agent takes `pause_ms` for each."""
    until, numbers = time.time() + seconds, count(1)

    async def call() -> bool:
        await caller.json({"number": next(numbers), "pauseMs": pause_ms})
        await asyncio.sleep(pause)
        return time.time() < until

    await _by_callers(callers, call)


async def door_calls(caller: Caller, callers: int, seconds: float, pause: float, port: int) -> None:
    """Messages to the Agent at the door, in the A2A of 0.3."""
    until, numbers = time.time() + seconds, count(1)

    async def call() -> bool:
        await caller.at_door(port, {"number": next(numbers)})
        await asyncio.sleep(pause)
        return time.time() < until

    await _by_callers(callers, call)


async def cancels(caller: Caller, number: int, callers: int, seed: int) -> None:
    """So many streams, each left behind its first few events."""
    chance, numbers = random.Random(seed), iter(range(number))

    async def call() -> bool:
        if (each := next(numbers, None)) is not None:
            await caller.stream({"number": each, "chunks": 1000, "pauseMs": 20}, leave_after=chance.randint(1, 3))
        return each is not None

    await _by_callers(callers, call)


async def nested(caller: Caller, roots: int, shapes: Sequence[Sequence[int]], callers: int) -> None:
    """So many roots for each of the shapes; a shape is how many children at each level below."""
    orders = iter([(number, shape) for number in range(roots) for shape in shapes])

    async def call() -> bool:
        if (order := next(orders, None)) is not None:
            number, fan = order
            await caller.json({"number": number, "fan": fan}, {"number": number, "leaves": math.prod(fan)})
        return order is not None

    await _by_callers(callers, call)


async def _by_callers(number: int, call: Callable[[], Awaitable[bool]]) -> None:
    """So many at a time, each one call after the other until it gives False."""

    async def go_on() -> None:
        while await call():
            pass

    await asyncio.gather(*(go_on() for _ in range(number)))


async def overload(caller: Caller, rate: float, seconds: float, pause_ms: int) -> None:
    """So many JSON calls a second, whether the ones before were answered or not."""
    await _at_rate(rate, seconds, lambda number: caller.json({"number": number, "pauseMs": pause_ms}))


async def faulty(caller: Caller, rate: float, seconds: float, faults: float, seed: str) -> None:
    """So many calls a second, a fifth of them streams; of each hundred, `faults` meet a failing Agent."""
    chance = random.Random(seed)
    await _at_rate(rate, seconds, lambda number: _maybe_failing(caller, chance, number, faults))


async def _at_rate(rate: float, seconds: float, call: Callable[[int], Coroutine[Any, Any, object]]) -> None:
    began, number = time.time(), 0
    async with asyncio.TaskGroup() as running:
        while (passed := time.time() - began) < seconds:
            while number < passed * rate:
                number += 1
                running.create_task(call(number))
            await asyncio.sleep(0.005)


async def mixed(caller: Caller, callers: int, seconds: float, pause: float, publish_every: float, seed: int) -> None:
    """Callers who invoke, stream, search and read, beside a provider who publishes."""
    until = time.time() + seconds

    async def publish() -> None:
        while time.time() < until:
            await _publish(caller, f"1.0.{caller.counted['published']}")
            caller.counted["published"] += 1
            await asyncio.sleep(publish_every)

    async def go_on(chance: random.Random) -> None:
        while time.time() < until:
            await _one_of(caller, chance)
            await asyncio.sleep(pause)

    await asyncio.gather(publish(), *(go_on(random.Random(f"{seed} {number}")) for number in range(callers)))


async def _one_of(caller: Caller, chance: random.Random) -> None:
    kind, number = chance.random(), chance.randrange(1 << 40)
    if kind < 0.5:
        await caller.json({"number": number})
    elif kind < 0.7:
        await caller.stream({"number": number, "chunks": chance.randint(1, 8), "pauseMs": 40})
    elif kind < 0.85:
        caller.counted["searches"] += 1
        await caller.client.discover_agents().page(limit=5)
    else:
        call = await caller.json({"number": number})
        if call.invocation_id is not None:
            caller.counted["reads"] += 1
            detail = await caller.client.read_invocation(SPACE, call.invocation_id)
            if detail.invocation.status != call.outcome:
                call.wrong = call.wrong or "read otherwise than answered"


async def _publish(caller: Caller, version: str) -> None:
    """The whole way from a Card to a Release; then Discovery must show the version."""
    place, agent_id = caller.place, "acme:published"
    card = a_card(agent_id=agent_id, version=version, endpoint=place.agent_url, skills=[open_skill()], permissions=[])
    await caller.client.publish(card, proofs=proof_folder(place.proofs), provider_id="acme-publishing", wait_seconds=0)
    newest = await caller.client.list_agent_versions(agent_id).page(limit=1)
    assert [entry.version for entry in newest.items] == [version], f"{version} was published and is not found"


async def _maybe_failing(caller: Caller, chance: random.Random, number: int, faults: float) -> None:
    order: dict[str, Any] = {"number": number}
    code = None
    if chance.random() * 100 < faults:
        order["fault"] = chance.choice(sorted(FAULTS))
        _, code = FAULTS[order["fault"]]
    if chance.random() < 0.2:
        call = await caller.stream({**order, "chunks": 4, "pauseMs": 50})
    else:
        call = await caller.json(order)
    if call.code != code:
        call.wrong = call.wrong or f"{call.code} instead of {code}"
