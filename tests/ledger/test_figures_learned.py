"""What the sequencer reads for figures: a row that it just numbered is read once, and any other where it lies."""

from datetime import timedelta
from random import Random

import pytest

from aop.ledger.figures.hours import NUMBERS_IN_TILE
from aop.local.state import DatabaseUrls
from tests.ledger.figuring import MINUTES, end, require_figures_of_the_list, some, whole_minute
from tests.ledger.holding import Holder
from tests.ledger.test_sequence import rows
from tests.ledger.writing import breaches, writing

pytestmark = pytest.mark.second_ring

_READ_BY_TILE = "array_agg(latency_ms) AS latencies"
CALLS = NUMBERS_IN_TILE // 4 + 30
"""More than a tile: each has four events, but for those that run."""


async def tiles(url: str) -> int:
    count: int = (await rows(url, "SELECT count(*) AS tiles FROM ledger.figure_tile"))[0]["tiles"]
    return count


@pytest.mark.rows("FIND-03")
async def test_rows_that_were_just_numbered_are_not_read_again_for_figures(stores: DatabaseUrls) -> None:
    url, random, begin = stores.router, Random(22), whole_minute(timedelta(minutes=MINUTES))
    holder = await Holder.of(url, "router-2")
    async with writing(url) as written:
        for counted in (1, 2, 3):
            for _ in range(2):  # of this batch and of the one before
                await some(written, random, begin, CALLS // 2)
                await holder.take_turns()
            assert await tiles(url) == counted
        holder.end()
        assert holder.sent(_READ_BY_TILE) == 0
        await require_figures_of_the_list(url, begin, 7)
    assert await breaches(url) == []


@pytest.mark.rows("FIND-03")
async def test_a_call_that_another_holder_numbered_is_read_for_figures_when_it_ends(stores: DatabaseUrls) -> None:
    url, random, begin = stores.router, Random(23), whole_minute(timedelta(minutes=MINUTES))
    first, second = await Holder.of(url, "router-2"), await Holder.of(url, "router-3")
    async with writing(url) as written:
        running = await some(written, random, begin, CALLS // 2)
        await first.take_turns()
        first.end()
        for place in running:
            await end(written, random, place)
        await some(written, random, begin, CALLS)
        await second.take_turns()
        assert await tiles(url) == 1
        assert second.sent(_READ_BY_TILE) > 0
        await some(written, random, begin, CALLS)
        await second.take_turns()
        assert await tiles(url) == 2
        second.end()
        await require_figures_of_the_list(url, begin, 8)
    assert await breaches(url) == []
