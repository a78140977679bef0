"""SQL of Releases, and of the change feed that they write and Routers read."""

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from aop.contracts.publication import ReleaseState, SuspendedBy, VerificationMethod
from aop.contracts.topology import WatchedRelease, WatchedState
from aop.store.database import Connection
from aop.store.rows import Row, to_row, to_row_or_none, to_rows

CHANNEL = "aop_topology"

_COLUMNS = (
    "release_id, provider_id, agent_id, version, card_digest, binding_id, endpoint_origin, endpoint_path, method,"
    " evidence_digest, state, created_at, updated_at, verified_at, published_at, suspended_at, suspended_by, revoked_at"
)
_RELEASE = f"SELECT {_COLUMNS} FROM registry.release"  # noqa: S608
_STAMPS = {"verified": "verified_at", "published": "published_at", "revoked": "revoked_at"}
_WATCHED = "agent_id, version, release_id, card_digest, state"


class ReleaseRow(Row, frozen=True):
    release_id: str
    provider_id: str
    agent_id: str
    version: str
    card_digest: str
    binding_id: str
    endpoint_origin: str
    endpoint_path: str
    method: VerificationMethod
    evidence_digest: str | None
    state: ReleaseState
    created_at: datetime
    updated_at: datetime
    verified_at: datetime | None
    published_at: datetime | None
    suspended_at: datetime | None
    suspended_by: SuspendedBy | None
    revoked_at: datetime | None


class NewRelease(msgspec.Struct, frozen=True):
    release_id: str
    provider_id: str
    agent_id: str
    version: str
    card_digest: str
    binding_id: str
    endpoint_origin: str
    endpoint_path: str
    method: VerificationMethod
    state: ReleaseState
    created_at: datetime
    evidence_digest: str | None
    verified_at: datetime | None


class FeedChange(msgspec.Struct, frozen=True):
    """The state of a Release after a change, and the number of the change."""

    revision: int
    release: WatchedRelease


async def find(connection: Connection, release_id: str) -> ReleaseRow | None:
    return to_row_or_none(ReleaseRow, await connection.fetchrow(f"{_RELEASE} WHERE release_id = $1", release_id))


async def lock(connection: Connection, release_id: str) -> ReleaseRow | None:
    record = await connection.fetchrow(f"{_RELEASE} WHERE release_id = $1 FOR NO KEY UPDATE", release_id)
    return to_row_or_none(ReleaseRow, record)


async def lock_of_version(connection: Connection, agent_id: str, version: str) -> str | None:
    """Locks the Release of a version and returns its id."""
    release_id: str | None = await connection.fetchval(
        "SELECT release_id FROM registry.release WHERE agent_id = $1 AND version = $2 FOR NO KEY UPDATE",
        agent_id,
        version,
    )
    return release_id


async def insert(connection: Connection, release: NewRelease) -> ReleaseRow | None:
    """None when the version has a Release already."""
    record = await connection.fetchrow(
        "INSERT INTO registry.release (release_id, provider_id, agent_id, version, card_digest, binding_id,"  # noqa: S608
        " endpoint_origin, endpoint_path, method, state, created_at, updated_at, evidence_digest, verified_at)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13)"
        f" ON CONFLICT (agent_id, version) DO NOTHING RETURNING {_COLUMNS}",
        *msgspec.structs.astuple(release),
    )
    return to_row_or_none(ReleaseRow, record)


async def move(
    connection: Connection, release_id: str, state: ReleaseState, now: datetime, evidence_digest: str | None = None
) -> ReleaseRow:
    """Moves a Release that is locked."""
    record = await connection.fetchrow(
        f"UPDATE registry.release SET state = $2, updated_at = $3, {_STAMPS[state]} = $3,"  # noqa: S608
        f" evidence_digest = coalesce(evidence_digest, $4) WHERE release_id = $1 RETURNING {_COLUMNS}",
        release_id,
        state,
        now,
        evidence_digest,
    )
    return to_row(ReleaseRow, record)


async def suspend(connection: Connection, release_id: str, now: datetime, suspended_by: SuspendedBy) -> ReleaseRow:
    """Suspends a Release that is locked."""
    record = await connection.fetchrow(
        "UPDATE registry.release SET state = 'suspended', updated_at = $2, suspended_at = $2, suspended_by = $3"  # noqa: S608
        f" WHERE release_id = $1 RETURNING {_COLUMNS}",
        release_id,
        now,
        suspended_by,
    )
    return to_row(ReleaseRow, record)


async def page(
    connection: Connection, provider_id: str, agent_id: str | None, after: tuple[datetime, str] | None, limit: int
) -> Sequence[ReleaseRow]:
    records = await connection.fetch(
        f"{_RELEASE} WHERE provider_id = $1 AND ($2::text IS NULL OR agent_id = $2)"
        " AND ($3::timestamptz IS NULL OR created_at < $3 OR (created_at = $3 AND release_id > $4))"
        " ORDER BY created_at DESC, release_id LIMIT $5",
        provider_id,
        agent_id,
        *(after or (None, None)),
        limit,
    )
    return to_rows(ReleaseRow, records)


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


async def changes_after(connection: Connection, revision: int, limit: int) -> Sequence[FeedChange]:
    records = await connection.fetch(
        f"SELECT revision, {_WATCHED} FROM registry.change WHERE revision > $1 ORDER BY revision LIMIT $2",  # noqa: S608
        revision,
        limit,
    )
    return [FeedChange(record["revision"], _watched(record)) for record in records]


async def all_watched(connection: Connection, batch: int) -> AsyncGenerator[WatchedRelease, None]:
    """Inside a transaction; rows are fetched in batches as the reader takes them."""
    statement = f"SELECT {_WATCHED} FROM registry.watched_release ORDER BY release_id"  # noqa: S608
    async for record in connection.cursor(statement, prefetch=batch):
        yield _watched(record)


def _watched(record: Any) -> WatchedRelease:
    return WatchedRelease(
        agent_id=record["agent_id"],
        version=record["version"],
        release_id=record["release_id"],
        card_digest=record["card_digest"],
        state=WatchedState(record["state"]),
    )
