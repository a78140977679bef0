"""Discovery: eligible versions in the order of publication, in pages that one traversal never repeats or mixes."""

from collections.abc import Sequence
from dataclasses import dataclass

from aop.control_plane.discovery import store
from aop.control_plane.discovery.conditions import After, Part, Wanted
from aop.control_plane.discovery.items import DiscoveryItem, discovery_item
from aop.control_plane.registry.search_text import folded, query_grams
from aop.store.database import Connection, Database

_LIKELY = 1.4
"""So many times more than needed is to be expected of a walk that is worth its time."""
_GATHERING = 8
"""So many versions are passed on a walk in the time in which one is gathered."""


@dataclass(frozen=True)
class Filters:
    """As the caller gives them; they combine with AND."""

    query: str | None = None
    capability: str | None = None
    owner_id: str | None = None
    latest: bool = False
    installable: bool | None = None


@dataclass(frozen=True)
class FoundPage:
    """Some items, and the place after the last of them when more exist."""

    items: Sequence[DiscoveryItem]
    last: After | None


class Search:
    def __init__(self, database: Database, public_origin: str) -> None:
        self._database = database
        self._public_origin = public_origin

    async def page(self, filters: Filters, limit: int, most_bytes: int, after: After | None) -> FoundPage:
        wanted, part = _wanted(filters), Part(limit + 1, most_bytes, after)
        async with self._database.connection() as connection:
            rows = await _rows(connection, wanted, part)
        shown = rows[:limit]
        more = _found(rows) > len(shown)
        items = [discovery_item(row, self._public_origin) for row in shown]
        return FoundPage(items, _place(shown[-1]) if more else None)


async def _rows(connection: Connection, wanted: Wanted, part: Part) -> Sequence[store.Row]:
    # What many versions fit is soon met on a walk, what few fit is soon gathered by an index. Which of the two a filter
    # is, statistics of the store do not tell reliably; so a short walk finds out.
    if wanted.sifts:
        rows = await store.walk(connection, wanted, part, store.SHORT_WALK)
        if _found(rows) < part.rows and wanted.indexed and _is_sooner_met_than_gathered(rows, part):
            rows = await store.walk(connection, wanted, part, store.LONG_WALK)
        if _found(rows) == part.rows:
            return rows
    return await (store.gather if wanted.indexed else store.follow)(connection, wanted, part)


def _is_sooner_met_than_gathered(rows: Sequence[store.Row], part: Part) -> bool:
    """Going by what a short walk found, and by how many versions there are at most: the last one has that number."""
    if not rows:
        return False
    met = _found(rows) / store.SHORT_WALK
    ahead, to_gather = part.rows / met, met * rows[0]["boundary"]
    return ahead * _LIKELY <= store.LONG_WALK and ahead < to_gather * _GATHERING


def _wanted(filters: Filters) -> Wanted:
    text = None if filters.query is None else folded(filters.query)
    return Wanted(
        text=text,
        grams=() if text is None else query_grams(text),
        capability=filters.capability,
        owner_id=filters.owner_id,
        latest=filters.latest,
        installable=filters.installable,
    )


def _found(rows: Sequence[store.Row]) -> int:
    """How many rows there are, shown or left out for their weight."""
    return rows[0]["found"] if rows else 0


def _place(row: store.Row) -> After:
    return After(row["boundary"], row["published_at"], row["agent_id"], row["version"])
