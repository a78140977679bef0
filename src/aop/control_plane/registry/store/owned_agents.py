"""SQL of the Agents that a principal owns, each with all its versions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from aop.contracts.catalog import EntryRelease, OwnedVersion
from aop.contracts.publication import ReleaseState
from aop.contracts.wire import to_document
from aop.store.database import Connection
from aop.store.queries import queries_beside
from aop.store.rows import PageSize, Row, RowPage, fetch_page

_QUERIES: Final = queries_beside(__file__)


class OwnedAgentRow(Row, frozen=True):
    """An Agent with the Card registered last, its versions counted, and its newest Release."""

    agent_id: str
    public_agent_id: str
    provider_id: str | None
    document: bytes
    draft: int
    published: int
    disabled: int
    release_id: str | None
    release_version: str | None
    release_state: ReleaseState | None
    release_created_at: datetime | None
    release_published_at: datetime | None


async def agents_of(connection: Connection, owner: str, after: str, size: PageSize) -> RowPage[OwnedAgentRow]:
    """In the order of their ids, after `after`; every id is greater than the empty text."""
    return await fetch_page(
        connection, OwnedAgentRow, _QUERIES["agents"], (owner, after, size.rows), size=size, order="agent_id"
    )


async def versions_of(connection: Connection, agent_ids: Sequence[str]) -> Sequence[tuple[str, OwnedVersion]]:
    """The newest of each Agent, newest first, Agent after Agent."""
    records = await connection.fetch(_QUERIES["versions"], agent_ids)
    return [
        (
            record["agent_id"],
            to_document(
                OwnedVersion,
                record,
                release=None if record["release_id"] is None else to_document(EntryRelease, record),
            ),
        )
        for record in records
    ]
