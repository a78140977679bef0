"""SQL of the change feed, as its readers see it."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from aop.store.database import Connection

Row = Any

_ENTRY = "agent_id, version, release_id, card_digest, state"


async def current_revision(connection: Connection) -> int:
    revision: int = await connection.fetchval("SELECT value FROM registry.counter WHERE name = 'topology'")
    return revision


async def after(connection: Connection, revision: int, limit: int) -> Sequence[Row]:
    rows: Sequence[Row] = await connection.fetch(
        f"SELECT revision, {_ENTRY} FROM registry.change WHERE revision > $1 ORDER BY revision LIMIT $2",  # noqa: S608
        revision,
        limit,
    )
    return rows


def all_watched(connection: Connection, batch: int) -> AsyncIterator[Row]:
    """Inside a transaction; rows are fetched in batches as they are asked for."""
    rows: AsyncIterator[Row] = aiter(
        connection.cursor(f"SELECT {_ENTRY} FROM registry.watched_release ORDER BY release_id", prefetch=batch)  # noqa: S608
    )
    return rows
