"""SQL of pins: which versions of an Agent may be chosen, and the facts of one exact version."""

from collections.abc import Sequence
from typing import Any

from aop.store.database import Connection

Row = Any

PINNED_VERSION = (
    "SELECT card.agent_id, card.version, card.digest, card.status AS card_status, release.release_id,"
    " release.state AS release_state, release.card_digest AS release_digest"
    " FROM registry.card LEFT JOIN registry.release USING (agent_id, version)"
)
# Follows the index on precedence from above; only as much of it is read as the caller asks for. The precedence of a
# pre-release ends in `!`. That is asked as an inequality, which the planner takes for common: so it keeps to the index.
_CANDIDATES = (
    "SELECT card.version, card.precedence FROM registry.card LEFT JOIN registry.release USING (agent_id, version)"
    " WHERE card.agent_id = $1 AND (card.precedence, card.version) < ($2, $3)"
    " AND (card.status = 'published' OR release.release_id IS NOT NULL)"
    " AND ($4 OR right(card.precedence, 1) <> '!')"
    " ORDER BY card.precedence DESC, card.version DESC LIMIT $5"
)


async def candidates(
    connection: Connection, agent_id: str, below: tuple[str, str], prereleases: bool, limit: int
) -> Sequence[Row]:
    """Versions that are published or have a Release, highest first, all below the given precedence and version."""
    rows: Sequence[Row] = await connection.fetch(_CANDIDATES, agent_id, *below, prereleases, limit)
    return rows


async def pinned(connection: Connection, agent_id: str, version: str) -> Row:
    return await connection.fetchrow(
        f"{PINNED_VERSION} WHERE card.agent_id = $1 AND card.version = $2", agent_id, version
    )


async def document(connection: Connection, agent_id: str, version: str) -> bytes | None:
    found: bytes | None = await connection.fetchval(
        "SELECT document FROM registry.card WHERE agent_id = $1 AND version = $2", agent_id, version
    )
    return found
