"""SQL of the Agents that a principal owns, each with all its versions."""

from collections.abc import Sequence
from datetime import datetime

from aop.contracts.catalog import EntryRelease, OwnedVersion
from aop.contracts.publication import ReleaseState
from aop.contracts.wire import to_document
from aop.store.database import Connection
from aop.store.rows import PageSize, Row, RowPage, fetch_page

MAX_VERSIONS = 1_000
"""Of one Agent in a list. Without a limit one Agent could fill any answer."""
_VERSION_BYTES = 300
"""One version in an answer, roughly: what a page weighs is known before its versions are read."""

_AGENTS = (
    "SELECT agent.agent_id, agent.public_agent_id, agent.provider_id, newest.document, draft, published, disabled,"  # noqa: S608
    " release.release_id, release.version, release.state, release.created_at, release.published_at,"
    f" octet_length(newest.document) + {_VERSION_BYTES} * least(draft + published + disabled, {MAX_VERSIONS}) AS weight"
    " FROM registry.agent"
    " CROSS JOIN LATERAL (SELECT document FROM registry.card WHERE card.agent_id = agent.agent_id"
    "  ORDER BY registered_at DESC, version DESC LIMIT 1) AS newest"
    " CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE status = 'draft') AS draft,"
    "  count(*) FILTER (WHERE status = 'published') AS published,"
    "  count(*) FILTER (WHERE status = 'disabled') AS disabled"
    "  FROM registry.card WHERE card.agent_id = agent.agent_id) AS counted"
    " LEFT JOIN LATERAL (SELECT release_id, version, state, created_at, published_at FROM registry.release"
    "  WHERE release.agent_id = agent.agent_id ORDER BY created_at DESC, release_id DESC LIMIT 1) AS release ON true"
    " WHERE agent.owner_id = $1 AND agent.agent_id > $2 ORDER BY agent.agent_id LIMIT $3"
)
_VERSIONS = (
    "SELECT card.agent_id, card.version, status AS publication_status, registered_at, card.published_at,"  # noqa: S608
    " disabled_at, release_id, state, status = 'published' AND state IS NOT DISTINCT FROM 'published' AS installable"
    " FROM unnest($1::text[]) AS named (id) CROSS JOIN LATERAL (SELECT * FROM registry.card"
    '  WHERE card.agent_id = named.id COLLATE "C" ORDER BY registered_at DESC, version DESC'
    f"  LIMIT {MAX_VERSIONS}) AS card"
    " LEFT JOIN registry.release USING (agent_id, version)"
    " ORDER BY card.agent_id, registered_at DESC, card.version DESC"
)


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
    """In the order of their ids, behind `after`; every id is behind the empty text."""
    return await fetch_page(connection, OwnedAgentRow, _AGENTS, (owner, after, size.rows), size=size, order="agent_id")


async def versions_of(connection: Connection, agent_ids: Sequence[str]) -> Sequence[tuple[str, OwnedVersion]]:
    """The newest of each Agent, newest first, Agent after Agent."""
    records = await connection.fetch(_VERSIONS, agent_ids)
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
