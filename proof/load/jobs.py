"""The jobs of a generator: kinds of load, each a coroutine over one Caller."""

import asyncio
import json
import math
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from itertools import count
from typing import Any

from proof.load.agent import FAULTS
from proof.load.calls import Caller
from proof.world import PATH
from tests.support.cards import a_card
from tests.support.loop import open_skill

_AGENT, _PROVIDER = "acme:published", "acme-publishing"

Job = Callable[[Caller, Mapping[str, Any]], Awaitable[dict[str, float]]]


async def streams(caller: Caller, job: Mapping[str, Any]) -> dict[str, float]:
    """`count` streams of `chunks` at one each `pauseMs`, opened over `spread` seconds."""
    readers = []
    for number in range(job["count"]):
        order = {"number": number, "chunks": job["chunks"], "pauseMs": job["pauseMs"]}
        readers.append(asyncio.create_task(caller.stream(order)))
        await asyncio.sleep(job["spread"] / job["count"])
    await asyncio.gather(*readers)
    return {}


async def calls(caller: Caller, job: Mapping[str, Any]) -> dict[str, float]:
    """`callers` JSON callers for `seconds`, each with one call at a time and a `pause` behind it."""
    until, numbers = time.time() + float(job["seconds"]), count(1)

    async def call() -> bool:
        await caller.json(_order(next(numbers), job))
        await asyncio.sleep(job.get("pause", 0))
        return time.time() < until

    return await _by_callers(job["callers"], call)


async def cancels(caller: Caller, job: Mapping[str, Any]) -> dict[str, float]:
    """`count` streams, `callers` at a time, each left behind its first few events."""
    chance, numbers = random.Random(job["seed"]), iter(range(job["count"]))

    async def call() -> bool:
        if (number := next(numbers, None)) is not None:
            await caller.stream({"number": number, "chunks": 1000, "pauseMs": 20}, leave_after=chance.randint(1, 3))
        return number is not None

    return await _by_callers(job["callers"], call)


async def nested(caller: Caller, job: Mapping[str, Any]) -> dict[str, float]:
    """`roots` for each of the `shapes`, `callers` at a time; a shape is how many children at each level below."""
    orders = iter([{"number": number, "fan": shape} for number in range(job["roots"]) for shape in job["shapes"]])

    async def call() -> bool:
        if (order := next(orders, None)) is not None:
            await caller.json(order, {"number": order["number"], "leaves": math.prod(order["fan"])})
        return order is not None

    return await _by_callers(job["callers"], call)


async def _by_callers(number: int, call: Callable[[], Awaitable[bool]]) -> dict[str, float]:
    """So many at a time, each one call after the other until it gives False."""

    async def go_on() -> None:
        while await call():
            pass

    await asyncio.gather(*(go_on() for _ in range(number)))
    return {}


async def overload(caller: Caller, job: Mapping[str, Any]) -> dict[str, float]:
    """`rate` JSON calls a second for `seconds`, whether the ones before were answered or not."""
    return await _at_rate(job, lambda number: caller.json(_order(number, job)))


async def faulty(caller: Caller, job: Mapping[str, Any]) -> dict[str, float]:
    """`rate` calls a second for `seconds`, a fifth of them streams; of each hundred, `faults` meet a failing Agent."""
    chance = random.Random(job["seed"])
    return await _at_rate(job, lambda number: _maybe_failing(caller, chance, number, job["faults"]))


async def _at_rate(job: Mapping[str, Any], call: Callable[[int], Coroutine[Any, Any, object]]) -> dict[str, float]:
    began, number, running = time.time(), 0, set[asyncio.Task[object]]()
    while (passed := time.time() - began) < job["seconds"]:
        while number < passed * job["rate"]:
            number += 1
            task = asyncio.create_task(call(number))
            running.add(task)
            task.add_done_callback(running.discard)
        await asyncio.sleep(0.005)
    await asyncio.gather(*running)
    return {}


async def mixed(caller: Caller, job: Mapping[str, Any]) -> dict[str, float]:
    """`callers` who invoke, stream, search and read, beside a provider who publishes each `publishEvery` s."""
    until = time.time() + job["seconds"]
    counted = {"searches": 0.0, "reads": 0.0, "published": 0.0}

    async def publish() -> None:
        while time.time() < until:
            await _publish(caller, f"1.0.{counted['published']:.0f}")
            counted["published"] += 1
            await asyncio.sleep(job["publishEvery"])

    async def go_on(chance: random.Random) -> None:
        while time.time() < until:
            await _one_of(caller, chance, counted)
            await asyncio.sleep(job["pause"])

    chances = [random.Random(f"{job['seed']} {number}") for number in range(job["callers"])]
    await asyncio.gather(publish(), *(go_on(chance) for chance in chances))
    return counted


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
            detail = await require(caller, f"{PATH}/{call.invocation_id}")
            call.wrong = call.wrong or (
                None if detail["invocation"]["status"] == call.outcome else "read otherwise than answered"
            )


async def require(caller: Caller, path: str, method: str = "GET", body: object = None) -> Any:
    answer = await caller.ask(method, path, body)
    assert answer.status < 300, f"{path}: {answer.status} {answer.body!r}"
    return json.loads(answer.body)


async def _publish(caller: Caller, version: str) -> None:
    """The whole way: Card, Binding, challenge, proof, Release; then Discovery must show the version."""
    endpoint, provider = f"http://127.0.0.1:{caller.place.agent_port}/a2a", f"/v1/providers/{_PROVIDER}"

    async def post(path: str, body: object = None) -> Any:
        return await require(caller, path, "POST", body)

    card = a_card(agent_id=_AGENT, version=version, endpoint=endpoint, skills=[open_skill()], permissions=[])
    await post("/v1/agents", card)
    binding = await post(
        f"{provider}/agents/{_AGENT}/endpoint-bindings",
        {"version": version, "endpoint": endpoint, "method": "http_well_known"},
    )
    challenges = f"{provider}/endpoint-bindings/{binding['bindingId']}/challenges"
    challenge = await post(challenges)
    place = f"/.well-known/platform/challenges/{challenge['challengeId']}"
    await caller.ask("PUT", place, challenge["proof"].encode(), agent=True)
    await post(f"{challenges}/{challenge['challengeId']}/complete")
    pin = {"version": version, "endpointBindingId": binding["bindingId"]}
    release = await post(f"{provider}/agents/{_AGENT}/releases", pin)
    await post(f"/v1/releases/{release['releaseId']}/publish")
    found = await require(caller, f"/v1/agents/{_AGENT}?limit=1")
    assert version in json.dumps(found), f"{version} was published and is not found"


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
        call.wrong = call.wrong or f"{call.code} instead of {code}"


def _order(number: int, job: Mapping[str, Any]) -> dict[str, Any]:
    return {"number": number} | ({"pauseMs": job["pauseMs"]} if "pauseMs" in job else {})


JOBS: Mapping[str, Job] = {
    "streams": streams,
    "calls": calls,
    "overload": overload,
    "cancels": cancels,
    "nested": nested,
    "mixed": mixed,
    "faulty": faulty,
}
