"""SQL of Agents and Card versions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from aop.store.database import Connection, weighed

Row = Any

_ENTRY = (
    "SELECT card.agent_id, card.version, card.document, card.digest, card.owner_id, card.status, card.registered_at,"
    " card.published_at, card.disabled_at, agent.public_agent_id, release.release_id, release.state AS release_state,"
    " octet_length(card.document) AS weight"
    " FROM registry.card JOIN registry.agent USING (agent_id) LEFT JOIN registry.release USING (agent_id, version)"
)
_VISIBLE = "card.agent_id = $1 AND (card.status = 'published' OR card.owner_id = $2)"
_OVERVIEW = (
    f"{_ENTRY} WHERE {_VISIBLE}"
    " AND ($3::timestamptz IS NULL OR (card.registered_at, card.version) < ($3, $4))"
    " ORDER BY card.registered_at DESC, card.version DESC LIMIT $5"
)
_OF_OWNER = (
    f"{_ENTRY} WHERE card.owner_id = $1 AND (agent.provider_id = $2 OR agent.provider_id IS NULL)"
    " AND ($3::timestamptz IS NULL OR card.registered_at < $3"
    "      OR (card.registered_at = $3 AND (card.agent_id, card.version) > ($4, $5)))"
    " ORDER BY card.registered_at DESC, card.agent_id, card.version LIMIT $6"
)


async def register(connection: Connection, values: Sequence[Any], public_agent_id: str) -> str | None:
    """Adds the version, and its Agent with this public id if it is the first, and tells the Agent's public id.

    None when the version is there, when the Agent belongs to somebody else, or when it was made just now by another
    transaction; asked once more, None leaves only the first two.
    """
    found: str | None = await connection.fetchval(
        "WITH made AS (INSERT INTO registry.agent (agent_id, owner_id, public_agent_id) VALUES ($1, $5, $12)"
        "  ON CONFLICT DO NOTHING RETURNING public_agent_id),"
        " own AS (SELECT public_agent_id FROM made UNION ALL"
        "  SELECT public_agent_id FROM registry.agent WHERE agent_id = $1 AND owner_id = $5)"
        " INSERT INTO registry.card (agent_id, version, document, digest, owner_id, precedence, folded_name,"
        " folded_text, grams, skill_ids, registered_at, status)"
        " SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9::text::integer[], $10, $11, 'draft' FROM own"
        " ON CONFLICT DO NOTHING RETURNING (SELECT public_agent_id FROM own)",
        *values,
        public_agent_id,
    )
    return found


async def agent(connection: Connection, agent_id: str) -> Row:
    return await connection.fetchrow(
        "SELECT agent_id, owner_id, public_agent_id, provider_id FROM registry.agent WHERE agent_id = $1", agent_id
    )


async def exists(connection: Connection, agent_id: str, version: str) -> bool:
    return bool(
        await connection.fetchval(
            "SELECT EXISTS (SELECT FROM registry.card WHERE agent_id = $1 AND version = $2)", agent_id, version
        )
    )


async def entry(connection: Connection, agent_id: str, version: str) -> Row:
    return await connection.fetchrow(f"{_ENTRY} WHERE card.agent_id = $1 AND card.version = $2", agent_id, version)


async def lock(connection: Connection, agent_id: str, version: str) -> Row:
    """Locks the version until the transaction ends. Always taken before a lock on its Release."""
    return await connection.fetchrow(
        "SELECT owner_id, status, digest FROM registry.card WHERE agent_id = $1 AND version = $2 FOR NO KEY UPDATE",
        agent_id,
        version,
    )


async def set_published(connection: Connection, agent_id: str, version: str, now: datetime) -> None:
    """Takes the next publication number. A version published before keeps its time."""
    await connection.execute(
        "WITH number AS (UPDATE registry.counter SET value = value + 1 WHERE name = 'publication' RETURNING value)"
        " UPDATE registry.card SET status = 'published', published_at = coalesce(published_at, $3),"
        " publication = number.value FROM number WHERE agent_id = $1 AND version = $2",
        agent_id,
        version,
        now,
    )


async def set_disabled(connection: Connection, agent_id: str, version: str, now: datetime) -> None:
    await connection.execute(
        "UPDATE registry.card SET status = 'disabled', disabled_at = $3 WHERE agent_id = $1 AND version = $2",
        agent_id,
        version,
        now,
    )


async def versions_of(
    connection: Connection, agent_id: str, caller: str, after: tuple[datetime, str] | None, page: tuple[int, int]
) -> Sequence[Row]:
    limit, most = page
    order = "registered_at DESC, version DESC"
    rows: Sequence[Row] = await connection.fetch(
        weighed(_OVERVIEW, weight="weight", order=order, max_bytes=most),
        agent_id,
        caller,
        *(after or (None, None)),
        limit,
    )
    return rows


async def any_visible(connection: Connection, agent_id: str, caller: str) -> bool:
    return bool(
        await connection.fetchval(
            f"SELECT EXISTS (SELECT FROM registry.card WHERE {_VISIBLE})",  # noqa: S608
            agent_id,
            caller,
        )
    )


async def versions_of_owner(
    connection: Connection,
    owner: str,
    provider_id: str,
    after: tuple[datetime, str, str] | None,
    page: tuple[int, int],
) -> Sequence[Row]:
    limit, most = page
    rows: Sequence[Row] = await connection.fetch(
        weighed(_OF_OWNER, weight="weight", order="registered_at DESC, agent_id, version", max_bytes=most),
        owner,
        provider_id,
        *(after or (None, None, None)),
        limit,
    )
    return rows
