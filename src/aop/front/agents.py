"""The Agents that a front serves, by path, and their public pages; what the settings gain while it runs is added."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from aop.a2a.dialect import Dialect
from aop.a2a.v1_0 import ProtoDialect
from aop.agent.guard.card import PUBLIC_CARD_PATH, public_card
from aop.agent.guard.guard import OPEN_PATHS
from aop.agent.server.endpoint import HEALTH_PAGES
from aop.base.settings import SettingsRefused
from aop.contracts.front_settings import Speaks
from aop.front.agent import FrontedAgent, path_of
from aop.front.routes import HttpRoutes
from aop.front.settings import AgentEntry, ReadFrontSettings
from aop.front.upstream import AddressNotUsable, Upstream
from aop.net.policy import Resolver
from aop.serving.edge.request_log import Level, UnitLog
from aop.serving.unit.unit_settings import CannotStart

_PAUSE_SECONDS: Final = 0.5
Reread = Callable[[], ReadFrontSettings]
"""Reads the files again; it blocks."""
_FileStates = tuple[tuple[int, int] | None, ...]


class FrontedAgents:
    """What is served is never changed or taken away while the front runs: calls may be on their way to it."""

    def __init__(self, resolver: Resolver) -> None:
        self.by_path: dict[str, FrontedAgent] = {}
        self.pages: dict[str, bytes] = dict(HEALTH_PAGES)
        self.open_paths: set[str] = set(OPEN_PATHS)
        self._resolver = resolver

    async def add(self, settings: ReadFrontSettings) -> Sequence[FrontedAgent]:
        """Those that are new. CannotStart when the address of one may not be contacted; what came before it stays."""
        added = []
        for behind in settings.agents:
            if path_of(behind.card) in self.by_path:
                continue
            agent = fronted(behind, self._resolver)
            try:
                await agent.upstream.judge()
            except AddressNotUsable as problem:
                await agent.close()
                raise CannotStart(f"{behind.card.agent_id}: its address cannot be used: {problem}") from None
            self._serve(agent, settings.trust.audience)
            added.append(agent)
        if len({behind.card.agent_id for behind in settings.agents}) == 1:
            self.pages[PUBLIC_CARD_PATH] = self.pages[path_of(settings.agents[0].card) + PUBLIC_CARD_PATH]
        else:
            self.pages.pop(PUBLIC_CARD_PATH, None)
        return added

    async def close(self) -> None:
        for agent in self.by_path.values():
            await agent.close()

    def _serve(self, agent: FrontedAgent, origin: str) -> None:
        page = agent.path + PUBLIC_CARD_PATH
        self.pages[page] = msgspec.json.encode(public_card(agent.card, origin))
        self.open_paths.add(page)
        self.by_path[agent.path] = agent


class SettingsWatch:
    """Reads the files again when one has changed, within half a second: a publisher who raised a version waits."""

    def __init__(self, settings: ReadFrontSettings, reread: Reread, agents: FrontedAgents, log: UnitLog) -> None:
        self._started_with = settings
        self._watched = settings.watched
        self._reread = reread
        self._agents = agents
        self._log = log
        # Nothing, because a file may have changed since the settings were read.
        self._seen: _FileStates = ()

    async def turn(self) -> None:
        await asyncio.sleep(_PAUSE_SECONDS)
        seen = await asyncio.to_thread(_states, self._watched)
        if seen == self._seen:
            return
        self._seen = seen
        try:
            await self._add(await asyncio.to_thread(self._reread))
        except (SettingsRefused, CannotStart) as problem:
            self._log.event("front.settings_refused", level=Level.WARNING, cause=str(problem))

    async def _add(self, found: ReadFrontSettings) -> None:
        if found.trust.audience != self._started_with.trust.audience:
            raise CannotStart("/origin is another one: start the front again")
        self._watched = found.watched
        for agent in await self._agents.add(found):
            self._log.event("front.added", cause=f"{agent.card.agent_id} {agent.card.version}")
        for behind in found.agents:
            if self._agents.by_path[path_of(behind.card)].card != behind.card:
                cause = f"{behind.card.agent_id} {behind.card.version}: raise its version, or start the front again"
                self._log.event("front.card_changed", level=Level.WARNING, cause=cause)


def fronted(behind: AgentEntry, resolver: Resolver) -> FrontedAgent:
    speaks = _spoken(behind)
    headers = () if isinstance(speaks, HttpRoutes) else speaks.headers
    upstream = Upstream(behind.endpoint, resolver, behind.headers, behind.tls, headers)
    return FrontedAgent(behind.card, upstream, speaks, behind.forwards_delegation, behind.skill_ids)


def _spoken(behind: AgentEntry) -> Dialect | HttpRoutes:
    if behind.speaks is Speaks.HTTP:
        return HttpRoutes(behind.routes)
    return ProtoDialect(behind.tenant) if behind.speaks is Speaks.A2A_1_0 else Dialect()


def _states(files: Sequence[Path]) -> _FileStates:
    """A folder changes when a file in it comes or goes."""
    return tuple(_state(path) for path in files)


def _state(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino
