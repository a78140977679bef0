"""SQL of Discovery: it reads views of the Registry, writes nothing and owns no table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aop.control_plane.discovery.conditions import Conditions, Part, Wanted
from aop.store.database import Connection, weighed

Row = Any

# A page has at most a hundred items, and one row more tells whether there is a next page. The number stands in the
# statement itself: so the planner knows how few rows are wanted, whatever plan it keeps.
_MOST_ROWS = 101
# How many versions a walk looks at before it gives up; see docs/adr/0004-substring-search.md.
SHORT_WALK = 3_000
LONG_WALK = 24_000

_ORDER = "published_at DESC, agent_id, version"
_KEYS = "agent_id, version, precedence, published_at"
_SHARED_ORDER = "published_at DESC, release_id"
_SHARED_DOCUMENTS = (
    "SELECT release_id, agent_id, version, card_digest, published_at, document FROM registry.shared_release"  # noqa: S608
    f" WHERE release_id = ANY($1) ORDER BY {_SHARED_ORDER}"
)


@dataclass(frozen=True)
class Slice:
    limit: int
    max_bytes: int


async def follow(connection: Connection, wanted: Wanted, part: Part) -> Sequence[Row]:
    """Everything in the order of publication, for filters that an index of that order or a look at a Release serves."""
    conditions = Conditions(wanted, part)
    kept = [*conditions.placed(), *conditions.installable("item"), *conditions.latest("item")]
    found = (
        f"SELECT {_KEYS} FROM registry.eligible_version AS item{_where(kept)}"  # noqa: S608
        f" ORDER BY {_ORDER} LIMIT {_MOST_ROWS}"
    )
    return await _page(connection, conditions, part, found)


async def walk(connection: Connection, wanted: Wanted, part: Part, most: int) -> Sequence[Row]:
    """Follows the order of publication and keeps what fits. It gives up after so many versions: fewer rows than asked
    for do not mean that there are no more."""
    conditions = Conditions(wanted, part)
    near = (
        f"SELECT * FROM registry.published_version AS item{_where(conditions.placed())}"  # noqa: S608
        f" ORDER BY {_ORDER} LIMIT {most}"
    )
    found = f"SELECT {_KEYS} FROM ({near}) AS item{_where(conditions.fitting('item'))} ORDER BY {_ORDER}"  # noqa: S608
    return await _page(connection, conditions, part, _eligible(conditions, found))


async def gather(connection: Connection, wanted: Wanted, part: Part) -> Sequence[Row]:
    """Collects every version that fits by the indexes on Skills and text, then puts them in order."""
    conditions = Conditions(wanted, part)
    kept = [*conditions.placed(), *conditions.fitting("item"), *conditions.indexed()]
    # OFFSET 0 keeps the planner from walking the order of publication after all.
    fits = f"SELECT {_KEYS} FROM registry.published_version AS item{_where(kept)} OFFSET 0"  # noqa: S608
    found = f"SELECT * FROM ({fits}) AS item ORDER BY {_ORDER}"  # noqa: S608
    return await _page(connection, conditions, part, _eligible(conditions, found))


async def shared_releases(
    connection: Connection, public_agent_id: str, part: Slice, after: tuple[datetime, str] | None
) -> Sequence[Row]:
    """A page without the Cards; one row without a Release when it is empty, no row when there is no such Agent.

    Each row says whether the Agent shares anything at all. Digests are computed of those Cards alone that fit the page.
    """
    later = "" if after is None else " AND (published_at < $3 OR published_at = $3 AND release_id > $4)"
    found = (
        "SELECT release_id, published_at, octet_length(document) AS weight FROM registry.shared_release AS release"  # noqa: S608
        f" WHERE release.agent_id = agent.agent_id{later} ORDER BY {_SHARED_ORDER} LIMIT $2"
    )
    page = weighed(found, weight="weight", order=_SHARED_ORDER, max_bytes=part.max_bytes)
    text = (
        "SELECT page.*, (SELECT agrees FROM registry.shared_release AS one WHERE one.release_id = page.release_id),"  # noqa: S608
        " EXISTS (SELECT FROM registry.shared_release AS one WHERE one.agent_id = agent.agent_id) AS shares"
        f" FROM registry.public_agent AS agent LEFT JOIN LATERAL ({page}) AS page ON true"
        f" WHERE agent.public_agent_id = $1 ORDER BY {_SHARED_ORDER}"
    )
    rows: Sequence[Row] = await connection.fetch(text, public_agent_id, part.limit + 1, *(after or ()))
    return rows


async def shared_documents(connection: Connection, release_ids: Sequence[str]) -> Sequence[Row]:
    """Those of the Releases that are still shared, with their Cards, in the order of the list."""
    rows: Sequence[Row] = await connection.fetch(_SHARED_DOCUMENTS, release_ids)
    return rows


def _eligible(conditions: Conditions, found: str) -> str:
    """Asks for the Release of one version after the other, in the order found, until the page is full."""
    kept = [*conditions.installable("eligible"), *conditions.latest("eligible")]
    return (
        f"SELECT item.* FROM ({found}) AS item CROSS JOIN LATERAL (SELECT installable FROM registry.eligible_version"  # noqa: S608
        f" AS version WHERE (version.agent_id, version.version) = (item.agent_id, item.version) LIMIT 1) AS eligible"
        f"{_where(kept)} ORDER BY {_ORDER}"
    )


async def _page(connection: Connection, conditions: Conditions, part: Part, found: str) -> Sequence[Row]:
    """Reads what is shown of the few rows found. The boundary is read in the same snapshot as they are."""
    shown = (
        f"SELECT version.agent_id, version.version, digest, document, registered_at, version.published_at, release_id,"  # noqa: S608
        f" release_state, public_agent_id, {conditions.boundary()} AS boundary, octet_length(document) AS weight"
        f" FROM (SELECT agent_id, version FROM ({found}) AS found ORDER BY {_ORDER} LIMIT {conditions.rows}) AS item"
        f" JOIN registry.eligible_version AS version USING (agent_id, version)"
        f" JOIN registry.public_agent USING (agent_id)"
    )
    text = weighed(shown, weight="weight", order=_ORDER, max_bytes=part.most_bytes)
    rows: Sequence[Row] = await connection.fetch(text, *conditions.values)
    return rows


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""
