"""Credentials: every attack at once among honest requests, replays in a crowd, and a replay memory that is full."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aop.agent.attacks import attacks
from aop.agent.testing import Draft, SignedRequest, SignedRouter
from aop.net.http import Answer, HttpClient
from proof.area import Area, Figure, Findings, Run, program, proves
from tests.agent.agents import REJECTIONS, Watched, ask, running_agent
from tests.agent.samples import SAMPLES, running_sample

AT_ONCE = 48
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


async def prove(run: Run) -> Findings:
    found = Findings()
    async with attacked_agents(run.folder) as agents:
        for agent in agents:
            for _ in range(run.pick(1, 20)):
                await _besiege(agent, run.random, found)
            for crowd in _crowds(run, agent):
                await _replay(agent, crowd, found)
            run.say(f"{agent.name}: done")
    if run.full:
        await _fill(found)
    return found


def _crowds(run: Run, agent: Attacked) -> list[int]:
    large = run.full or agent.name == "kit"
    return [50] * run.pick(1, 10) + [1000] * (run.pick(1, 5) if large else 0)


@proves(
    "Every attack of the table, sent among honest requests, gets the fixed rejection from the kit and from"
    " every sample Agent, starts nothing and burns nobody's jti."
)
async def _besiege(agent: Attacked, chance: random.Random, found: Findings) -> None:
    """Each attack beside the honest request it was made from, in any order, many at a time."""
    sends: list[tuple[str, int, Draft, SignedRequest]] = []
    for attack in attacks():
        draft = agent.router.draft(QUERY, parent="inv_parent")
        sends += [(attack.name, attack.status, draft, attack.make(draft)), ("honest", 200, draft, draft.signed())]
    chance.shuffle(sends)
    started = len(agent.started.bodies) if agent.started else 0
    gate = asyncio.Semaphore(AT_ONCE)

    async def send(name: str, status: int, request: SignedRequest) -> None:
        async with gate:
            answer = await agent.send(request)
        found.hits["honest requests" if status == 200 else f"attacks answered {status}"] += 1
        right = answer.status == status and (status == 200 or answer.body == REJECTIONS[status])
        found.require(right, f"{agent.name}, {name}: {answer.status}")

    await asyncio.gather(*(send(name, status, request) for name, status, _, request in sends))
    if agent.started:
        honest = sum(status == 200 for _, status, _, _ in sends)
        found.require(len(agent.started.bodies) - started == honest, f"{agent.name}: an attack started something")


@proves("Of 50 and of 1,000 presentations of one credential at once exactly one is accepted.")
async def _replay(agent: Attacked, crowd: int, found: Findings) -> None:
    """One credential, many connections, one moment."""
    request = agent.router.request(QUERY)
    started = len(agent.started.bodies) if agent.started else 0
    answers = await asyncio.gather(*(agent.send(request) for _ in range(crowd)))
    statuses = Counter(answer.status for answer in answers)
    found.hits[f"{crowd} at once"] += 1
    found.require(statuses == {200: 1, 401: crowd - 1}, f"{agent.name}: of {crowd} at once {dict(statuses)}")
    bodies = {answer.body for answer in answers if answer.status == 401}
    found.require(bodies == {REJECTIONS[401]}, f"{agent.name}: a replay is answered with more than the fixed rejection")
    if agent.started:
        found.require(len(agent.started.bodies) == started + 1, f"{agent.name}: a replay started something")


@proves(
    "A million live ids cost bounded memory, the millionth costs what the first did, and a full memory admits"
    " nothing rather than forgetting one."
)
async def _fill(found: Findings) -> None:
    figures = json.loads(await program("proof.credentials.replay_figures"))
    found.hits["live ids"] = int(figures["live ids"])
    found.require(not figures["refused before it was full"], "a fresh id was refused before the memory was full")
    found.require(not figures["admitted when full"], "a full memory admitted one more")
    found.require(not figures["admitted twice"], "an id was admitted twice while others were being dropped")
    first, last = figures["first microseconds"], figures["last microseconds"]
    dropping = figures["slowest dropping milliseconds"]
    found.figures += [
        Figure("live ids in the replay memory", figures["live ids"], at_least=1_000_000),
        Figure("memory for each live id", round(figures["bytes each"]), "bytes", at_most=400),
        Figure("one admission, the first ids", round(first, 2), "µs"),
        Figure("one admission, the millionth id", round(last, 2), "µs"),
        Figure("cost of the last against the first", round(last / first, 2), at_most=4),
        Figure("the slowest admission", round(figures["slowest milliseconds"], 1), "ms", at_most=500),
        Figure("the slowest admission while all expire", round(dropping, 1), "ms", at_most=500),
    ]


AREA = Area("credentials", "Credentials", prove, (_besiege, _replay, _fill))
