"""What a principal owns: one item per Agent, over all providers, with every version and its state."""

from itertools import groupby
from operator import itemgetter

import msgspec

from aop.base.clock import to_text
from aop.contracts.catalog import NewestRelease, OwnedAgent, OwnedVersion, VersionCounts
from aop.contracts.wire import moment_or_unset, or_unset
from aop.control_plane.pages import ListPage
from aop.control_plane.registry.entries import public_url
from aop.control_plane.registry.store import owned_agents
from aop.control_plane.registry.store.owned_agents import OwnedAgentRow
from aop.store.database import Database
from aop.store.rows import PageSize

Position = tuple[str, ...]
"""The id of an Agent."""


class _Name(msgspec.Struct):
    name: str


_read = msgspec.json.Decoder(_Name).decode


class OwnedAgents:
    def __init__(self, database: Database, public_origin: str) -> None:
        self._database = database
        self._public_origin = public_origin

    async def page(self, owner: str, after: Position | None, size: PageSize) -> ListPage[OwnedAgent, Position]:
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            page = await owned_agents.agents_of(connection, owner, after[0] if after else "", size)
            found = await owned_agents.versions_of(connection, [row.agent_id for row in page.rows])
        versions = {agent_id: tuple(each for _, each in group) for agent_id, group in groupby(found, itemgetter(0))}
        agents = [self._agent(row, versions[row.agent_id]) for row in page.rows]
        return ListPage.of(agents, lambda last: (last.agent_id,), is_last=page.is_last)

    def _agent(self, row: OwnedAgentRow, versions: tuple[OwnedVersion, ...]) -> OwnedAgent:
        return OwnedAgent(
            agent_id=row.agent_id,
            public_agent_id=row.public_agent_id,
            public_url=public_url(self._public_origin, row.public_agent_id),
            name=_read(row.document).name,
            provider_id=or_unset(row.provider_id),
            version_counts=VersionCounts(draft=row.draft, published=row.published, disabled=row.disabled),
            versions=versions,
            newest_release=_newest_release(row),
        )


def _newest_release(row: OwnedAgentRow) -> NewestRelease | None:
    if row.release_id is None or row.release_version is None:
        return None
    if row.release_state is None or row.release_created_at is None:
        return None
    return NewestRelease(
        release_id=row.release_id,
        version=row.release_version,
        state=row.release_state,
        created_at=to_text(row.release_created_at),
        published_at=moment_or_unset(row.release_published_at),
    )
