"""What a generator can be told to do: kinds of load, each a coroutine over one Caller."""

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from proof.load.agent import FAULTS
from proof.load.calls import Caller
from proof.load.publishing import Publisher

Job = Callable[[Caller, Mapping[str, Any]], Awaitable[dict[str, float]]]


async def streams(caller: Caller, wanted: Mapping[str, Any]) -> dict[str, float]:
    """`count` streams of `chunks` at one each `pauseMs`, opened over `spread` seconds."""
    readers = []
    for number in range(wanted["count"]):
        order = {"number": number, "chunks": wanted["chunks"], "pauseMs": wanted["pauseMs"]}
        readers.append(asyncio.create_task(caller.stream(order)))
        await asyncio.sleep(wanted["spread"] / wanted["count"])
    await asyncio.gather(*readers)
    return {}


async def calls(caller: Caller, wanted: Mapping[str, Any]) -> dict[str, float]:
    """`callers` JSON callers for `seconds`, each with one call at a time and a `pause` behind it."""
    until, number = time.time() + wanted["seconds"], 0

    async def go_on() -> None:
        nonlocal number
        while time.time() < until:
            number += 1
            await caller.json(_order(number, wanted))
            await asyncio.sleep(wanted.get("pause", 0))

    await asyncio.gather(*(go_on() for _ in range(wanted["callers"])))
    return {}


async def overload(caller: Caller, wanted: Mapping[str, Any]) -> dict[str, float]:
    """`rate` JSON calls a second for `seconds`, whether the ones before were answered or not."""
    began, number, running = time.time(), 0, set[asyncio.Task[Any]]()
    while (passed := time.time() - began) < wanted["seconds"]:
        while number < passed * wanted["rate"]:
            number += 1
            task = asyncio.create_task(caller.json(_order(number, wanted)))
            running.add(task)
            task.add_done_callback(running.discard)
        await asyncio.sleep(0.005)
    await asyncio.gather(*running)
    return {}


async def cancels(caller: Caller, wanted: Mapping[str, Any]) -> dict[str, float]:
    """`count` streams, `callers` at a time, each left behind its first few events."""
    chance, numbers = random.Random(wanted["seed"]), iter(range(wanted["count"]))

    async def go_on() -> None:
        for number in numbers:
            order = {"number": number, "chunks": 1000, "pauseMs": 20}
            await caller.stream(order, leave_after=chance.randint(1, 3))

    await asyncio.gather(*(go_on() for _ in range(wanted["callers"])))
    return {}


async def nested(caller: Caller, wanted: Mapping[str, Any]) -> dict[str, float]:
    """`roots` for each of the `shapes`, `callers` at a time; a shape is how many children at each level below."""
    orders = [
        ({"number": number, "fan": shape}, _leaves(shape))
        for number in range(wanted["roots"])
        for shape in wanted["shapes"]
    ]
    waiting = iter(orders)

    async def go_on() -> None:
        for order, leaves in waiting:
            await caller.json(order, {"number": order["number"], "leaves": leaves})

    await asyncio.gather(*(go_on() for _ in range(wanted["callers"])))
    return {}


async def mixed(caller: Caller, wanted: Mapping[str, Any]) -> dict[str, float]:
    """`callers` who invoke, stream, search and read, beside a provider who publishes each `publishEvery` s."""
    until = time.time() + wanted["seconds"]
    publisher, counted = Publisher(caller), {"searches": 0.0, "reads": 0.0}

    async def publish() -> None:
        while time.time() < until:
            await publisher.publish()
            await asyncio.sleep(wanted["publishEvery"])

    async def go_on(chance: random.Random) -> None:
        while time.time() < until:
            await _one_of(caller, chance, counted)
            await asyncio.sleep(wanted["pause"])

    chances = [random.Random(f"{wanted['seed']} {number}") for number in range(wanted["callers"])]
    await asyncio.gather(publish(), *(go_on(chance) for chance in chances))
    return {**counted, "published": float(publisher.published)}


async def _one_of(caller: Caller, chance: random.Random, counted: dict[str, float]) -> None:
    kind, number = chance.random(), chance.randrange(1 << 40)
    if kind < 0.5:
        await caller.json({"number": number})
    elif kind < 0.7:
        await caller.stream({"number": number, "chunks": chance.randint(1, 8), "pauseMs": 40})
    elif kind < 0.85:
        counted["searches"] += 1
        await require(caller, "/v1/agents?limit=5")
    else:
        call = await caller.json({"number": number})
        if call.invocation_id is not None:
            counted["reads"] += 1
            detail = await require(caller, f"{caller.place.path}/{call.invocation_id}")
            call.wrong = call.wrong or (
                None if detail["invocation"]["status"] == call.outcome else "read otherwise than told"
            )


async def require(caller: Caller, path: str) -> Any:
    answer = await caller.ask("GET", path)
    assert answer.status == 200, f"{path}: {answer.status}"
    return json.loads(answer.body)


async def faulty(caller: Caller, wanted: Mapping[str, Any]) -> dict[str, float]:
    """`rate` calls a second for `seconds`, a fifth of them streams; of each hundred, `faults` meet a failing Agent."""
    began, number, running = time.time(), 0, set[asyncio.Task[Any]]()
    chance = random.Random(wanted["seed"])
    while (passed := time.time() - began) < wanted["seconds"]:
        while number < passed * wanted["rate"]:
            number += 1
            task = asyncio.create_task(_maybe_failing(caller, chance, number, wanted["faults"]))
            running.add(task)
            task.add_done_callback(running.discard)
        await asyncio.sleep(0.005)
    await asyncio.gather(*running)
    return {}


async def _maybe_failing(caller: Caller, chance: random.Random, number: int, faults: float) -> None:
    order: dict[str, Any] = {"number": number}
    code = None
    if chance.random() * 100 < faults:
        order["fault"] = chance.choice(sorted(FAULTS))
        code = FAULTS[order["fault"]]
    if chance.random() < 0.2:
        call = await caller.stream({**order, "chunks": 4, "pauseMs": 50})
    else:
        call = await caller.json(order)
    if call.code != code:
        call.wrong = call.wrong or f"told {call.code} instead of {code}"


def _order(number: int, wanted: Mapping[str, Any]) -> dict[str, Any]:
    return {"number": number} | ({"pauseMs": wanted["pauseMs"]} if "pauseMs" in wanted else {})


def _leaves(shape: list[int]) -> int:
    leaves = 1
    for count in shape:
        leaves *= count
    return leaves


JOBS: Mapping[str, Job] = {
    "streams": streams,
    "calls": calls,
    "overload": overload,
    "cancels": cancels,
    "nested": nested,
    "mixed": mixed,
    "faulty": faulty,
}
