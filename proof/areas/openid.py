"""Area `openid`: the key server of an OpenID provider fails in every way, beside callers whose keys are known."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from proof.area import Area, Figure, Findings, Run, proves
from tests.support.openid import ScriptedMonotonic, a_token, gateway_with, usual_keys
from tests.support.units import RunningUnit

_LASTING = {"silence": b"", "trickle": b" "}
"""Outages that last until the fetch is given up, and what is sent meanwhile."""
_OUTAGES = (*_LASTING, "reset", "fault", "no JSON", "no key set", "endless", "gone")
_FETCH_SECONDS, _GRACE_SECONDS = 5.0, 1.0
_REFRESH_SECONDS, _OUTAGE_SECONDS, _LIFE_SECONDS = 61, 2, 601
_HEAD = b"HTTP/1.1 %d x\r\ncontent-length: %d\r\n\r\n"


class Provider:
    """A key server that answers as its mode says; `requests` counts those that reached it."""

    def __init__(self) -> None:
        self.mode = "well"
        self.port = 0
        self.requests = 0
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.StreamWriter] = set()

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def leave(self) -> None:
        """From here on nobody listens at its address."""
        if self._server is not None:
            self._server.close()
        for writer in self._connections:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                self.requests += 1
                await self._answer(writer, self.mode)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._connections.discard(writer)
            writer.transport.abort()

    async def _answer(self, writer: asyncio.StreamWriter, mode: str) -> None:
        keys = json.dumps({"keys": usual_keys()}).encode()
        bodies = {"well": keys, "fault": keys, "no JSON": b"<html>", "no key set": b'{"keys": 5}'}
        if mode == "reset":
            raise ConnectionResetError
        if mode in bodies:
            writer.write(_HEAD % (500 if mode == "fault" else 200, len(bodies[mode])) + bodies[mode])
            return
        writer.write(b"" if mode == "silence" else _HEAD % (200, 250_000 if mode == "trickle" else 1 << 40))
        while True:  # until the other side has had enough
            writer.write(_LASTING.get(mode, b" " * 65536))
            await writer.drain()
            await asyncio.sleep(0.05)


@asynccontextmanager
async def _running_provider() -> AsyncIterator[Provider]:
    provider = Provider()
    await provider.listen()
    try:
        yield provider
    finally:
        provider.leave()


@dataclass
class Scene:
    gateway: RunningUnit
    provider: Provider
    monotonic: ScriptedMonotonic
    found: Findings
    known_seconds: float = 0.0
    waiting_seconds: float = 0.0

    async def call(self, key_id: str = "ed") -> tuple[int, float]:
        begun = time.monotonic()
        reply = await self.gateway.get("/v1/status", token=a_token(header={"kid": key_id}))
        return reply.status, time.monotonic() - begun

    def begin(self, outage: str) -> None:
        self.provider.mode = outage
        if outage == "gone":
            self.provider.leave()

    async def end_outage(self) -> None:
        if self.provider.mode == "gone":
            await self.provider.listen()
        self.provider.mode = "well"


async def run(run: Run) -> Findings:
    found, monotonic = Findings(), ScriptedMonotonic()
    async with (
        run.stores() as (stores, _),
        _running_provider() as provider,
        gateway_with(stores, provider.port, monotonic) as gateway,
    ):
        scene = Scene(gateway, provider, monotonic, found)
        for _ in range(run.pick(1, 5)):
            for outage in run.random.sample(_OUTAGES, len(_OUTAGES)):
                run.say(outage)
                await _known_beside_unknown(scene, outage, run.pick(20, 200))
                await _nobody_known(scene, outage, run.pick(20, 200))
        await _recovered(scene)
    # The quick form runs beside other tests, where only the order counts.
    bound, waiting = (_FETCH_SECONDS / 2, _FETCH_SECONDS + _GRACE_SECONDS) if run.full else (None, None)
    found.figures += [
        Figure("slowest call with a known key during an outage", scene.known_seconds, "s", at_most=bound),
        Figure("slowest answer to who needed new keys", scene.waiting_seconds, "s", at_most=waiting),
    ]
    return found


@proves("Whatever its key server does, callers whose key is known and fresh are served and never wait for it.")
async def _known_beside_unknown(scene: Scene, outage: str, callers: int) -> None:
    found, provider = scene.found, scene.provider
    await _recovered(scene)
    scene.begin(outage)
    scene.monotonic.advance(_REFRESH_SECONDS)
    before = provider.requests
    strangers = [asyncio.create_task(scene.call(f"made-up-{number}")) for number in range(callers)]
    await asyncio.sleep(0.1)  # the fetch has begun, and in a short outage has failed
    for status, seconds in await asyncio.gather(*(scene.call() for _ in range(callers))):
        found.require(status == 200, f"{outage}: a caller with a known key got {status}")
        scene.known_seconds = max(scene.known_seconds, seconds)
    if outage in _LASTING:
        answered = any(stranger.done() for stranger in strangers)
        found.require(not answered, f"{outage}: callers with a known key waited for the fetch")
    _judge(scene, outage, await asyncio.gather(*strangers))
    found.require(
        provider.requests - before <= 1, f"{outage}: the key server was asked {provider.requests - before} times"
    )
    found.hits[f"{outage}, keys known"] += outage == "gone" or provider.requests > before


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
    await scene.end_outage()
    scene.monotonic.advance(_OUTAGE_SECONDS)
    status, _ = await scene.call()
    scene.found.require(status == 200, f"after an outage a good token got {status}")


AREA = Area(
    "openid", "An OpenID provider that fails", run, (_known_beside_unknown, _nobody_known, _recovered), alone=True
)
