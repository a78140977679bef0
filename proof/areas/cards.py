"""Area `cards`: Cards made to cost, registered and called on running units while honest callers and probes go on."""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

from proof.area import Area, Figure, Findings, Run, proves
from proof.cards.hostile import CONSTANT, dear_to_read, dear_to_vet, hostile_calls, largest_schema
from proof.gauges import Probed, memory_rise, percentile, probing
from proof.plan import Plan
from proof.traffic import Load, traffic
from proof.world import World, world_of
from tests.support.agent import a_message, chosen, data, method_of
from tests.support.cards import a_card, some_limits
from tests.support.loop import open_skill
from tests.support.peers import Behaviour, Received
from tests.support.streaming_agent import piece, status, streamed, task
from tests.support.units import Reply

_MAX_GAP_MS, _MAX_GAP_BESIDE_TESTS_MS = 50.0, 150.0
"""Beside other tests the same work takes more processor time: cores share what they have."""
_CPU = "ms of CPU"
_MAX_PLAYED = 3
_MAX_RISE_MIB = 32.0
_ROOMY = 64 * 1024 * 1024
_CACHE = 8 * 1024 * 1024
"""One sixteenth of what a Router keeps of Cards."""
_CACHED_CARDS_RISE_MIB = 16.0 + _CACHE / 2**20
_PLAN = Plan(
    router={"PLATFORM_ROUTER_CARD_CACHE_BYTES": str(_CACHE)},
    card={"skills": [open_skill(outputSchema={})], "limits": some_limits(maxOutputBytes=_ROOMY)},
)
_Scene = Callable[[Run, World, Findings], Awaitable[None]]


def _end(reply: Reply, *, stream: bool) -> tuple[int, str]:
    if stream and reply.status == 200:
        last = json.loads(reply.body.strip().split(b"data: ")[-1])
        error = last.get("error", {})
        return {"TIMEOUT": 504}.get(error.get("code"), 502), error.get("code", last["type"])
    return reply.status, reply.json.get("code", "succeeded")


async def run(run: Run) -> Findings:
    found = Findings()
    async with world_of(run, _PLAN) as made:
        made.agent.usual = (_agent(),)
        for scene in (_call, _send, _register, _keep):
            await _least_disturbed(scene, run, made, found)
    return found


async def _least_disturbed(scene: _Scene, run: Run, made: World, found: Findings) -> None:
    """A host that takes the processor away for a moment counts as work of whoever ran; so a scene in which the loop was
    kept too long is played again. A stall of the unit's own happens every time."""
    for _ in range(_MAX_PLAYED):
        played = Findings()
        await scene(run, made, played)
        found.broken += played.broken
        if all(figure.held for figure in played.figures if figure.unit == _CPU):
            break
        run.say("the loop was kept too long; the same again")
    found.hits.update(played.hits)
    found.figures += played.figures


@proves("Whatever a Card and a value are, a call ends in time with its exact code, and honest calls beside it succeed.")
async def _call(run: Run, made: World, found: Findings) -> None:
    """Each in turn, so that a rise of memory is its doing; honest callers and the probe all the time."""
    rises, slowest, pid = dict[str, float](), 0.0, made.router.pid
    cards = []
    for one in hostile_calls():
        limits = some_limits(timeoutMs=one.timeout_ms, maxOutputBytes=_ROOMY)
        cards.append((one, await made.first.installed(skills=[open_skill(**one.skill)], limits=limits)))
    honest = Load(json=2, streams=1, pause=0.02)
    async with traffic(made, honest) as before:
        await asyncio.sleep(2)
    async with traffic(made, honest) as beside, probing(made.router) as probed:
        for _ in range(run.pick(1, 10)):
            for hostile, (card, _, _) in cards:
                run.say(hostile.name)
                probed.during = hostile.name
                started = time.monotonic()
                body = json.dumps(hostile.content, separators=(",", ":")).encode()
                accept = ((b"accept", b"text/event-stream" if hostile.stream else b"application/json"),)
                async with memory_rise(pid) as rise:
                    reply = await made.first.invoke(
                        body, headers=accept, agentId=card["agentId"], stream=hostile.stream
                    )
                found.hits[hostile.name] = 1
                slowest = max(slowest, time.monotonic() - started)
                end = _end(reply, stream=hostile.stream)
                found.require(end in hostile.ends, f"{hostile.name}: ended {end}")
                rises[hostile.name] = max(rises.get(hostile.name, 0.0), rise.mib)
    found.figures += _figures(run, "Router", probed)
    highest, greatest = max((rise, name) for name, rise in rises.items())
    found.figures += [
        Figure(f"greatest rise of the Router's memory ({greatest})", highest, "MiB", at_most=_MAX_RISE_MIB),
        Figure("slowest hostile call", slowest, "s"),
        Figure("an honest call before, 99th percentile", before.p99, "s"),
        Figure("an honest call beside them, 99th percentile", beside.p99, "s"),
    ]
    found.require(bool(beside.results) and not beside.failures, f"{len(beside.failures)} honest calls failed")


async def _send(run: Run, made: World, found: Findings) -> None:
    """Bodies as long as may be that are dear to read, whatever they ask for."""
    async with (
        probing(made.control_plane) as gateway,
        probing(made.router) as router,
    ):
        for _ in range(run.pick(1, 10)):
            for name, content in dear_to_read().items():
                run.say(name)
                gateway.during = router.during = name
                reply = await made.first.invoke(content)
                found.require(reply.status in {200, 400, 413}, f"{name}: {reply.status}")
                found.hits[name] += 1
    found.figures += _figures(run, "Control Plane with long bodies", gateway)
    found.figures += _figures(run, "Router with long bodies", router)


async def _register(run: Run, made: World, found: Findings) -> None:
    """Cards that are dear to vet, one after the other, by one token holder."""
    pid = made.control_plane.pid
    async with memory_rise(pid) as rise, probing(made.control_plane) as probed:
        for number in range(run.pick(1, 10)):
            for name, skills in dear_to_vet().items():
                run.say(name)
                probed.during = name
                card = a_card(agent_id=f"acme:dear-{os.urandom(4).hex()}", version=f"1.0.{number}", skills=skills)
                reply = await made.first.gateway.post("/v1/agents", json.dumps(card).encode(), token=made.first.token)
                found.require(reply.status in {201, 400}, f"{name}: {reply.status}")
                found.hits[name] += 1
    found.figures += _figures(run, "Control Plane", probed)
    found.figures.append(Figure("greatest rise of the Control Plane's memory", rise.mib, "MiB", at_most=_MAX_RISE_MIB))


@proves("Memory of a unit rises by at most 32 MiB, and what a Router keeps of Cards stays within its setting.")
async def _keep(run: Run, made: World, found: Findings) -> None:
    """More Cards than are kept, each as dear as may be, called in turn."""
    pid, count = made.router.pid, run.pick(32, 256)
    first, _, _ = await made.first.installed(skills=[open_skill(inputSchema=largest_schema(0))])
    await made.first.invoke(b'{"a":1}', agentId=first["agentId"])
    async with memory_rise(pid) as rise, probing(made.router) as probed:
        for number in range(count):
            skills = [open_skill(inputSchema=largest_schema(number), outputSchema=largest_schema(-1 - number))]
            card, _, _ = await made.first.installed(skills=skills)
            reply = await made.first.invoke(b'{"a":1}', agentId=card["agentId"])
            found.require(reply.status in {200, 502}, f"a kept Card: {reply.status} {reply.body[:200]!r}")
    found.hits["Cards of the largest cost"] += count
    found.figures += _figures(run, "Router with many Cards", probed)
    found.figures.append(Figure(f"memory for {count} Cards", rise.mib, "MiB", at_most=_CACHED_CARDS_RISE_MIB))


@proves(
    "No schema work and no reading of a body keeps a unit's event loop for more than 50 ms of processor time,"
    " as a probe of /livez sees it."
)
def _figures(run: Run, unit: str, probed: Probed) -> list[Figure]:
    bound = _MAX_GAP_MS if run.full else _MAX_GAP_BESIDE_TESTS_MS
    name = f"{unit}: processor time of the loop before an answer, longest ({probed.max_during})"
    return [
        Figure(f"{unit}: answers to the probe", len(probed.gaps), at_least=10),
        Figure(name, probed.max_gap, _CPU, at_most=bound),
        Figure(f"{unit}: the same, 99th percentile", percentile(probed.gaps, 0.99), "ms"),
    ]


def _agent() -> Behaviour:
    def answer(received: Received) -> Behaviour:
        order = received.json["params"]["message"]["parts"][0]["data"]
        if "empty" in order:
            value: Any = [{}] * order["empty"]
        else:
            value = {"x": [CONSTANT] * order["out"]} if "out" in order else {"n": 1}
        if method_of(received) == "message/stream":
            return streamed(task(), piece(value, 0, 1), status("completed"))
        return a_message(data(value))

    return chosen(answer)


AREA = Area("cards", "Hostile Cards", run, (_call, _figures, _keep), alone=True)
