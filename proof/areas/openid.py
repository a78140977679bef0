"""Area `openid`: the key server of an OpenID provider fails in every way, beside callers whose keys are known."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from proof.area import Area, Figure, Findings, Run, proves
from tests.support.openid import Issuer, ScriptedMonotonic, a_token, gateway_with, usual_keys
from tests.support.peers import Behaviour, hold, reset, unending
from tests.support.units import RunningUnit

_FETCH_SECONDS, _GRACE_SECONDS = 5.0, 1.0
_REFRESH_SECONDS, _OUTAGE_SECONDS, _LIFE_SECONDS = 61, 2, 601
_KEYS = json.dumps({"keys": usual_keys()}).encode()
_LASTING = frozenset({"silence", "trickle"})
"""Outages that last until the fetch is given up."""


def _says(body: bytes, status: int = 200) -> Behaviour:
    return lambda received: received.answer(body, status)


def _sends(piece: bytes, length: int) -> Behaviour:
    """A body in pieces like this."""
    return unending(b"HTTP/1.1 200 Said\r\ncontent-length: %d\r\n\r\n" % length, piece, 0.05)


_OUTAGES: Mapping[str, Behaviour] = {
    "silence": hold,
    "trickle": _sends(b" ", 250_000),
    "reset": reset,
    "fault": _says(_KEYS, 500),
    "no JSON": _says(b"<html>"),
    "no key set": _says(b'{"keys": 5}'),
    "endless": _sends(b" " * 65536, 1 << 40),
    "gone": reset,
}


@asynccontextmanager
async def failing(provider: Issuer, outage: str) -> AsyncIterator[None]:
    provider.does = _OUTAGES[outage]
    if outage == "gone":
        await provider.aclose()
    yield
    if outage == "gone":
        await provider.__aenter__()
    provider.does = None


@dataclass
class Scene:
    gateway: RunningUnit
    provider: Issuer
    monotonic: ScriptedMonotonic
    found: Findings
    known_seconds: float = 0.0
    waiting_seconds: float = 0.0

    async def call(self, key_id: str = "ed") -> tuple[int, float]:
        begun = time.monotonic()
        reply = await self.gateway.get("/v1/status", token=a_token(header={"kid": key_id}))
        return reply.status, time.monotonic() - begun


async def run(run: Run) -> Findings:
    found, monotonic = Findings(), ScriptedMonotonic()
    async with (
        run.stores() as (stores, _),
        Issuer() as provider,
        gateway_with(stores, provider.port, monotonic) as gateway,
    ):
        scene = Scene(gateway, provider, monotonic, found)
        await _recovered(scene)
        for outage in run.random.sample([*_OUTAGES] * run.pick(1, 5), run.pick(1, 5) * len(_OUTAGES)):
            run.say(outage)
            async with failing(provider, outage):
                await _known_beside_unknown(scene, outage, run.pick(20, 200))
                await _nobody_known(scene, outage, run.pick(20, 200))
            await _recovered(scene)
    # The quick form runs beside other areas, where only the order counts.
    bound, waiting = (_FETCH_SECONDS / 2, _FETCH_SECONDS + _GRACE_SECONDS) if run.full else (None, None)
    found.figures += [
        Figure("slowest call with a known key during an outage", scene.known_seconds, "s", at_most=bound),
        Figure("slowest answer to who needed new keys", scene.waiting_seconds, "s", at_most=waiting),
    ]
    return found


@proves("Whatever its key server does, callers whose key is known and fresh are served and never wait for it.")
async def _known_beside_unknown(scene: Scene, outage: str, callers: int) -> None:
    found = scene.found
    scene.monotonic.advance(_REFRESH_SECONDS)
    before = scene.provider.requests
    strangers = [asyncio.create_task(scene.call(f"made-up-{number}")) for number in range(callers)]
    await asyncio.sleep(0.1)  # the fetch has begun, and in a short outage has failed
    for status, seconds in await asyncio.gather(*(scene.call() for _ in range(callers))):
        found.require(status == 200, f"{outage}: a caller with a known key got {status}")
        scene.known_seconds = max(scene.known_seconds, seconds)
    if outage in _LASTING:
        answered = any(stranger.done() for stranger in strangers)
        found.require(not answered, f"{outage}: callers with a known key waited for the fetch")
    _judge(scene, outage, await asyncio.gather(*strangers))
    fetches = scene.provider.requests - before
    found.require(fetches <= 1, f"{outage}: the key server was asked {fetches} times")
    found.hits[f"{outage}, keys known"] += outage == "gone" or fetches > 0


@proves("Callers who need new keys are answered together within the time of one fetch, with DEPENDENCY_ERROR.")
async def _nobody_known(scene: Scene, outage: str, callers: int) -> None:
    """The keys are over, and their server still fails: all wait together."""
    scene.monotonic.advance(_LIFE_SECONDS)
    before = scene.provider.requests
    _judge(scene, outage, await asyncio.gather(*(scene.call() for _ in range(callers))))
    scene.found.hits[f"{outage}, keys over"] += outage == "gone" or scene.provider.requests > before


def _judge(scene: Scene, outage: str, answers: list[tuple[int, float]]) -> None:
    odd = {status for status, _ in answers} - {503}
    scene.found.require(not odd, f"{outage}: callers who need new keys got {sorted(odd)}")
    scene.waiting_seconds = max([scene.waiting_seconds, *(seconds for _, seconds in answers)])


@proves("A made-up key id costs at most one fetch a minute, and a provider that is back is believed at once.")
async def _recovered(scene: Scene) -> None:
    scene.monotonic.advance(_OUTAGE_SECONDS)
    status, _ = await scene.call()
    scene.found.require(status == 200, f"after an outage a good token got {status}")


AREA = Area(
    "openid", "An OpenID provider that fails", run, (_known_beside_unknown, _nobody_known, _recovered), alone=True
)
