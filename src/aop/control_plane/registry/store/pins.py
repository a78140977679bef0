"""SQL of pins: which versions of an Agent may be chosen, and the facts of one exact version."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from aop.contracts.catalog import PublicationStatus
from aop.contracts.publication import ReleaseState
from aop.store.database import Connection
from aop.store.queries import queries_beside
from aop.store.rows import Row, to_row_or_none, to_rows

_QUERIES: Final = queries_beside(__file__)

PINNED_VERSION = (
    "SELECT card.agent_id, card.version, card.digest, card.status AS card_status, release.release_id,"
    " release.state AS release_state, release.card_digest AS release_digest, release.binding_id, release.method,"
    " release.evidence_digest, release.published_at"
    " FROM registry.card LEFT JOIN registry.release USING (agent_id, version)"
)
CARD_SIZES = "SELECT agent_id, version, octet_length(document) AS document_bytes FROM registry.card"


class PinRow(Row, frozen=True):
    """The columns of `PINNED_VERSION`."""

    agent_id: str
    version: str
    digest: str
    card_status: PublicationStatus
    release_id: str | None
    release_state: ReleaseState | None
    release_digest: str | None
    binding_id: str | None
    method: str | None
    evidence_digest: str | None
    published_at: datetime | None


class PinStatusRow(PinRow, frozen=True):
    """A pinned version as it is now, and the installable one that may replace it."""

    newer_version: str | None


class PinnedCard(Row, frozen=True):
    """An exact Card: the version that has it, and its digest."""

    agent_id: str
    version: str
    digest: str


class Candidate(Row, frozen=True):
    """A version that may be chosen, with its place in the order of precedence."""

    version: str
    precedence: str


async def candidates(
    connection: Connection, agent_id: str, upper: Candidate, prereleases: bool, limit: int
) -> Sequence[Candidate]:
    """Versions that are published or have a Release, highest first, all lower than `upper`."""
    values = (agent_id, upper.precedence, upper.version, prereleases, limit)
    return to_rows(Candidate, await connection.fetch(_QUERIES["candidates"], *values))


async def pinned(connection: Connection, agent_id: str, version: str) -> PinRow | None:
    record = await connection.fetchrow(
        f"{PINNED_VERSION} WHERE card.agent_id = $1 AND card.version = $2", agent_id, version
    )
    return to_row_or_none(PinRow, record)


async def document(connection: Connection, agent_id: str, version: str) -> bytes | None:
    found: bytes | None = await connection.fetchval(
        "SELECT document FROM registry.card WHERE agent_id = $1 AND version = $2", agent_id, version
    )
    return found


async def documents(connection: Connection, cards: Sequence[PinnedCard]) -> dict[tuple[str, str], bytes]:
    """By Agent and version, as far as they exist."""
    records = await connection.fetch(
        _QUERIES["documents"], [card.agent_id for card in cards], [card.version for card in cards]
    )
    return {(agent_id, version): document for agent_id, version, document in records}


async def statuses(connection: Connection, cards: Sequence[PinnedCard]) -> Sequence[PinStatusRow]:
    pinned_ids = [card.agent_id for card in cards], [card.version for card in cards]
    return to_rows(PinStatusRow, await connection.fetch(_QUERIES["statuses"], *pinned_ids))
