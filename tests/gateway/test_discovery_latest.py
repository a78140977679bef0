"""The latest versions that a search finds: it reads the Cards of those it returns, and no other."""

from typing import Any

import pytest

from aop.control_plane.discovery import search
from aop.control_plane.discovery.conditions import Filters, PageRequest
from aop.control_plane.discovery.query import WordQuery, word_query
from aop.local.state import DatabaseUrls
from aop.store.rows import PageSize
from tests.gateway.explaining import Explaining
from tests.gateway.word_catalog import put
from tests.support.cards import a_card
from tests.support.postgres import PostgresForTests, session

pytestmark = pytest.mark.second_ring

_AGENTS, _VERSIONS, _LIMIT = 40, 12, 5


def _words(query: str) -> WordQuery:
    words = word_query(query)
    assert words is not None
    return words


@pytest.mark.parametrize(
    ("more", "max_cards"),
    [({}, 2 * (_LIMIT + 1)), ({"owner_id": "firm-7"}, 2 * _AGENTS)],
    ids=["words alone", "of one owner"],
)
async def test_a_search_for_the_latest_reads_the_cards_that_it_returns(
    postgres: PostgresForTests, stores: DatabaseUrls, more: dict[str, Any], max_cards: int
) -> None:
    cards = [
        a_card(agent_id=f"acme:agent-{agent}", version=f"{version}.0.0", name="Summarizer", owner=f"firm-{agent}")
        for agent in range(_AGENTS)
        for version in range(1, _VERSIONS + 1)
    ]
    await put(stores, cards)
    async with session(postgres.url(stores.migration.rpartition("/")[2])) as owner:
        await owner.execute("VACUUM (ANALYZE) registry.card")
        explaining, request = Explaining(owner), PageRequest(PageSize(_LIMIT, 2**20), None)
        page = await search._ranked(explaining, _words("summarizer"), Filters(latest=True, **more), request)
    expected = 1 if more else _LIMIT
    assert [row.version for row in page.rows] == [f"{_VERSIONS}.0.0"] * expected
    assert len({row.agent_id for row in page.rows}) == expected
    assert explaining.cards <= max_cards
