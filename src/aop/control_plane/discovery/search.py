"""Discovery: eligible versions by relevance or newest first, in pages that repeat no version and leave none out."""

from dataclasses import replace

from aop.contracts.catalog import DiscoveryOrder
from aop.control_plane.discovery import store
from aop.control_plane.discovery.conditions import Filters, PageRequest, SearchPosition
from aop.control_plane.discovery.items import RawDiscoveryItem, discovery_item
from aop.control_plane.discovery.query import WordQuery, word_query
from aop.control_plane.discovery.ranked_store import Ranking, rank
from aop.control_plane.discovery.relevance import NO_POINTS, POINTS
from aop.control_plane.discovery.store import EligibleVersion
from aop.control_plane.pages import ListPage
from aop.control_plane.registry.index_keys import folded
from aop.store.database import Connection, Database
from aop.store.rows import PageSize, RowPage

_LIKELY = 1.4
"""A long walk is worth its time if it is expected to find so many times more rows than the page needs."""
_GATHERING = 8
"""A walk passes so many versions in the time in which one is gathered."""


class Search:
    def __init__(self, database: Database, public_origin: str) -> None:
        self._database = database
        self._public_origin = public_origin

    async def page(
        self, filters: Filters, size: PageSize, after: SearchPosition | None
    ) -> ListPage[RawDiscoveryItem, SearchPosition]:
        words, request = None if filters.query is None else word_query(filters.query), PageRequest(size, after)
        if words is None:
            async with self._database.connection() as connection:
                literal = None if filters.query is None else folded(filters.query)
                page = await _find(connection, replace(filters, query=literal), request)
        else:
            # One snapshot: what a word may mean, and where it stands.
            async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
                page = await _ranked(connection, words, filters, request)
        items = [discovery_item(row, self._public_origin) for row in page.rows]
        return ListPage(items, None if page.is_last else _position(page.rows[-1]))


async def _ranked(
    connection: Connection, words: WordQuery, filters: Filters, request: PageRequest
) -> RowPage[EligibleVersion]:
    meanings = await words.meanings(connection)
    if meanings is None:
        return RowPage((), 0)
    points = POINTS if filters.order is DiscoveryOrder.RELEVANCE else NO_POINTS
    return await rank(connection, Ranking(meanings, len(words.words), points), replace(filters, query=None), request)


async def _find(connection: Connection, filters: Filters, request: PageRequest) -> RowPage[EligibleVersion]:
    # A walk soon meets what many versions fit, and an index soon gathers what few versions fit. The statistics of the
    # store do not reliably tell which of the two a filter is; a short walk finds out.
    if filters.sifts:
        page = await store.walk(connection, filters, request, store.SHORT_WALK)
        if page.found < request.size.rows and filters.indexed and _is_walk_faster(page, request):
            page = await store.walk(connection, filters, request, store.LONG_WALK)
        if page.found == request.size.rows:
            return page
    return await (store.gather if filters.indexed else store.follow)(connection, filters, request)


def _is_walk_faster(short: RowPage[EligibleVersion], request: PageRequest) -> bool:
    """By what a short walk returned, and the highest publication number: there are at most so many versions."""
    if not short.rows:
        return False
    share = short.found / store.SHORT_WALK
    to_walk, to_gather = request.size.rows / share, share * short.rows[0].boundary
    return to_walk * _LIKELY <= store.LONG_WALK and to_walk < to_gather * _GATHERING


def _position(row: EligibleVersion) -> SearchPosition:
    return SearchPosition(row.boundary, row.score, row.published_at, row.agent_id, row.version)
