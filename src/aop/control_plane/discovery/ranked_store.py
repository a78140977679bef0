"""SQL that ranks the versions in which every word of a query stands, in a number of steps that has a limit."""

from collections.abc import Sequence
from dataclasses import dataclass

from aop.control_plane.discovery.conditions import Conditions, Filters, PageRequest
from aop.control_plane.discovery.query import Meaning
from aop.control_plane.discovery.store import EligibleVersion, page_of, where
from aop.store.database import Connection
from aop.store.rows import RowPage

_COUNTED = 20_000
"""Uses that are counted to find the rarest word, of all words together."""
_RANKED = 5_000
"""Uses of the rarest word that are looked at: the most telling places first, then the newest versions."""
_ORDER = "score DESC, published_at DESC, agent_id, version"

# Uses of one word at a time, in the order of the arrays, which is from the best match to the worst. A nested loop keeps
# that order and ends with the limit; an ORDER BY would read all of them first.
_USES = (
    "FROM meaning CROSS JOIN LATERAL (SELECT version_id, places FROM registry.word_use AS used"
    " WHERE used.word_id = meaning.word_id ORDER BY places DESC, version_id DESC LIMIT {limit}) AS used"
)
# Arrays count from 1; `POINTS` has 128 entries for each match, one for every combination of places.
_BEST = "max(({points})[match * 128 + places + 1])"
_REACHED = (
    "WITH meaning AS MATERIALIZED ("  # noqa: S608
    "  SELECT * FROM unnest({words}, {terms}, {matches}) AS meaning (word_id, term, match)),"
    " rarest AS MATERIALIZED (SELECT term FROM generate_series(0, {number} - 1) AS term ORDER BY"
    f"  (SELECT count(*) FROM (SELECT {_USES.format(limit='{counted}')} WHERE meaning.term = term.term"
    "   LIMIT {counted}) AS counted), term LIMIT 1),"
    f" reached AS MATERIALIZED (SELECT version_id, match, places {_USES.format(limit=_RANKED)}"
    f"  WHERE term = (SELECT term FROM rarest) LIMIT {_RANKED})"
)
_ONE_WORD = f"{_REACHED} SELECT version_id, {_BEST} AS score FROM reached GROUP BY version_id"  # noqa: S608
# All uses in one version are read at once. OFFSET 0 keeps them apart from the meanings: an index look-up for each
# meaning of each word would be many times as many. What has an id that was asked for is a candidate in any case.
_MORE_WORDS = (
    f"{_REACHED}, candidate AS MATERIALIZED ("  # noqa: S608
    f" SELECT version_id FROM reached UNION SELECT version_id FROM ("
    f"  SELECT version_id {_USES.format(limit=_RANKED)} WHERE term = {{number}} LIMIT {_RANKED}) AS named)"
    " SELECT version_id, score FROM candidate CROSS JOIN LATERAL ("
    "  SELECT count(*) FILTER (WHERE term < {number}) AS met, sum(best) AS score FROM ("
    f"   SELECT term, {_BEST} AS best FROM ("
    "    SELECT word_id, places FROM registry.word_use WHERE word_use.version_id = candidate.version_id"
    "    OFFSET 0) AS used"
    "   JOIN meaning USING (word_id) GROUP BY term) AS each) AS summed WHERE met = {number}"
)


@dataclass(frozen=True)
class Ranking:
    """The words of a query by what they may mean, those numbered below `number` required, and the points of a match."""

    meanings: Sequence[Meaning]
    number: int
    points: Sequence[int]


async def rank(
    connection: Connection, ranking: Ranking, filters: Filters, page: PageRequest
) -> RowPage[EligibleVersion]:
    conditions = Conditions(filters, page)
    item = (
        f"SELECT agent_id, version, published_at, score FROM ({_scored(ranking, conditions)}) AS scored"  # noqa: S608
        " CROSS JOIN LATERAL (SELECT * FROM registry.indexed_version AS indexed"
        f" WHERE indexed.version_id = scored.version_id LIMIT 1) AS indexed"
        f" WHERE publication <= {conditions.boundary()}"
    )
    later, exact = conditions.after_score(), [*conditions.installable("version"), *conditions.fitting("version")]
    if filters.latest:
        # Which version is the latest depends on all that match, also on those of the pages before. The owner does not
        # judge versions, and without a filter that does an index answers for all of them: no Card is read.
        newest = "row_number() OVER (PARTITION BY item.agent_id ORDER BY precedence DESC, item.version DESC)"
        item = f"SELECT * FROM (SELECT item.*, {newest} AS rank {_eligible(item, exact)}) AS item WHERE rank = 1"  # noqa: S608
    ordered = f"SELECT * FROM ({item}) AS item{where(later)} ORDER BY {_ORDER}"  # noqa: S608
    found = f"SELECT item.* {_eligible(ordered, [*conditions.of_owner('version'), *exact])} ORDER BY {_ORDER}"
    return await page_of(connection, conditions, page.size, found, _ORDER)


def _eligible(item: str, exact: Sequence[str]) -> str:
    """Reads one version after the other, in their order, and leaves those that meet the exact filters."""
    kept = ["(version.agent_id, version.version) = (item.agent_id, item.version)", *exact]
    return (
        f"FROM ({item}) AS item CROSS JOIN LATERAL (SELECT precedence FROM registry.eligible_version AS version"  # noqa: S608
        f"{where(kept)} LIMIT 1) AS eligible"
    )


def _scored(ranking: Ranking, conditions: Conditions) -> str:
    meanings = ranking.meanings
    parts = {
        "words": conditions.bound("words", [one.word_id for one in meanings], "integer[]"),
        "terms": conditions.bound("terms", [one.term for one in meanings], "integer[]"),
        "matches": conditions.bound("matches", [int(one.match) for one in meanings], "integer[]"),
        "points": conditions.bound("points", ranking.points, "integer[]"),
        "number": conditions.bound("number", ranking.number, "integer"),
        "counted": conditions.bound("counted", min(_RANKED, _COUNTED // ranking.number), "bigint"),
    }
    alone = all(one.term == 0 for one in meanings)
    return (_ONE_WORD if alone else _MORE_WORDS).format(**parts)
