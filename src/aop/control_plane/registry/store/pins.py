"""SQL of pins: which versions of an Agent may be chosen, and the facts of one exact version."""

from collections.abc import Sequence
from datetime import datetime

from aop.contracts.catalog import PublicationStatus
from aop.contracts.publication import ReleaseState
from aop.store.database import Connection
from aop.store.rows import Row, to_row_or_none, to_rows

PINNED_VERSION = (
    "SELECT card.agent_id, card.version, card.digest, card.status AS card_status, release.release_id,"
    " release.state AS release_state, release.card_digest AS release_digest, release.binding_id, release.method,"
    " release.evidence_digest, release.published_at"
    " FROM registry.card LEFT JOIN registry.release USING (agent_id, version)"
)
CARD_SIZES = "SELECT agent_id, version, octet_length(document) AS document_bytes FROM registry.card"
# Follows the index on precedence from the highest entry down, and reads as many entries as the limit needs. The
# precedence of a pre-release ends in `!`. The planner expects that most rows meet an inequality, so it keeps the index.
_CANDIDATES = (
    "SELECT card.version, card.precedence FROM registry.card LEFT JOIN registry.release USING (agent_id, version)"
    " WHERE card.agent_id = $1 AND (card.precedence, card.version) < ($2, $3)"
    " AND (card.status = 'published' OR release.release_id IS NOT NULL)"
    " AND ($4 OR right(card.precedence, 1) <> '!')"
    " ORDER BY card.precedence DESC, card.version DESC LIMIT $5"
)
# Of the versions above a pinned one only so many are looked at: a provider may have any number of them.
_MAX_HIGHER = 50
_STATUSES = (
    "SELECT pinned.*, newer.version AS newer_version"  # noqa: S608
    " FROM unnest($1::text[], $2::text[]) AS pin (agent_id, version)"
    f" JOIN ({PINNED_VERSION}) AS pinned"
    ' ON pinned.agent_id = pin.agent_id COLLATE "C" AND pinned.version = pin.version COLLATE "C"'
    " JOIN registry.card ON card.agent_id = pinned.agent_id AND card.version = pinned.version"
    " LEFT JOIN LATERAL (SELECT higher.version FROM"
    " (SELECT * FROM registry.card AS above WHERE above.agent_id = card.agent_id"
    " AND (above.precedence, above.version) > (card.precedence, card.version)"
    " AND (right(above.precedence, 1) <> '!' OR right(card.precedence, 1) = '!')"
    f" ORDER BY above.precedence DESC, above.version DESC LIMIT {_MAX_HIGHER}) AS higher"
    " JOIN registry.release ON release.agent_id = higher.agent_id AND release.version = higher.version"
    " WHERE higher.status = 'published' AND release.state = 'published'"
    " ORDER BY higher.precedence DESC, higher.version DESC LIMIT 1) AS newer ON true"
)


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
    """A pinned version as it is now, and the installable one that somebody on it could go to."""

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
    records = await connection.fetch(_CANDIDATES, agent_id, upper.precedence, upper.version, prereleases, limit)
    return to_rows(Candidate, records)


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
        "SELECT card.agent_id, card.version, card.document"
        " FROM unnest($1::text[], $2::text[]) AS pin (agent_id, version)"
        ' JOIN registry.card ON card.agent_id = pin.agent_id COLLATE "C" AND card.version = pin.version COLLATE "C"',
        [card.agent_id for card in cards],
        [card.version for card in cards],
    )
    return {(agent_id, version): document for agent_id, version, document in records}


async def statuses(connection: Connection, cards: Sequence[PinnedCard]) -> Sequence[PinStatusRow]:
    """A pre-release is newer only for a pin that is one."""
    pinned_ids = [card.agent_id for card in cards], [card.version for card in cards]
    return to_rows(PinStatusRow, await connection.fetch(_STATUSES, *pinned_ids))
