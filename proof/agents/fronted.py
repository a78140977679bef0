"""A front as a process of its own, and what hostile Agents behind it do to its memory."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from aop.agent.testing import SignedRouter
from aop.local.ports import any_free_port
from aop.net.http import HttpError
from proof.area import Figure, Findings, proves
from proof.gauges import memory_rise
from tests.agent.served import message
from tests.front.played import PlayedAgent
from tests.front.process import running_front
from tests.front.served import AGENT, SKILL, ServedFront, card_of, settings_of
from tests.support.hostile_agents import Hostile
from tests.support.peers import hold, listening

_TOGETHER = 8
_MAX_OUTPUT = 4 * 1024 * 1024
_MAX_HELD = 8 * 1024 * 1024
_MAX_RISE_MIB = 20.0
_SETTINGS = "front.json"
_METHODS = ("message/send", "message/stream")


@dataclass(frozen=True)
class FrontProcess:
    front: ServedFront
    pid: int
    agent: PlayedAgent

    async def rise(self, hostile: Hostile, method: str) -> float:
        """MiB at the peak of some calls at once."""
        self.agent.behaviour = hostile.stream or hostile.json
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": message({})}

        async def call() -> None:
            with suppress(HttpError):  # how it ends is judged by the tests of the front
                await self.front.post(body, skill=SKILL)

        async with memory_rise(self.pid) as rise:
            await asyncio.gather(*(call() for _ in range(_TOGETHER)))
        return rise.mib


@proves(
    "Eight calls at once to an Agent that is after the memory of the front before it make that rise by at most 20 MiB,"
    " where the front may hold 8 MiB of answers."
)
async def weigh_front(found: Findings, folder: Path, hostile: Sequence[Hostile]) -> None:
    async with front_process(folder, PlayedAgent(hold)) as process:
        rises = [
            (await process.rise(each, method), f"{each.name}, {method}") for each in hostile for method in _METHODS
        ]
    rise, greatest = max(rises)
    name = f"greatest rise of the front's memory ({greatest})"
    found.figures.append(Figure(name, rise, "MiB", at_most=_MAX_RISE_MIB))


@asynccontextmanager
async def front_process(folder: Path, agent: PlayedAgent, **limits: Any) -> AsyncIterator[FrontProcess]:
    """`limits` are further ones of the Card."""
    address = f"127.0.0.1:{any_free_port()}"
    router = SignedRouter.new(f"http://{address}", agent_id=AGENT)
    async with listening(agent.meet) as port:
        card = card_of(router.audience, **{"maxOutputBytes": _MAX_OUTPUT, **limits})
        _write_settings(folder, router, address, {"card": card, "url": f"http://127.0.0.1:{port}/"})
        async with running_front(folder, router, "--settings", _SETTINGS, agent_id=AGENT) as (front, pid):
            yield FrontProcess(front, pid, agent)


def _write_settings(folder: Path, router: SignedRouter, address: str, behind: Mapping[str, object]) -> None:
    folder.mkdir()
    settings = settings_of(
        folder, router, [{**behind, "speaks": "a2a-0.3"}], listen=address, limits={"maxHeldBytes": _MAX_HELD}
    )
    (folder / _SETTINGS).write_bytes(msgspec.json.encode(settings))
