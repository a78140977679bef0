"""Area `cards`: Cards made to cost, registered and called on running units while honest callers and probes go on."""

import asyncio
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proof.area import Area, Figure, Findings, Run
from proof.gauges import forget_peak, peak_mib, percentile, resident_mib
from proof.probe import Probed, probing
from proof.traffic import Load, traffic
from proof.world import Plan, World, world
from tests.cards.hostile import many_constants, many_minimums, nested_unevaluated
from tests.support.agent import a_message, chosen, data, method_of
from tests.support.cards import a_card, some_limits
from tests.support.loop import open_skill
from tests.support.peers import Behaviour, Received
from tests.support.streaming_agent import piece, status, streamed, task
from tests.support.units import Reply

_MOST_GAP_MS, _MOST_GAP_BESIDE_TESTS_MS = 50.0, 150.0
"""Beside other tests the same work takes more processor time: cores share what they have."""
_MOST_RISE_MIB = 32.0
_TIGHT_MS = 2000
_AMPLE_MS = 60_000
_ROOMY = 64 * 1024 * 1024
_CACHE = 8 * 1024 * 1024
"""One sixteenth of what a Router keeps of Cards."""
_CACHED_CARDS_RISE_MIB = 16.0 + _CACHE / 2**20
_PLAN = Plan(
    router={"PLATFORM_ROUTER_CARD_CACHE_BYTES": str(_CACHE)},
    card={"skills": [open_skill(outputSchema={})], "limits": some_limits(maxOutputBytes=_ROOMY)},
)
_CONSTANT = "c2999"


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


_REFUSED = frozenset({(400, "VALIDATION_ERROR"), (413, "PAYLOAD_TOO_LARGE")})
_TOO_LONG = frozenset({(413, "PAYLOAD_TOO_LARGE"), (504, "TIMEOUT")})
_FAILED = frozenset({(502, "AGENT_RESPONSE_TOO_LARGE"), (502, "A2A_PROTOCOL_ERROR"), (504, "TIMEOUT")})


def _calls() -> Sequence[Hostile]:
    constants, minimums = {"inputSchema": many_constants()}, {"inputSchema": many_minimums()}
    output = {"inputSchema": {"type": "object"}, "outputSchema": many_constants()}
    passing = {"inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}}
    return [
        Hostile("20 failing items", minimums, {"x": [-1] * 20}, _REFUSED),
        Hostile("5,000 failing items", minimums, {"x": [-1] * 5000}, _REFUSED),
        Hostile("800 KB of constants", constants, {"x": [_CONSTANT] * 100_000}, _TOO_LONG),
        Hostile("1 MB of numbers", {"inputSchema": many_minimums(-1)}, {"x": [1] * 500_000}, _TOO_LONG),
        Hostile(
            "unique numbers beyond 64 bits",
            {"inputSchema": {"properties": {"x": {"uniqueItems": True}}}},
            {"x": [10**300 + number for number in range(3000)]},
            _TOO_LONG,
        ),
        *(
            Hostile(
                f"an answer of {size} items, {'stream' if stream else 'JSON'}", output, {"out": size}, _FAILED, stream
            )
            for size in (18_000, 800_000)
            for stream in (False, True)
        ),
        Hostile("an answer of empty objects", passing, {"empty": 2_500_000}, _FAILED),
    ]


@dataclass
class Seen:
    """What became of the hostile calls, and what everybody else noticed of them."""

    broken: list[str] = field(default_factory=list)
    hits: dict[str, int] = field(default_factory=dict)
    rises: dict[str, float] = field(default_factory=dict)
    slowest: dict[str, float] = field(default_factory=dict)

    def meet(self, hostile: Hostile, reply: Reply, seconds: float) -> None:
        self.hits[hostile.name] = 1
        self.slowest[hostile.name] = seconds
        end = _end(reply, stream=hostile.stream)
        if end not in hostile.ends:
            self.broken.append(f"{hostile.name}: ended {end}")


def _end(reply: Reply, *, stream: bool) -> tuple[int, str]:
    if stream and reply.status == 200:
        last = json.loads(reply.body.strip().split(b"data: ")[-1])
        error = last.get("error", {})
        return {"TIMEOUT": 504}.get(error.get("code"), 502), error.get("code", last["type"])
    return reply.status, reply.json.get("code", "succeeded")


async def run(run: Run) -> Findings:
    found = Findings()
    stores = await run.postgres.new_platform()
    database = stores.migration.rpartition("/")[2]
    async with world(stores, run.postgres.url(database), run.folder, _PLAN) as made:
        made.agent.usual = (_agent(),)
        await _call(run, made, found)
        await _send(run, made, found)
        await _register(run, made, found)
        await _keep(run, made, found)
    await run.postgres.drop(database)
    return found


async def _call(run: Run, made: World, found: Findings) -> None:
    """Each in turn, so that a rise of memory is its doing; honest callers and the probe all the time."""
    seen, pid = Seen(), made.router.pid
    cards = [
        (
            one,
            await made.first.installed(
                skills=[open_skill(**one.skill)], limits=some_limits(timeoutMs=one.timeout_ms, maxOutputBytes=_ROOMY)
            ),
        )
        for one in _calls()
    ]
    async with traffic(made, Load(json=2, streams=1, pause=0.02)) as before:
        await asyncio.sleep(2)
    async with (
        traffic(made, Load(json=2, streams=1, pause=0.02)) as beside,
        probing(pid, made.first.router.port) as probed,
    ):
        for _ in range(run.pick(1, 10)):
            for hostile, (card, _, _) in cards:
                run.say(hostile.name)
                probed.during = hostile.name
                forget_peak(pid)
                rested = resident_mib(pid)
                started = time.monotonic()
                body = json.dumps(hostile.content, separators=(",", ":")).encode()
                accept = ((b"accept", b"text/event-stream" if hostile.stream else b"application/json"),)
                reply = await made.first.invoke(body, headers=accept, agentId=card["agentId"], stream=hostile.stream)
                seen.meet(hostile, reply, time.monotonic() - started)
                seen.rises[hostile.name] = max(seen.rises.get(hostile.name, 0.0), peak_mib(pid) - rested)
    found.broken += seen.broken
    found.hits.update(seen.hits)
    found.figures += _figures(run, "Router", probed)
    greatest = max(seen.rises, key=lambda name: seen.rises[name])
    found.figures += [
        Figure(
            f"greatest rise of the Router's memory ({greatest})", seen.rises[greatest], "MiB", at_most=_MOST_RISE_MIB
        ),
        Figure("slowest hostile call", max(seen.slowest.values()), "s"),
        Figure("an honest call before, 99th percentile", _p99(before.told), "s"),
        Figure("an honest call beside them, 99th percentile", _p99(beside.told), "s"),
    ]
    failed = [one for one in beside.told if one.outcome != "succeeded"]
    found.require(not failed and bool(beside.told), f"{len(failed)} honest calls failed")


async def _send(run: Run, made: World, found: Findings) -> None:
    """Bodies as long as may be that are dear to read, whatever they ask for."""
    async with (
        probing(made.control_plane.pid, made.first.gateway.port) as gateway,
        probing(made.router.pid, made.first.router.port) as router,
    ):
        for _ in range(run.pick(1, 10)):
            for name, content in _dear_to_read().items():
                run.say(name)
                gateway.during = router.during = name
                reply = await made.first.invoke(content)
                found.require(reply.status in {200, 400, 413}, f"{name}: {reply.status}")
                found.hits[name] += 1
    found.figures += _figures(run, "Control Plane with long bodies", gateway)
    found.figures += _figures(run, "Router with long bodies", router)


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


async def _register(run: Run, made: World, found: Findings) -> None:
    """Cards that are dear to vet, one after the other, by one token holder."""
    pid = made.control_plane.pid
    forget_peak(pid)
    rested = resident_mib(pid)
    async with probing(pid, made.first.gateway.port) as probed:
        for number in range(run.pick(1, 10)):
            for name, skills in _dear_to_vet().items():
                run.say(name)
                probed.during = name
                card = a_card(agent_id=f"acme:dear-{os.urandom(4).hex()}", version=f"1.0.{number}", skills=skills)
                reply = await made.first.gateway.post("/v1/agents", json.dumps(card).encode(), token=made.first.token)
                found.require(reply.status in {201, 400}, f"{name}: {reply.status}")
                found.hits[name] += 1
    found.figures += _figures(run, "Control Plane", probed)
    rise = peak_mib(pid) - rested
    found.figures.append(Figure("greatest rise of the Control Plane's memory", rise, "MiB", at_most=_MOST_RISE_MIB))


def _dear_to_vet() -> Mapping[str, list[Any]]:
    letters = {"type": "string", "pattern": r"\p{L}{180}"}
    large = {"properties": {f"p{number:04}": {"type": "string", "minLength": number} for number in range(1400)}}
    chain = {f"a{number}": {"$ref": f"#/$defs/a{number + 1}"} for number in range(1200)}
    deep = {"$ref": "#/$defs/a0", "$defs": {**chain, "a1200": {"type": "string"}}}
    circle = {
        "anyOf": [{"$ref": f"#/$defs/a{start}"} for start in range(3)],
        "$defs": {
            f"a{one}": {
                "properties": {f"p{two}": {"$ref": f"#/$defs/a{(one * 3 + two * 7) % 200}"} for two in range(4)}
            }
            for one in range(200)
        },
    }
    schemas = {"letters": letters, "255 KB": large, "deep references": deep, "many ways": circle}
    several = {"255 KB": 4, "letters": 3}
    return {
        name: [
            open_skill(
                f"work-{number}",
                inputSchema={"type": "object", "properties": {"v": schema}} if name == "letters" else schema,
            )
            for number in range(several.get(name, 1))
        ]
        for name, schema in (*schemas.items(), ("unevaluated", nested_unevaluated(30)))
    }


async def _keep(run: Run, made: World, found: Findings) -> None:
    """More Cards than are kept, each as dear as may be, called in turn."""
    pid, count = made.router.pid, run.pick(32, 256)
    first, _, _ = await made.first.installed(skills=[open_skill(inputSchema=_largest(0))])
    await made.first.invoke(b'{"a":1}', agentId=first["agentId"])
    forget_peak(pid)
    rested = resident_mib(pid)
    async with probing(pid, made.first.router.port) as probed:
        for number in range(count):
            skills = [open_skill(inputSchema=_largest(number), outputSchema=_largest(-1 - number))]
            card, _, _ = await made.first.installed(skills=skills)
            reply = await made.first.invoke(b'{"a":1}', agentId=card["agentId"])
            found.require(reply.status in {200, 502}, f"a kept Card: {reply.status} {reply.body[:200]!r}")
    found.hits["Cards of the largest cost"] += count
    found.figures += _figures(run, "Router with many Cards", probed)
    rise = peak_mib(pid) - rested
    found.figures.append(Figure(f"memory for {count} Cards", rise, "MiB", at_most=_CACHED_CARDS_RISE_MIB))


def _largest(number: int) -> dict[str, Any]:
    part = {"allOf": [{"maxLength": number * number + one} for one in range(3000)]}
    return {"type": "object", "properties": {"a": {"type": "integer"}, "x": part}}


def _figures(run: Run, unit: str, probed: Probed) -> list[Figure]:
    most = _MOST_GAP_MS if run.full else _MOST_GAP_BESIDE_TESTS_MS
    longest = f"{unit}: processor time of the loop before an answer, longest ({probed.longest_during})"
    return [
        Figure(f"{unit}: answers to the probe", len(probed.gaps), at_least=10),
        Figure(longest, probed.longest, "ms of CPU", at_most=most),
        Figure(f"{unit}: the same, 99th percentile", percentile(probed.gaps, 0.99), "ms"),
    ]


def _p99(told: Sequence[Any]) -> float:
    return percentile([one.ended - one.began for one in told], 0.99)


def _agent() -> Behaviour:
    def answer(received: Received) -> Behaviour:
        given = received.json["params"]["message"]["parts"][0]["data"]
        if "empty" in given:
            value: Any = [{}] * given["empty"]
        else:
            value = {"x": [_CONSTANT] * given["out"]} if "out" in given else {"n": 1}
        if method_of(received) == "message/stream":
            return streamed(task(), piece(value, 0, 1), status("completed"))
        return a_message(data(value))

    return chosen(answer)


AREA = Area(
    "cards",
    "Hostile Cards",
    (
        "Whatever a Card and a value are, a call ends in time with its exact code, and honest calls beside it succeed.",
        "No schema work and no reading of a body keeps a unit's event loop for more than 50 ms of processor time, as a"
        " probe of /livez sees it.",
        "Memory of a unit rises by at most 32 MiB, and what a Router keeps of Cards stays within its setting.",
    ),
    run,
    alone=True,
)
