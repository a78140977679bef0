"""Area `readers`: slow readers of every large answer and holders of idle connections, beside honest callers."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from proof.area import Area, Figure, Findings, Run, proves
from proof.callers.attackers import SEGMENTS, SMALL_WINDOW, Attacker, Fate, attack
from proof.callers.rests import dies, rest_at, rests, steady
from proof.gauges import descriptors, memory_rise
from proof.world import Plan, World, world_of
from tests.support.cards import a_skill
from tests.support.loop import agent_card, published
from tests.support.waiting import background

_MAX_RISE_MIB = 64.0
_CUT_SECONDS = 40.0
_ANONYMOUS_SLOTS = 64
_MAX_CONNECTIONS = 400
_TAKING = ((2048, SMALL_WINDOW), (6144, SEGMENTS))
"""What readers take by turns: little through the smallest window, and more in segments as on a network."""
_SHARE = "public share"
_LIVEZ = b"GET /livez HTTP/1.1\r\nhost: a\r\n\r\n"


@dataclass(frozen=True)
class Scale:
    versions: int
    readers: int
    seconds: float


_QUICK, _FULL = Scale(6, 80, 4.0), Scale(100, 200, 55.0)


async def run(run: Run) -> Findings:
    scale, found = _FULL if run.full else _QUICK, Findings()
    plan = Plan(control_plane={"PLATFORM_MAX_CONNECTIONS": str(_MAX_CONNECTIONS)})
    async with world_of(run, plan) as made:
        run.say(f"{scale.versions} versions of 1 MiB")
        paths = await _large_answers(made, scale.versions)
        run.say(f"{scale.readers} slow readers of the public share")
        share = _asking(made, paths.pop(_SHARE), anonymous=True)
        await _attack(found, made, _SHARE, [share] * scale.readers, scale.seconds)
        run.say(f"slow readers of {', '.join(paths)}")
        others = [_asking(made, path, anonymous=False) for path in paths.values() for _ in range(scale.readers // 8)]
        await _attack(found, made, "other answers", others, scale.seconds)
        await _flood(found, made)
        if run.full:
            found.require("connections.slow_reader" in made.control_plane.said, "the unit itself cut no slow reader")
        records = made.control_plane.said.count('"event":"connections.idle_closed"')
        found.require(0 < records < 60, f"{records} records say that idle connections were closed")
    await rests(run, found)
    return found


async def _large_answers(made: World, versions: int) -> dict[str, str]:
    """Each route with a large answer, the public one first."""
    big = {"type": "object", "description": "x" * 63_000}
    skills = [a_skill(f"s{number}", inputSchema=big, outputSchema=big) for number in range(8)]
    for number in range(versions):
        card = agent_card(made.agent, agent_id="acme:large", version=f"1.{number}.0", skills=skills)
        await published(made.first.catalog, card)
    overview = (await made.first.gateway.get("/v1/agents/acme:large?limit=1", token=made.first.token)).json
    return {
        _SHARE: f"/v1/public/agents/{overview['publicAgentId']}?limit=100",
        "Discovery": "/v1/agents?limit=100",
        "Agent overview": "/v1/agents/acme:large?limit=100",
        "exact Card": "/v1/agents/acme:large/versions/1.0.0",
    }


def _asking(made: World, path: str, *, anonymous: bool) -> bytes:
    token = "" if anonymous else f"authorization: Bearer {made.first.token}\r\n"
    return f"GET {path} HTTP/1.1\r\nhost: a\r\n{token}\r\n".encode()


@proves(
    "Readers without a token who take 2 KB every half second of the public share, with Cards of 1 MiB, cost"
    " the Control Plane at most 64 MiB, and at most 64 of them are served at once."
)
async def _attack(found: Findings, made: World, name: str, requests: Sequence[bytes], seconds: float) -> None:
    begun = len(made.control_plane.said)
    async with memory_rise(made.control_plane.pid) as rise, _honest(made) as failed:
        readers = await _trickle(made.first.gateway.port, requests, seconds)
    reading = [reader for reader in readers if not reader.status.startswith("HTTP/1.1 503")]
    found.hits[f"slow readers of the {name}"] += len(reading)
    found.require(not failed, f"honest calls beside the {name} failed: {failed[:3]}")
    bound = _MAX_RISE_MIB if name == _SHARE else None
    found.figures.append(
        Figure(f"memory for {len(readers)} slow readers of the {name}", rise.mib, "MiB", at_most=bound)
    )
    if name == _SHARE:
        found.figures.append(Figure("of them served at once", len(reading), at_most=_ANONYMOUS_SLOTS))
    if seconds > _CUT_SECONDS:
        _judge_cuts(found, name, reading, made.control_plane.said[begun:])


@proves("A reader of any large answer that takes fewer than 480 KiB in 30 s is cut after 30 s.")
def _judge_cuts(found: Findings, name: str, reading: Sequence[Fate], records: str) -> None:
    """By the unit's own records: a reader that was cut still takes what lies in the buffers of its own system."""
    left = sum(not reader.cut for reader in reading)
    found.require(not left, f"{left} slow readers of the {name} were not cut")
    lines = [json.loads(line) for line in records.splitlines() if '"event":"request"' in line]
    slowest = max(line["milliseconds"] for line in lines if line["method"] == "GET") / 1000
    found.figures.append(Figure(f"longest answer to a slow reader of the {name}", slowest, "s", at_most=_CUT_SECONDS))


@asynccontextmanager
async def _honest(made: World) -> AsyncIterator[list[bytes]]:
    """Calls one after the other on one connection; gives those that were not answered as they should be."""
    failed: list[bytes] = []

    async def call() -> None:
        while True:
            reply = await made.invoke(a=1)
            if reply.status != 200:
                failed.append(reply.body)
            await asyncio.sleep(0.05)

    async with background(call()):
        yield failed


@proves("At the limit of connections the longest idle one gives way: new callers are served, others do not notice.")
async def _flood(found: Findings, made: World) -> None:
    """Idle connections beyond the limit, from one peer: new callers are served, and descriptors stay bounded."""
    pid, held = made.control_plane.pid, list[socket.socket]()
    usual = descriptors(pid)
    try:
        async with _honest(made) as failed:
            for _ in range(_MAX_CONNECTIONS + 100):
                held.append(await asyncio.to_thread(_idle, made.first.gateway.port))
            peak = descriptors(pid)
        found.hits["idle connections"] += len(held)
        found.require(not failed, f"honest calls beside idle connections failed: {failed[:3]}")
        found.figures.append(Figure("descriptors under idle connections", peak, at_most=usual + _MAX_CONNECTIONS + 40))
    finally:
        for one in held:
            one.close()


def _idle(port: int) -> socket.socket:
    one = socket.create_connection(("127.0.0.1", port), timeout=5)
    one.sendall(_LIVEZ)
    if not one.recv(500).startswith(b"HTTP/1.1 200"):
        raise AssertionError("a new caller was not served")
    return one


async def _trickle(port: int, requests: Sequence[bytes], seconds: float) -> list[Fate]:
    """One reader for each request, all at once, for so long."""
    readers = [
        Attacker(request, port, False, *_TAKING[number % 2], tick=0.5) for number, request in enumerate(requests)
    ]
    return await asyncio.gather(*(attack(reader, time.monotonic() + seconds) for reader in readers))


AREA = Area("readers", "Slow readers and idle connections", run, (_attack, _judge_cuts, _flood, rest_at, steady, dies))
