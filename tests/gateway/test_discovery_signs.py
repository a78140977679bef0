"""A query without letters and digits has no index: it reads one version after the other, none twice."""

from dataclasses import replace

import pytest

from aop.control_plane.discovery import search
from aop.control_plane.discovery.conditions import Filters, PageRequest
from aop.local.state import DatabaseUrls
from aop.store.rows import PageSize
from tests.gateway.explaining import Explaining
from tests.gateway.word_catalog import put
from tests.support.cards import a_card, a_skill
from tests.support.postgres import PostgresForTests, session

_VERSIONS, _LIMIT = 480, 5


@pytest.mark.rows("CAT-20")
@pytest.mark.parametrize(
    ("filters", "every"),
    [(Filters(), 20), (Filters(capability="rare"), 60), (Filters(installable=False), 20)],
    ids=["signs alone", "with a Skill", "not installable"],
)
async def test_a_query_of_signs_finds_all_that_have_them_and_reads_each_version_once(
    postgres: PostgresForTests, stores: DatabaseUrls, filters: Filters, every: int
) -> None:
    cards = [
        a_card(
            agent_id=f"acme:agent-{number}",
            name="Arrow \u2192" if number % 20 == 0 else "Plain",
            skills=[a_skill("rare" if number % 60 == 0 else "common")],
            permissions=[],
        )
        for number in range(_VERSIONS)
    ]
    await put(stores, cards)
    found, after = list[str](), None
    async with session(postgres.url(stores.migration.rpartition("/")[2])) as owner:
        await owner.execute("VACUUM (ANALYZE) registry.card")
        while True:
            explaining = Explaining(owner)
            request = PageRequest(PageSize(_LIMIT, 2**20), after)
            page = await search._find(explaining, replace(filters, query="\u2192"), request)
            # All versions at most twice, by a short walk and by what follows it, and what the page returns.
            assert explaining.cards <= 2 * _VERSIONS + 3 * (_LIMIT + 1)
            found += [row.agent_id for row in page.rows]
            if page.is_last:
                break
            after = search._position(page.rows[-1])
    assert found == [f"acme:agent-{number}" for number in range(_VERSIONS - 1, -1, -1) if number % every == 0]
