"""The tools of a Workspace as one caller may see them now, and for a moment after that."""

import asyncio
from dataclasses import dataclass
from typing import Final

from aop.base.recent import RecentlyUsed, TtlCache
from aop.contracts.card import AgentCard
from aop.door.gateway import DoorCaller
from aop.door.installed import FRESH_SECONDS, InstalledAgent
from aop.door.mcp.tools import SkillTool, named_tools, skill_tools

_TOOL_BYTES: Final = 64 * 1024 * 1024
_IN_LOOP_BYTES: Final = 8 * 1024
"""Schemas of one Card that are made into tools at once; longer ones would hold up the loop."""
_WORK_BYTES: Final = 2048
"""What a tool takes in memory in addition to the text that describes it."""

_ReleaseKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Catalog:
    """Tools by name, in the order of their names."""

    tools: dict[str, SkillTool]

    @property
    def state(self) -> frozenset[tuple[str, str]]:
        """Equal as long as hosts need not read the list again."""
        return frozenset((name, tool.release_id) for name, tool in self.tools.items())


class Catalogs:
    """Reads catalogs; what it remembers of them belongs to the bearer and Workspace that they were read for."""

    def __init__(self) -> None:
        self._tools: RecentlyUsed[_ReleaseKey, tuple[SkillTool, ...]] = RecentlyUsed(_TOOL_BYTES)
        self._recent: TtlCache[tuple[bytes, str], Catalog] = TtlCache(FRESH_SECONDS)
        self._making = asyncio.Lock()

    async def read(self, caller: DoorCaller) -> Catalog:
        """As it is now; a GatewayFault for a caller who may not see the Workspace."""
        installed = await caller.installed()
        catalog = Catalog(named_tools([(agent, await self._tools_of(agent)) for agent in installed]))
        self._recent.keep(caller.key, catalog, asyncio.get_running_loop().time())
        return catalog

    async def recent(self, caller: DoorCaller) -> Catalog:
        """Perhaps as it was a moment ago."""
        return self._remembered(caller) or await self.read(caller)

    async def find(self, caller: DoorCaller, name: str) -> SkillTool | None:
        """The tool of that name, perhaps as it was a moment ago."""
        known = self._remembered(caller)
        found = None if known is None else known.tools.get(name)
        return found if found is not None else (await self.read(caller)).tools.get(name)

    def forget(self, caller: DoorCaller) -> None:
        """The Gateway has just contradicted what is remembered."""
        self._recent.forget(caller.key)

    def _remembered(self, caller: DoorCaller) -> Catalog | None:
        return self._recent.find(caller.key, asyncio.get_running_loop().time())

    async def _tools_of(self, agent: InstalledAgent) -> tuple[SkillTool, ...]:
        release_id = agent.installation.installed_release_id
        key = (agent.card.agent_id, agent.card.version, release_id)
        found = self._tools.find(key)
        if found is None:
            found = await self._made(agent.card, release_id)
            self._tools.keep(key, found, sum(len(tool.described) + _WORK_BYTES for tool in found))
        return found

    async def _made(self, card: AgentCard, release_id: str) -> tuple[SkillTool, ...]:
        size = sum(len(skill.input_schema) + len(skill.output_schema) for skill in card.skills)
        if size <= _IN_LOOP_BYTES:
            return skill_tools(card, release_id)
        async with self._making:
            return await asyncio.to_thread(skill_tools, card, release_id)
