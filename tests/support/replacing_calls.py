"""Two Agents under calls, one of which calls the other, while their Installations are replaced again and again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aop.agent import AgentContext
from aop.local.state import DatabaseUrls
from tests.support.loop import CAPABILITY, SPACE, Changes, Platform, agent_card, published, running_platform
from tests.support.nested import ANY_PORT, Crew, running_crew
from tests.support.units import Reply
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.watch_proxy import WatchProxy, watch_proxy

VERSIONS = ("1.0.0", "2.0.0")
COLD = {"PLATFORM_ROUTER_CARD_CACHE_BYTES": "2"}
"""So small that no Card stays in it: the Router asks for the Card of every call."""


@dataclass(frozen=True)
class _Reached:
    """The version an Agent ran with, and what the replacements were when its call began and when it had ended."""

    version: str
    before: int
    after: int


@dataclass
class Replaced:
    """One of the Agents. `moves` counts the steps of all replacements: an odd number means that one is under way."""

    agent_id: str
    releases: dict[str, str]
    installation_id: str
    history: list[str] = field(default_factory=lambda: [VERSIONS[0]])
    moves: int = 0

    def permitted(self, reached: _Reached) -> set[str]:
        """The versions that were current at some time between the beginning and the end of the call."""
        return set(self.history[reached.before // 2 : (reached.after + 1) // 2 + 1])


@dataclass
class ReplacingCalls:
    platform: Platform
    crew: Crew
    line: WatchProxy
    planner: Replaced
    worker: Replaced
    answered: int = 0
    problems: list[str] = field(default_factory=list)

    async def call(self) -> None:
        """A call of the one Agent, which calls the other; both must run on a Release that was current meanwhile."""
        before = self.planner.moves, self.worker.moves
        reply = await self.platform.invoke(agentId=self.planner.agent_id)
        self.answered += 1
        if reply.status != 200:
            self.problems.append(f"refused: {reply.status} {reply.json.get('code')} {reply.json.get('reason')}")
            return
        ran: dict[str, Any] = reply.json["result"]
        for agent, began in zip((self.planner, self.worker), before, strict=True):
            version, release = ran[agent.agent_id]
            reached = _Reached(version, began, agent.moves)
            permitted = agent.permitted(reached)
            if version not in permitted or agent.releases[version] != release:
                self.problems.append(f"{agent.agent_id} ran on {version} {release}, permitted {permitted}")

    async def replace(self, agent: Replaced) -> None:
        """By its other version. An answer other than 201 is a problem."""
        target = VERSIONS[VERSIONS.index(agent.history[-1]) - 1]
        body = {"agentId": agent.agent_id, "versionConstraint": target, "acceptedPermissions": []}
        agent.history.append(target)
        agent.moves += 1
        reply = await self._install({**body, "replaces": agent.installation_id})
        agent.moves += 1
        if reply.status != 201:
            self.problems.append(f"not replaced: {reply.status} {reply.body.decode()}")
            return
        agent.installation_id = reply.json["installationId"]

    async def replace_many(self, number: int, between: Callable[[], Awaitable[None]]) -> None:
        for count in range(number):
            await self.replace((self.planner, self.worker)[count % 2])
            await between()

    async def more_answers(self, number: int) -> None:
        """Waits until so many further calls were answered."""
        wanted = self.answered + number
        async with asyncio.timeout(PATIENCE_SECONDS):
            while self.answered < wanted:  # noqa: ASYNC110  callers tell nobody
                await asyncio.sleep(0.005)

    async def _install(self, body: dict[str, Any]) -> Reply:
        return await self.platform.owner.ask("POST", f"/{SPACE}/installations", body)


@asynccontextmanager
async def replacing_calls(stores: DatabaseUrls, **router: str) -> AsyncIterator[ReplacingCalls]:
    hosts = {"PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON": ANY_PORT}
    async with watch_proxy(0) as line:
        changes = Changes(control_plane=hosts, router={**hosts, **router}, line=line)
        async with running_platform(stores, changes) as platform, running_crew(platform) as crew:

            async def work(context: AgentContext, _: Any) -> Any:
                return {context.agent_id: (context.agent_version, context.release_id)}

            async def plan(context: AgentContext, _: Any) -> Any:
                inner = await context.call(worker.agent_id, CAPABILITY, {})
                return {context.agent_id: (context.agent_version, context.release_id), **inner}

            worker, planner = [await _hired(platform, crew, act) for act in (work, plan)]
            yield ReplacingCalls(platform, crew, line, planner, worker)


async def _hired(platform: Platform, crew: Crew, act: Callable[[AgentContext, Any], Awaitable[Any]]) -> Replaced:
    """With its first version installed and its second one published."""
    agent_id = await crew.hire(act, version=VERSIONS[0])
    listed = await platform.owner.page(f"/{SPACE}/installations")
    (installed,) = [item for item in listed["items"] if item["agentId"] == agent_id]
    protocol = {"type": "a2a", "version": "0.3.0", "transport": "JSONRPC", "endpoint": crew.url}
    second = await published(
        platform.catalog, agent_card(platform.agent, agent_id=agent_id, version=VERSIONS[1], protocol=protocol)
    )
    await platform.sees(second, "published")
    releases = {VERSIONS[0]: installed["installedReleaseId"], VERSIONS[1]: second.release_id}
    return Replaced(agent_id, releases, installed["installationId"])
