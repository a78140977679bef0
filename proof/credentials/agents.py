"""Every Agent an attack can be sent to: the kit around an application that counts, and each sample as a program."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aop.agent.testing import SignedRequest, SignedRouter
from aop.net.http import Answer, HttpClient
from tests.agent.agents import Watched, ask, running_agent
from tests.agent.samples import SAMPLES, running_sample

QUERY = {"jsonrpc": "2.0", "id": "1", "method": "tasks/get", "params": {"id": "none", "historyLength": 1}}
"""A good request that asks little of any Agent."""


@dataclass(frozen=True)
class Attacked:
    name: str
    router: SignedRouter
    port: int
    client: HttpClient
    started: Watched | None = None
    """What its application was given; only the kit's own can tell."""

    async def send(self, request: SignedRequest) -> Answer:
        return await ask(self.client, self.port, "POST", "/", request.headers, request.body)


@asynccontextmanager
async def attacked_agents(folder: Path) -> AsyncIterator[list[Attacked]]:
    client = HttpClient(idle_seconds=2, connect_seconds=20)
    async with AsyncExitStack() as opened:
        opened.push_async_callback(client.close)
        proofs = folder / "kit"
        proofs.mkdir()
        kit = await opened.enter_async_context(running_agent(proofs))
        agents = [Attacked("kit", kit.router, kit.port, client, kit.app)]
        for name in SAMPLES:
            (folder / name).mkdir()
            sample = opened.enter_context(running_sample(name, folder / name))
            agents.append(Attacked(name, sample.router, sample.port, client))
        yield agents
