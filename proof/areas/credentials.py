"""Credentials: every attack at once among honest requests, replays in a crowd, and a replay memory that is full."""

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from aop.agent import ReplayMemory
from aop.agent.check.attacks import attacks
from aop.agent.guard.replay import MAX_LIVE
from aop.agent.testing import SignedRequest
from aop.base.ids import new_id
from aop.net.http import HttpClient
from proof.area import Area, Figure, Findings, Run, proves
from proof.gauges import resident_mib
from tests.agent.agents import REJECTIONS, RunningAgent, Watched, running_agent
from tests.agent.samples import SAMPLES, running_sample

AT_ONCE = 48
QUERY = {"jsonrpc": "2.0", "id": "1", "method": "tasks/get", "params": {"id": "none", "historyLength": 1}}
"""A good request that asks little of any Agent."""
KIT = "kit"
"""The one whose application tells what it was given."""
_TTL_SECONDS, _PIECE, _NOW = 60, 50_000, 2_000_000_000


@asynccontextmanager
async def attacked_agents(folder: Path) -> AsyncIterator[dict[str, RunningAgent]]:
    client = HttpClient(idle_seconds=2, connect_seconds=20)
    async with AsyncExitStack() as opened:
        opened.push_async_callback(client.close)
        for name in (KIT, *SAMPLES):
            (folder / name).mkdir()
        agents = {KIT: await opened.enter_async_context(running_agent(folder / KIT))}
        for name in SAMPLES:
            sample = opened.enter_context(running_sample(name, folder / name))
            agents[name] = RunningAgent(Watched(), sample.router, sample.port, client)
        yield agents


async def prove(run: Run) -> Findings:
    found = Findings()
    async with attacked_agents(run.folder) as agents:
        for name, agent in agents.items():
            for _ in range(run.pick(1, 20)):
                await _besiege(name, agent, run.random, found)
            for crowd in _crowds(run, name):
                await _replay(name, agent, crowd, found)
            run.say(f"{name}: done")
    if run.full:
        with ProcessPoolExecutor(1, get_context("spawn")) as other:
            filled = await asyncio.get_running_loop().run_in_executor(other, fill)
        found.broken += filled.broken
        found.figures += filled.figures
    return found


def _crowds(run: Run, name: str) -> list[int]:
    large = run.full or name == KIT
    return [50] * run.pick(1, 10) + [1000] * (run.pick(1, 5) if large else 0)


@proves(
    "Every attack of the table, sent among honest requests, gets the fixed rejection from an Agent on"
    " `aop.agent` and from every sample Agent, starts nothing and uses up nobody's credential."
)
async def _besiege(name: str, agent: RunningAgent, chance: random.Random, found: Findings) -> None:
    """Each attack beside the honest request it was made from, in any order, many at a time."""
    sends: list[tuple[str, int, SignedRequest]] = []
    for attack in attacks():
        draft = agent.router.draft(QUERY, parent="inv_parent")
        sends += [(attack.name, attack.status, attack.make(draft)), ("honest", 200, draft.signed())]
    chance.shuffle(sends)
    started = len(agent.app.bodies)
    gate = asyncio.Semaphore(AT_ONCE)

    async def send(attack: str, status: int, request: SignedRequest) -> None:
        async with gate:
            answer = await agent.send(request)
        found.hits["honest requests" if status == 200 else f"attacks answered {status}"] += 1
        right = answer.status == status and (status == 200 or answer.body == REJECTIONS[status])
        found.require(right, f"{name}, {attack}: {answer.status}")

    await asyncio.gather(*(send(*each) for each in sends))
    if name == KIT:
        honest = sum(status == 200 for _, status, _ in sends)
        found.require(len(agent.app.bodies) - started == honest, f"{name}: an attack started something")


@proves("Of 50 and of 1,000 presentations of one credential at once exactly one is accepted.")
async def _replay(name: str, agent: RunningAgent, crowd: int, found: Findings) -> None:
    """One credential, many connections, one moment."""
    request = agent.router.request(QUERY)
    started = len(agent.app.bodies)
    answers = await asyncio.gather(*(agent.send(request) for _ in range(crowd)))
    statuses = Counter(answer.status for answer in answers)
    found.hits[f"{crowd} at once"] += 1
    found.require(statuses == {200: 1, 401: crowd - 1}, f"{name}: of {crowd} at once {dict(statuses)}")
    bodies = {answer.body for answer in answers if answer.status == 401}
    found.require(bodies == {REJECTIONS[401]}, f"{name}: a replay is answered with more than the fixed rejection")
    if name == KIT:
        found.require(len(agent.app.bodies) == started + 1, f"{name}: a replay started something")


@dataclass
class _Timed:
    memory: ReplayMemory = field(default_factory=ReplayMemory)
    seconds: float = 0.0
    slowest: float = 0.0

    def admits(self, jti: str, expires: int, now: int) -> bool:
        began = time.perf_counter()
        admitted = self.memory.admits(jti, expires, now)
        took = time.perf_counter() - began
        self.seconds += took
        self.slowest = max(self.slowest, took)
        return admitted


@proves(
    "A million live ids cost bounded memory, the millionth costs what the first did, and a full memory admits"
    " nothing rather than forgetting one."
)
def fill() -> Findings:
    """A minute of credentials as fast as they can come: each lives its minute, so all are alive together.

    Full, the memory forgets nothing; once all have expired, dropping them is spread over later calls.
    """
    found, timed, costs, refused = Findings(), _Timed(), list[float](), 0
    before = resident_mib(os.getpid())
    for start in range(0, MAX_LIVE, _PIECE):
        timed.seconds = 0.0
        for number in range(start, start + _PIECE):
            refused += not timed.admits(new_id("jti"), _NOW + 1 + _TTL_SECONDS * number // MAX_LIVE, _NOW)
        costs.append(timed.seconds / _PIECE)
    live, held = len(timed.memory), resident_mib(os.getpid()) - before
    found.require(not refused, "a fresh id was refused before the memory was full")
    found.require(not timed.admits("one more", _NOW + _TTL_SECONDS, _NOW), "a full memory admitted one more")
    filling, timed.slowest = timed.slowest, 0.0
    later, calls, repeated = _NOW + _TTL_SECONDS + 1, 0, 0
    while len(timed.memory) > calls:
        timed.admits(f"later {calls}", later + _TTL_SECONDS, later)
        calls += 1
        repeated += timed.memory.admits("later 0", later + _TTL_SECONDS, later)
    found.require(not repeated, "an id was admitted twice while others were being dropped")
    found.figures += [
        Figure("live ids in the replay memory", live, at_least=1_000_000),
        Figure("memory for each live id", round(held * 2**20 / live), "bytes", at_most=400),
        Figure("cost of the last against the first", round(min(costs[-4:]) / min(costs[:4]), 2), at_most=4),
        Figure("the slowest admission", round(filling * 1e3, 1), "ms", at_most=500),
        Figure("the slowest admission while all expire", round(timed.slowest * 1e3, 1), "ms", at_most=500),
    ]
    return found


AREA = Area("credentials", "Credentials", prove, (_besiege, _replay, fill))
