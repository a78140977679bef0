"""The public share: what anyone may read of an Agent by its public id."""

from aop.base.database import Database
from aop.contracts.catalog import Availability
from aop.contracts.errors import DependencyFailed, NotFound
from aop.control_plane.discovery import store
from aop.control_plane.discovery.shown import PublicAgentShare, shared_release
from aop.control_plane.registry.entries import public_url


class PublicAgents:
    def __init__(self, database: Database, public_origin: str) -> None:
        self._database = database
        self._public_origin = public_origin

    async def share(self, public_agent_id: str) -> PublicAgentShare:
        async with self._database.connection() as connection:
            rows = await store.shared_releases(connection, public_agent_id)
        if not rows:
            raise NotFound("no such Agent")
        released = [row for row in rows if row["release_id"] is not None]
        if not all(row["agrees"] for row in released):
            raise DependencyFailed("the digests of a Release and its Card disagree")
        return PublicAgentShare(
            schema_version="1",
            public_agent_id=public_agent_id,
            public_url=public_url(self._public_origin, public_agent_id),
            availability=Availability.INSTALLABLE if released else Availability.NOT_INSTALLABLE,
            releases=tuple(map(shared_release, released)),
        )
