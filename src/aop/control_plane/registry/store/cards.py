"""SQL of Agents, of Card versions, and of the names that Agents were published under."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from aop.contracts.catalog import PublicationStatus, Resemblance, ResemblingPart
from aop.contracts.publication import ReleaseState
from aop.contracts.wire import to_document
from aop.control_plane.pages import TimePosition
from aop.store.database import Connection
from aop.store.queries import queries_beside
from aop.store.rows import PageSize, Row, RowPage, fetch_page, to_row, to_row_or_none

_QUERIES: Final = queries_beside(__file__)

_ENTRY = (
    "SELECT card.agent_id, card.version, card.document, card.digest, card.owner_id, card.status, card.registered_at,"
    " agent.public_agent_id, card.published_at, card.disabled_at, release.release_id, release.state AS release_state,"
    " octet_length(card.document) AS weight"
    " FROM registry.card JOIN registry.agent USING (agent_id) LEFT JOIN registry.release USING (agent_id, version)"
)
_ONE = f"{_ENTRY} WHERE card.agent_id = $1 AND card.version = $2"
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


class CardRow(Row, frozen=True):
    """A Card version with its Agent's public id and its Release."""

    agent_id: str
    version: str
    document: bytes
    digest: str
    owner_id: str
    status: PublicationStatus
    registered_at: datetime
    public_agent_id: str
    published_at: datetime | None = None
    disabled_at: datetime | None = None
    release_id: str | None = None
    release_state: ReleaseState | None = None


class LockedCard(Row, frozen=True):
    owner_id: str
    status: PublicationStatus
    digest: str


class NewCard(msgspec.Struct, frozen=True):
    agent_id: str
    version: str
    document: bytes
    digest: str
    owner_id: str
    precedence: str
    folded_name: str
    folded_text: str
    skill_ids: Sequence[str]
    registered_at: datetime


async def register(connection: Connection, card: NewCard, public_agent_id: str) -> str | None:
    """Adds the version, and its Agent with this public id if it is the first. Returns the Agent's public id.

    None when the version exists, when the Agent belongs to another owner, or when another transaction has just made
    the Agent. In a second call the third cause is excluded.
    """
    values = (*msgspec.structs.astuple(card), public_agent_id)
    public_id: str | None = await connection.fetchval(_QUERIES["register"], *values)
    return public_id


async def public_id_of(connection: Connection, agent_id: str) -> str | None:
    public_id: str | None = await connection.fetchval(
        "SELECT public_agent_id FROM registry.agent WHERE agent_id = $1", agent_id
    )
    return public_id


async def exists(connection: Connection, agent_id: str, version: str) -> bool:
    return bool(
        await connection.fetchval(
            "SELECT EXISTS (SELECT FROM registry.card WHERE agent_id = $1 AND version = $2)", agent_id, version
        )
    )


async def find(connection: Connection, agent_id: str, version: str) -> CardRow | None:
    return to_row_or_none(CardRow, await connection.fetchrow(_ONE, agent_id, version))


async def read(connection: Connection, agent_id: str, version: str) -> CardRow:
    """Reads a version that exists; versions are never deleted."""
    return to_row(CardRow, await connection.fetchrow(_ONE, agent_id, version))


async def lock(connection: Connection, agent_id: str, version: str) -> LockedCard | None:
    """Locks the version until the transaction ends. Always taken before a lock on its Release."""
    record = await connection.fetchrow(
        "SELECT owner_id, status, digest FROM registry.card WHERE agent_id = $1 AND version = $2 FOR NO KEY UPDATE",
        agent_id,
        version,
    )
    return to_row_or_none(LockedCard, record)


async def set_published(connection: Connection, agent_id: str, version: str, now: datetime) -> None:
    """Takes the next publication number. A version published before keeps its time."""
    await connection.execute(_QUERIES["set_published"], agent_id, version, now)


async def set_disabled(connection: Connection, agent_id: str, version: str, now: datetime) -> None:
    await connection.execute(
        "UPDATE registry.card SET status = 'disabled', disabled_at = $3 WHERE agent_id = $1 AND version = $2",
        agent_id,
        version,
        now,
    )


async def versions_of(
    connection: Connection, agent_id: str, caller: str, after: TimePosition | None, size: PageSize
) -> RowPage[CardRow]:
    values = (agent_id, caller, *(after or (None, None)), size.rows)
    return await fetch_page(connection, CardRow, _OVERVIEW, values, size=size, order="registered_at DESC, version DESC")


async def any_visible(connection: Connection, agent_id: str, caller: str) -> bool:
    return bool(
        await connection.fetchval(
            f"SELECT EXISTS (SELECT FROM registry.card WHERE {_VISIBLE})",  # noqa: S608
            agent_id,
            caller,
        )
    )


async def versions_of_owner(
    connection: Connection, owner: str, provider_id: str, after: tuple[datetime, str, str] | None, size: PageSize
) -> RowPage[CardRow]:
    values = (owner, provider_id, *(after or (None, None, None)), size.rows)
    return await fetch_page(
        connection, CardRow, _OF_OWNER, values, size=size, order="registered_at DESC, agent_id, version"
    )


async def record_name(
    connection: Connection, card: CardRow, part: ResemblingPart, skeleton: str, text: str, now: datetime
) -> None:
    """A name that the Agent has already keeps its time."""
    await connection.execute(
        "INSERT INTO registry.published_name (part, skeleton, agent_id, owner_id, text, first_at)"
        " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        part,
        skeleton,
        card.agent_id,
        card.owner_id,
        text,
        now,
    )


async def used_first_by_others(connection: Connection, agent_ids: Sequence[str]) -> Sequence[tuple[str, Resemblance]]:
    """Agent after Agent, each with another owner's Agent or provider that had one of its names first."""
    records = await connection.fetch(_QUERIES["used_first_by_others"], agent_ids)
    return [(record["named"], to_document(Resemblance, record)) for record in records]
