"""SQL of Discovery: it reads views of the Registry, writes nothing and owns no table."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from aop.contracts.publication import ReleaseState
from aop.control_plane.discovery.conditions import Conditions, Filters, PageRequest
from aop.control_plane.pages import TimePosition
from aop.store.database import Connection
from aop.store.rows import PageSize, Row, RowPage, fetch_page, to_rows, weighed

# A page has at most a hundred items, and one row more tells whether there is a next page. The number is in the text of
# the statement, so that the planner knows how few rows it returns, whatever plan it keeps.
_MAX_ROWS = 101
# How many versions a walk reads before it gives up; see docs/adr/0004-substring-search.md.
SHORT_WALK = 3_000
LONG_WALK = 24_000

_ORDER = "published_at DESC, agent_id, version"
_KEYS = "agent_id, version, precedence, published_at, 0 AS score"
_SHARED_ORDER = "published_at DESC, release_id"
_SHARED_DOCUMENTS = (
    "SELECT release_id, agent_id, version, card_digest, published_at, document FROM registry.shared_release"  # noqa: S608
    f" WHERE release_id = ANY($1) ORDER BY {_SHARED_ORDER}"
)


class EligibleVersion(Row, frozen=True):
    """A version that Discovery may list, and the highest publication number at the time of the read."""

    agent_id: str
    version: str
    digest: str
    document: bytes
    registered_at: datetime
    published_at: datetime
    release_id: str | None
    release_state: ReleaseState | None
    public_agent_id: str
    boundary: int
    score: int


class ReleaseOfShare(Row, frozen=True):
    """A shared Release without its Card; `agrees` says whether the digests of both are the same."""

    release_id: str
    published_at: datetime
    weight: int
    agrees: bool


class Share(msgspec.Struct, frozen=True):
    """A page of a share, and whether the Agent shares any Release at all."""

    page: RowPage[ReleaseOfShare]
    shares: bool


class SharedDocument(Row, frozen=True):
    release_id: str
    agent_id: str
    version: str
    card_digest: str
    published_at: datetime
    document: bytes


async def follow(connection: Connection, filters: Filters, page: PageRequest) -> RowPage[EligibleVersion]:
    """Everything in the order of publication until the page is full, for filters that have no index of their own. A
    literal text is looked for in one version after the other: at most once in each that is published."""
    conditions = Conditions(filters, page)
    own = [*conditions.placed(), *conditions.fitting("item")]
    kept = [*own, *conditions.installable("item"), *conditions.latest("item")]
    found = (
        f"SELECT {_KEYS} FROM registry.eligible_version AS item{where(kept)}"  # noqa: S608
        f" ORDER BY {_ORDER} LIMIT {_MAX_ROWS}"
    )
    return await page_of(connection, conditions, page.size, found)


async def walk(
    connection: Connection, filters: Filters, page: PageRequest, max_versions: int
) -> RowPage[EligibleVersion]:
    """Follows the order of publication and keeps what fits. Gives up after so many versions: a page that is not full
    does not mean that there are no more."""
    conditions = Conditions(filters, page)
    near = (
        f"SELECT * FROM registry.published_version AS item{where(conditions.placed())}"  # noqa: S608
        f" ORDER BY {_ORDER} LIMIT {max_versions}"
    )
    found = f"SELECT {_KEYS} FROM ({near}) AS item{where(conditions.fitting('item'))} ORDER BY {_ORDER}"  # noqa: S608
    return await page_of(connection, conditions, page.size, _eligible(conditions, found))


async def gather(connection: Connection, filters: Filters, page: PageRequest) -> RowPage[EligibleVersion]:
    """Collects every version that fits by the index on Skills, then puts them in order."""
    conditions = Conditions(filters, page)
    kept = [*conditions.placed(), *conditions.fitting("item")]
    # OFFSET 0 keeps the planner from walking the order of publication after all.
    fits = f"SELECT {_KEYS} FROM registry.published_version AS item{where(kept)} OFFSET 0"  # noqa: S608
    found = f"SELECT * FROM ({fits}) AS item ORDER BY {_ORDER}"  # noqa: S608
    return await page_of(connection, conditions, page.size, _eligible(conditions, found))


async def shared_releases(
    connection: Connection, public_agent_id: str, size: PageSize, after: TimePosition | None
) -> Share | None:
    """None when there is no such Agent. Only the digests of Cards that fit the page are computed."""
    later = "" if after is None else " AND (published_at < $3 OR published_at = $3 AND release_id > $4)"
    found = (
        "SELECT release_id, published_at, octet_length(document) AS weight FROM registry.shared_release AS release"  # noqa: S608
        f" WHERE release.agent_id = agent.agent_id{later} ORDER BY {_SHARED_ORDER} LIMIT $2"
    )
    page = weighed(found, size=size, order=_SHARED_ORDER)
    text = (
        "SELECT page.release_id, page.published_at, page.weight,"  # noqa: S608
        " (SELECT agrees FROM registry.shared_release AS one WHERE one.release_id = page.release_id), page.found,"
        " EXISTS (SELECT FROM registry.shared_release AS one WHERE one.agent_id = agent.agent_id) AS shares"
        f" FROM registry.public_agent AS agent LEFT JOIN LATERAL ({page}) AS page ON true"
        f" WHERE agent.public_agent_id = $1 ORDER BY {_SHARED_ORDER}"
    )
    records = await connection.fetch(text, public_agent_id, size.rows, *(after or ()))
    if not records:
        return None
    first = records[0]
    if first["release_id"] is None:  # an empty page
        return Share(RowPage((), 0), first["shares"])
    return Share(RowPage(to_rows(ReleaseOfShare, records[: size.limit]), first["found"]), first["shares"])


async def shared_documents(connection: Connection, release_ids: Sequence[str]) -> Sequence[SharedDocument]:
    """Those of the Releases that are still shared, with their Cards, in the order of the list."""
    return to_rows(SharedDocument, await connection.fetch(_SHARED_DOCUMENTS, release_ids))


def _eligible(conditions: Conditions, found: str) -> str:
    """Reads the Release of one version after the other, in their order, until the page is full."""
    kept = [*conditions.installable("eligible"), *conditions.latest("eligible")]
    return (
        f"SELECT item.* FROM ({found}) AS item CROSS JOIN LATERAL (SELECT installable FROM registry.eligible_version"  # noqa: S608
        f" AS version WHERE (version.agent_id, version.version) = (item.agent_id, item.version) LIMIT 1) AS eligible"
        f"{where(kept)} ORDER BY {_ORDER}"
    )


async def page_of(
    connection: Connection, conditions: Conditions, size: PageSize, found: str, order: str = _ORDER
) -> RowPage[EligibleVersion]:
    """Reads all columns of the few rows that are left. The boundary is of the same snapshot as they are."""
    query = (
        f"SELECT version.agent_id, version.version, digest, document, registered_at, version.published_at, release_id,"  # noqa: S608
        f" release_state, public_agent_id, {conditions.boundary()} AS boundary, score, octet_length(document) AS weight"
        f" FROM (SELECT agent_id, version, score FROM ({found}) AS found"
        f" ORDER BY {order} LIMIT {conditions.rows}) AS item"
        f" JOIN registry.eligible_version AS version USING (agent_id, version)"
        f" JOIN registry.public_agent USING (agent_id)"
    )
    return await fetch_page(connection, EligibleVersion, query, conditions.values, size=size, order=order)


def where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""
