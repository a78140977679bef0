"""SQL of Releases and of the change feed they write."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from aop.store.database import Connection

Row = Any
CHANNEL = "aop_topology"

_RELEASE = (
    "SELECT release_id, provider_id, agent_id, version, card_digest, binding_id, endpoint_origin, endpoint_path,"
    " method, evidence_digest, state, created_at, updated_at, verified_at, published_at, suspended_at,"
    " suspended_by, revoked_at FROM registry.release"
)
_STAMPS = {"verified": "verified_at", "published": "published_at", "revoked": "revoked_at"}


async def find(connection: Connection, release_id: str) -> Row:
    return await connection.fetchrow(f"{_RELEASE} WHERE release_id = $1", release_id)


async def lock(connection: Connection, release_id: str) -> Row:
    return await connection.fetchrow(f"{_RELEASE} WHERE release_id = $1 FOR NO KEY UPDATE", release_id)


async def lock_of_version(connection: Connection, agent_id: str, version: str) -> Row:
    return await connection.fetchrow(
        f"{_RELEASE} WHERE agent_id = $1 AND version = $2 FOR NO KEY UPDATE", agent_id, version
    )


async def insert(connection: Connection, values: Sequence[Any]) -> bool:
    """False when the version has a Release already."""
    return bool(
        await connection.fetchval(
            "INSERT INTO registry.release (release_id, provider_id, agent_id, version, card_digest, binding_id,"
            " endpoint_origin, endpoint_path, method, state, created_at, updated_at, evidence_digest, verified_at)"
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13)"
            " ON CONFLICT (agent_id, version) DO NOTHING RETURNING true",
            *values,
        )
    )


async def move(
    connection: Connection, release_id: str, state: str, now: datetime, evidence_digest: str | None = None
) -> None:
    await connection.execute(
        f"UPDATE registry.release SET state = $2, updated_at = $3, {_STAMPS[state]} = $3,"  # noqa: S608
        " evidence_digest = coalesce(evidence_digest, $4) WHERE release_id = $1",
        release_id,
        state,
        now,
        evidence_digest,
    )


async def suspend(connection: Connection, release_id: str, now: datetime, suspended_by: str) -> None:
    await connection.execute(
        "UPDATE registry.release SET state = 'suspended', updated_at = $2, suspended_at = $2, suspended_by = $3"
        " WHERE release_id = $1",
        release_id,
        now,
        suspended_by,
    )


async def page(
    connection: Connection, provider_id: str, agent_id: str | None, after: tuple[datetime, str] | None, limit: int
) -> Sequence[Row]:
    moment, last = after or (None, None)
    rows: Sequence[Row] = await connection.fetch(
        f"{_RELEASE} WHERE provider_id = $1 AND ($2::text IS NULL OR agent_id = $2)"
        " AND ($3::timestamptz IS NULL OR created_at < $3 OR (created_at = $3 AND release_id > $4))"
        " ORDER BY created_at DESC, release_id LIMIT $5",
        provider_id,
        agent_id,
        moment,
        last,
        limit,
    )
    return rows


async def record_change(connection: Connection, release_id: str) -> None:
    """Numbers the Release's present state as the next change and wakes whoever listens, when this commits.

    The number's row stays locked until then, so that numbers follow the order of commits.
    """
    await connection.execute(
        "WITH number AS (UPDATE registry.counter SET value = value + 1 WHERE name = 'topology' RETURNING value)"
        " INSERT INTO registry.change (revision, release_id, agent_id, version, card_digest, state)"
        " SELECT number.value, release_id, agent_id, version, card_digest, state FROM number, registry.watched_release"
        " WHERE release_id = $1",
        release_id,
    )
    await connection.execute(f"NOTIFY {CHANNEL}")
