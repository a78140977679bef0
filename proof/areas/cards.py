"""Area `cards`: Cards made to cost, registered and called on running units while honest callers and probes go on."""

import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proof.area import Area, Figure, Findings, Run, proves
from proof.gauges import Probed, memory_rise, probing
from proof.traffic import Load, by_mode, traffic
from proof.world import Plan, World, world_of
from tests.cards.hostile import DEAR_TO_VET, many_constants, many_minimums
from tests.support.agent import a_message, chosen, data, input_of
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
_TIGHT_MS, _AMPLE_MS = 2000, 60_000
_CONSTANT = "c2999"
_REFUSED = frozenset({(400, "VALIDATION_ERROR"), (413, "PAYLOAD_TOO_LARGE")})
_TOO_LONG = frozenset({(413, "PAYLOAD_TOO_LARGE"), (504, "TIMEOUT")})
_FAILED = frozenset({(502, "AGENT_RESPONSE_TOO_LARGE"), (502, "A2A_PROTOCOL_ERROR"), (504, "TIMEOUT")})


@dataclass(frozen=True)
class Hostile:
    """A Card, an input for it, and the ways in which the call may end."""

    name: str
    skill: Mapping[str, Any]
    content: Mapping[str, Any]
    ends: frozenset[tuple[int, str]]
    stream: bool = False

    @property
    def timeout_ms(self) -> int:
        """What ends by its own size has time enough on any machine; the rest may also end at a deadline."""
        return _TIGHT_MS if (504, "TIMEOUT") in self.ends else _AMPLE_MS


def _hostile_calls() -> Sequence[Hostile]:
    constants, minimums = {"inputSchema": many_constants()}, {"inputSchema": many_minimums()}
    unique = {"inputSchema": {"properties": {"x": {"uniqueItems": True}}}}
    output = {"inputSchema": {"type": "object"}, "outputSchema": many_constants()}
    passing = {"inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}}
    return [
        Hostile("20 failing items", minimums, {"x": [-1] * 20}, _REFUSED),
        Hostile("5,000 failing items", minimums, {"x": [-1] * 5000}, _REFUSED),
        Hostile("800 KB of constants", constants, {"x": [_CONSTANT] * 100_000}, _TOO_LONG),
        Hostile("1 MB of numbers", {"inputSchema": many_minimums(-1)}, {"x": [1] * 500_000}, _TOO_LONG),
        Hostile("unique numbers beyond 64 bits", unique, {"x": [10**300 + one for one in range(3000)]}, _TOO_LONG),
        *(
            Hostile(
                f"an answer of {size} items, {'stream' if stream else 'JSON'}", output, {"out": size}, _FAILED, stream
            )
            for size in (18_000, 800_000)
            for stream in (False, True)
        ),
        Hostile("an answer of empty objects", passing, {"empty": 2_500_000}, _FAILED),
    ]


def _dear_to_read() -> Mapping[str, bytes]:
    """The colon as an escape and a repeated name make the strict reading go the long way."""
    size = 1_000_000
    return {
        "a million empty lists": b'{"x":[' + b",".join([b"[]"] * (size // 3)) + b"]}",
        "objects and an escaped colon": b'{"c":"\\u003a","x":[' + b",".join([b'{"a":1}'] * (size // 8)) + b"]}",
        "exponents": b'{"c":"\\u003a","x":[' + b",".join([b"1e9"] * (size // 4)) + b"]}",
        "a name repeated at the end": b'{"x":[' + b",".join([b'{"a":1}'] * (size // 8)) + b',{"b":1,"b":1}]}',
        "half a surrogate at the end": b'{"x":[' + b",".join([b'{"a":""}'] * (size // 9)) + b',"\\ud800"]}',
    }


def _largest_schema(number: int) -> dict[str, Any]:
    part = {"allOf": [{"maxLength": number * number + one} for one in range(3000)]}
    return {"type": "object", "properties": {"a": {"type": "integer"}, "x": part}}


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
    rises, pid, cards = dict[str, float](), made.router.pid, []
    for one in _hostile_calls():
        limits = some_limits(timeoutMs=one.timeout_ms, maxOutputBytes=_ROOMY)
        cards.append((one, await made.first.installed(skills=[open_skill(**one.skill)], limits=limits)))
    async with traffic(made, Load(json=2, streams=1, pause=0.02)) as beside, probing(made.router) as probed:
        for hostile, (card, _, _) in cards * run.pick(1, 10):
            run.say(hostile.name)
            probed.during = hostile.name
            body = json.dumps(hostile.content, separators=(",", ":")).encode()
            accept = ((b"accept", b"text/event-stream" if hostile.stream else b"application/json"),)
            async with memory_rise(pid) as rise:
                reply = await made.first.invoke(body, headers=accept, agentId=card["agentId"], stream=hostile.stream)
            found.hits[hostile.name] = 1
            end = _end(reply, stream=hostile.stream)
            found.require(end in hostile.ends, f"{hostile.name}: ended {end}")
            rises[hostile.name] = max(rises.get(hostile.name, 0.0), rise.mib)
    found.figures += _figures(run, "Router", probed)
    highest, greatest = max((rise, name) for name, rise in rises.items())
    name = f"greatest rise of the Router's memory ({greatest})"
    found.figures.append(Figure(name, highest, "MiB", at_most=_MAX_RISE_MIB))
    found.require(bool(beside.results) and not beside.failures, f"{len(beside.failures)} honest calls failed")


async def _send(run: Run, made: World, found: Findings) -> None:
    """Bodies as long as may be that are dear to read, whatever they ask for."""
    async with (
        probing(made.control_plane) as gateway,
        probing(made.router) as router,
    ):
        for name, content in [*_dear_to_read().items()] * run.pick(1, 10):
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
        for name, schemas in [*DEAR_TO_VET.items()] * run.pick(1, 10):
            run.say(name)
            probed.during = name
            skills = [open_skill(f"work-{number}", inputSchema=schema) for number, schema in enumerate(schemas)]
            card = a_card(agent_id=f"acme:dear-{os.urandom(4).hex()}", skills=skills)
            reply = await made.first.gateway.post("/v1/agents", card, token=made.first.token)
            found.require(reply.status in {201, 400}, f"{name}: {reply.status}")
            found.hits[name] += 1
    found.figures += _figures(run, "Control Plane", probed)
    found.figures.append(Figure("greatest rise of the Control Plane's memory", rise.mib, "MiB", at_most=_MAX_RISE_MIB))


@proves("Memory of a unit rises by at most 32 MiB, and what a Router keeps of Cards stays within its setting.")
async def _keep(run: Run, made: World, found: Findings) -> None:
    """More Cards than are kept, each as dear as may be, called in turn."""
    pid, count = made.router.pid, run.pick(32, 256)
    first, _, _ = await made.first.installed(skills=[open_skill(inputSchema=_largest_schema(0))])
    await made.first.invoke(b'{"a":1}', agentId=first["agentId"])
    async with memory_rise(pid) as rise, probing(made.router) as probed:
        for number in range(count):
            skills = [open_skill(inputSchema=_largest_schema(number), outputSchema=_largest_schema(-1 - number))]
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
        Figure(f"{unit}: answers to the probe", probed.count, at_least=10),
        Figure(name, probed.max_gap, _CPU, at_most=bound),
    ]


def _agent() -> Behaviour:
    """Answers with as much as the input asks for."""

    def value(received: Received) -> Any:
        order = json.loads(input_of(received))
        if "empty" in order:
            return [{}] * order["empty"]
        return {"x": [_CONSTANT] * order["out"]} if "out" in order else {"n": 1}

    return by_mode(
        chosen(lambda received: a_message(data(value(received)))),
        chosen(lambda received: streamed(task(), piece(value(received), 0, 1), status("completed"))),
    )


AREA = Area("cards", "Hostile Cards", run, (_call, _figures, _keep), alone=True)
