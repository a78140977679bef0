"""SQL of the names that Agents were published under."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from aop.store.database import Connection

Row = Any

_OWN_NAMES, _TOLD = 200, 10
"""Of an Agent with a new name in every version the newest are looked at; a few resemblances are warning enough."""
_FIRST = (
    f"WITH own AS (SELECT part, skeleton, text, owner_id FROM registry.published_name WHERE agent_id = $1"  # noqa: S608
    f"  ORDER BY first_at DESC LIMIT {_OWN_NAMES}),"
    " first AS (SELECT own.part, own.text, own.owner_id AS own_owner, used.agent_id, used.owner_id, used.first_at"
    "  FROM own CROSS JOIN LATERAL (SELECT agent_id, owner_id, first_at FROM registry.published_name"
    "   WHERE part = own.part AND skeleton = own.skeleton ORDER BY first_at, agent_id LIMIT 1) AS used"
    "  UNION ALL"
    "  SELECT own.part, own.text, own.owner_id, NULL, provider.owner_id, provider.claimed_at"
    "  FROM own JOIN registry.provider ON own.part = 'prefix' AND provider.provider_id = own.text)"
    " SELECT part, text, agent_id, owner_id FROM"
    "  (SELECT DISTINCT ON (part, text) * FROM first ORDER BY part, text, first_at) AS earliest"
    f" WHERE owner_id <> own_owner ORDER BY part DESC, text LIMIT {_TOLD}"
)


async def record(connection: Connection, names: Sequence[Sequence[Any]], now: datetime) -> None:
    """Each is part, skeleton, Agent, owner and text; one that the Agent has already keeps its time."""
    for name in names:
        await connection.execute(
            "INSERT INTO registry.published_name (part, skeleton, agent_id, owner_id, text, first_at)"
            " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
            *name,
            now,
        )


async def used_first_by_others(connection: Connection, agent_id: str) -> Sequence[Row]:
    rows: Sequence[Row] = await connection.fetch(_FIRST, agent_id)
    return rows
