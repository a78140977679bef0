"""SQL of Releases, and of the change feed that they write and Routers read."""

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime

from aop.contracts.publication import Release, ReleaseState, SuspendedBy
from aop.contracts.topology import FrameKind, TopologyEvent, WatchedRelease
from aop.contracts.wire import to_document, to_document_or_none, to_documents
from aop.control_plane.pages import TimePosition
from aop.store.database import Connection

CHANNEL = "aop_topology"

_COLUMNS = (
    "release_id, provider_id, agent_id, version, card_digest, binding_id AS endpoint_binding_id, endpoint_origin,"
    " endpoint_path, method AS verification_method, evidence_digest AS verification_evidence_digest, state, created_at,"
    " updated_at, verified_at, published_at, suspended_at, suspended_by, revoked_at"
)
_RELEASE = f"SELECT {_COLUMNS} FROM registry.release"  # noqa: S608
_MOVE = (
    "UPDATE registry.release SET state = $2, updated_at = $3,"  # noqa: S608
    " verified_at = CASE $2 WHEN 'verified' THEN $3 ELSE verified_at END,"
    " published_at = CASE $2 WHEN 'published' THEN $3 ELSE published_at END,"
    " suspended_at = CASE $2 WHEN 'suspended' THEN $3 ELSE suspended_at END,"
    " revoked_at = CASE $2 WHEN 'revoked' THEN $3 ELSE revoked_at END,"
    " evidence_digest = coalesce(evidence_digest, $4), suspended_by = coalesce(suspended_by, $5)"
    f" WHERE release_id = $1 RETURNING {_COLUMNS}"
)
_WATCHED = "agent_id, version, release_id, card_digest, state"


async def find(connection: Connection, release_id: str) -> Release | None:
    return to_document_or_none(Release, await connection.fetchrow(f"{_RELEASE} WHERE release_id = $1", release_id))


async def lock(connection: Connection, release_id: str) -> Release | None:
    record = await connection.fetchrow(f"{_RELEASE} WHERE release_id = $1 FOR NO KEY UPDATE", release_id)
    return to_document_or_none(Release, record)


async def lock_of_version(connection: Connection, agent_id: str, version: str) -> str | None:
    """Locks the Release of a version and returns its id."""
    release_id: str | None = await connection.fetchval(
        "SELECT release_id FROM registry.release WHERE agent_id = $1 AND version = $2 FOR NO KEY UPDATE",
        agent_id,
        version,
    )
    return release_id


async def insert(
    connection: Connection, release_id: str, binding_id: str, card_digest: str, state: ReleaseState, now: datetime
) -> Release | None:
    """Of the version that the Binding names, with what the Binding says now. None when the version has a Release."""
    record = await connection.fetchrow(
        "INSERT INTO registry.release (release_id, provider_id, agent_id, version, card_digest, binding_id,"  # noqa: S608
        " endpoint_origin, endpoint_path, method, state, created_at, updated_at, evidence_digest, verified_at)"
        " SELECT $1, provider_id, agent_id, version, $3, binding_id, endpoint_origin, endpoint_path, method, $4,"
        " $5, $5, evidence_digest, verified_at FROM registry.binding WHERE binding_id = $2"
        f" ON CONFLICT (agent_id, version) DO NOTHING RETURNING {_COLUMNS}",
        release_id,
        binding_id,
        card_digest,
        state,
        now,
    )
    return to_document_or_none(Release, record)


async def move(
    connection: Connection,
    release_id: str,
    state: ReleaseState,
    now: datetime,
    *,
    evidence_digest: str | None = None,
    suspended_by: SuspendedBy | None = None,
) -> Release:
    """Moves a Release that is locked, and writes the time of the state that it has now."""
    record = await connection.fetchrow(_MOVE, release_id, state, now, evidence_digest, suspended_by)
    return to_document(Release, record)


async def page(
    connection: Connection, provider_id: str, agent_id: str | None, after: TimePosition | None, limit: int
) -> Sequence[Release]:
    records = await connection.fetch(
        f"{_RELEASE} WHERE provider_id = $1 AND ($2::text IS NULL OR agent_id = $2)"
        " AND ($3::timestamptz IS NULL OR created_at < $3 OR (created_at = $3 AND release_id > $4))"
        " ORDER BY created_at DESC, release_id LIMIT $5",
        provider_id,
        agent_id,
        *(after or (None, None)),
        limit,
    )
    return to_documents(Release, records)


async def record_change(connection: Connection, release_id: str) -> None:
    """Numbers the Release's present state as the next change, and wakes all listeners when this commits.

    The row of the number stays locked until then, so that numbers follow the order of commits.
    """
    await connection.execute(
        "WITH number AS (UPDATE registry.counter SET value = value + 1 WHERE name = 'topology' RETURNING value)"
        " INSERT INTO registry.change (revision, release_id, agent_id, version, card_digest, state)"
        " SELECT number.value, release_id, agent_id, version, card_digest, state FROM number, registry.watched_release"
        " WHERE release_id = $1",
        release_id,
    )
    await connection.execute(f"NOTIFY {CHANNEL}")


async def current_revision(connection: Connection) -> int:
    revision: int = await connection.fetchval("SELECT value FROM registry.counter WHERE name = 'topology'")
    return revision


async def changes_after(connection: Connection, revision: int, limit: int) -> Sequence[TopologyEvent]:
    records = await connection.fetch(
        f"SELECT revision, {_WATCHED} FROM registry.change WHERE revision > $1 ORDER BY revision LIMIT $2",  # noqa: S608
        revision,
        limit,
    )
    return [
        TopologyEvent(
            schema_version="1",
            kind=FrameKind.CHANGE,
            revision=record["revision"],
            release=to_document(WatchedRelease, record),
        )
        for record in records
    ]


async def all_watched(connection: Connection, batch: int) -> AsyncGenerator[WatchedRelease, None]:
    """Inside a transaction; rows are fetched in batches as the reader takes them."""
    statement = f"SELECT {_WATCHED} FROM registry.watched_release ORDER BY release_id"  # noqa: S608
    async for record in connection.cursor(statement, prefetch=batch):
        yield to_document(WatchedRelease, record)
