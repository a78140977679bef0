"""Figures count what the list counts, at every moment: before and after numbers, tiles and late ends."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from random import Random
from typing import Any

import asyncpg
import pytest

from aop.base.clock import utc_now
from aop.contracts.errors import InvalidRequest, Violation
from aop.contracts.figures import LATENCY_ERROR, CallCounts, Window
from aop.ledger.figures import reader
from aop.ledger.figures.latency_buckets import LOWER_BOUNDS, bucket_of, latency_of
from aop.ledger.figures.pieces import Piece, pieces_of
from aop.ledger.figures.reader import FiguresReader
from aop.ledger.figures.tiles import begin_edition
from aop.local.state import DatabaseUrls
from aop.store import migrations
from aop.store.migrations import migrate, migrations_of
from aop.store.problems import StoreUnavailable
from tests.ledger.figuring import (
    DAY,
    MINUTES,
    end,
    has_tiles,
    random_window,
    require_figures_of_the_list,
    some,
    whole_minute,
)
from tests.ledger.test_sequence import all_numbered, sequencer
from tests.ledger.writing import SPACE, a_context, an_acceptance, breaches, writing
from tests.support.postgres import PostgresForTests, opened_database

pytestmark = pytest.mark.second_ring

CALLS = 1_330
FORMER = 10
"""The version of the Ledger's schema in which every cell was a row."""


@pytest.mark.long
@pytest.mark.rows("FIND-03")
async def test_figures_equal_the_lists_before_and_after_numbers_tiles_and_late_ends(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    url, random = stores.router, Random(1330)
    begin = whole_minute(timedelta(minutes=MINUTES))
    async with writing(url, router_id="router-2") as beside, writing(url) as written:
        running = [(beside, place) for place in await some(beside, random, begin, CALLS // 2)]
        await require_figures_of_the_list(url, begin, 1)  # an old Ledger, without a number
        async with sequencer(url, "router-3"):
            running += [(written, place) for place in await some(written, random, begin, CALLS - CALLS // 2)]
            await all_numbered(url)
            await has_tiles(url, 4)
            found = await require_figures_of_the_list(url, begin, 2)
        assert found.total.counts.calls == CALLS
        assert found.total.counts.running == len(running)
        for writer, place in running[::2]:  # nobody numbers them now
            await end(writer, random, place)
        await some(written, random, begin, 20)
        await require_figures_of_the_list(url, begin, 3)
        async with sequencer(url, "router-4"):
            await all_numbered(url)
        await require_figures_of_the_list(url, begin, 4, windows=200)
    assert await breaches(url) == []
    connection = await asyncpg.connect(postgres.url(stores.migration.rpartition("/")[2]))
    try:
        await require_tampering_is_found(connection, url, TAMPERING)
        edition = await begin_edition(connection)
        assert edition == 2
    finally:
        await connection.close()
    await require_figures_of_the_list(url, begin, 5)
    assert await breaches(url) == []


@pytest.mark.long
@pytest.mark.rows("FIND-03")
async def test_a_ledger_with_the_tiles_of_before_is_migrated_and_counted_again_in_two_levels(
    postgres: PostgresForTests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Enough calls for a tile of level 1, in days, so that cells of all widths are read."""
    database = await postgres.new_database()
    stores, superuser, random = postgres.platform_urls(database), postgres.url(database), Random(17)
    with monkeypatch.context() as former:
        former.setattr(
            migrations, "migrations_of", lambda owner: migrations_of(owner)[: FORMER if owner == "ledger" else None]
        )
        await migrate(stores.migration)
    url, minutes, connection = stores.router, 3 * DAY, await asyncpg.connect(superuser)
    begin = whole_minute(timedelta(minutes=minutes))
    try:
        await connection.execute(FORMER_TILE)
        await migrate(stores.migration)
        async with writing(url) as written:
            await some(written, random, begin, 1_000, minutes=minutes)
            async with sequencer(url, "router-3"):
                for _ in range(16):
                    await some(written, random, begin, 1_000, minutes=minutes)
                await has_tiles(url, 1, level=1)
                await all_numbered(url)
            found = await require_figures_of_the_list(url, begin, 6, minutes=minutes, windows=40)
        assert found.total.counts.calls == 17_000
        assert await breaches(url) == []
        await require_tampering_is_found(connection, url, TAMPERING_OF_LEVEL_1)
    finally:
        await connection.close()
        await postgres.drop(database)


FORMER_TILE = """
INSERT INTO ledger.figure_tile (edition, level, tile) VALUES (1, 0, 0);
INSERT INTO ledger.figure (workspace_id, edition, level, tile, width, start, keys, calls)
VALUES ('space', 1, 0, 0, 60, '2026-01-01', '{1}', '{7}')
"""


async def require_tampering_is_found(connection: Any, url: str, tampering: Sequence[tuple[str, str, str]]) -> None:
    """The check compares tiles with what they count, and numbers with the rows they name."""
    for table in ("number", "figure", "numbering", "numbered_position"):
        await connection.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER USER")
    for problem, statement, undone in tampering:
        await connection.execute(statement)
        found = await breaches(url)
        assert any(problem in text for text in found), (problem, found)
        await connection.execute(undone)
        assert await breaches(url) == []
    for table in ("number", "figure", "numbering", "numbered_position"):
        await connection.execute(f"ALTER TABLE ledger.{table} ENABLE TRIGGER USER")


_CELL = (  # its last byte, and a second time back again
    "UPDATE ledger.figure SET {0} = set_byte({0}, length({0}) - 1, get_byte({0}, length({0}) - 1) # 1)"
    " WHERE level = {1} AND width = {2}"
)
_GAP = "UPDATE ledger.number SET number = number {0} 1000000 WHERE number >= {1}"
_OTHER = "UPDATE ledger.number SET is_terminal = NOT is_terminal WHERE sequence = 3"
_MOVED = "UPDATE ledger.number SET sequence = {}, events = {} WHERE sequence = {}"
_SETTLED = "UPDATE ledger.numbering SET settled = {}"
TAMPERING = (
    *(
        (
            f": does not count the calls of Workspace space in {width} s",
            _CELL.format(column, 0, width),
            _CELL.format(column, 0, width),
        )
        for column, width in (("cell", 3600), ("parts", 3600), ("cell", 86400))
    ),
    ("does not follow the one before it", _GAP.format("+", 30), _GAP.format("-", 1_000_000)),
    ("is not of the row that it names", _OTHER, _OTHER),
    ("has no number although", _MOVED.format(100, 1, 0), _MOVED.format(0, 3, 100)),
    ("its terminal has no number", _SETTLED.format("past"), _SETTLED.format(0)),
)
TAMPERING_OF_LEVEL_1 = tuple(
    (
        f"of level 1: does not count the calls of Workspace space in {width} s",
        _CELL.format(column, 1, width),
        _CELL.format(column, 1, width),
    )
    for column, width in (("cell", 3600), ("parts", 3600), ("cell", 86400))
)


async def test_agents_and_skills_beyond_the_limits_are_counted_together_and_said(
    stores: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = utc_now()
    minute = now.replace(second=0, microsecond=0)
    async with writing(stores.router) as written:
        contexts = [a_context(agent=f"acme:{number:03}") for number in range(205)] + [a_context(agent="acme:204")]
        await asyncio.gather(*(written.journal.accept(an_acceptance(context, at=now)) for context in contexts))
    window = Window(minute, minute + timedelta(minutes=1), 60)
    async with opened_database(stores.router) as database:
        found = await FiguresReader(database).read(SPACE, window)
        monkeypatch.setattr(reader, "MAX_KEYS", 204)
        with pytest.raises(InvalidRequest) as refused:
            await FiguresReader(database).read(SPACE, window)
        monkeypatch.setattr(reader, "MAX_LATE", 204)
        with pytest.raises(StoreUnavailable):
            await FiguresReader(database).read(SPACE, window)
    assert refused.value.violations == (Violation("/since", "too_many_kinds"),)
    assert (found.left_out.agents, found.left_out.skills) == (5, 5)
    assert (found.total.counts.calls, len(found.total.agents), len(found.total.skills)) == (206, 200, 200)
    assert found.total.agents[0].agent_id == "acme:204"
    assert isinstance(found.total.other_agents, CallCounts)
    assert found.total.other_agents.calls == 5
    (bucket,) = found.buckets
    assert [one.agent_id for one in bucket.agents] == [one.agent_id for one in found.total.agents[:10]]
    assert isinstance(bucket.other_skills, CallCounts)
    assert bucket.other_skills.calls == bucket.other_skills.running == 206 - 11


def test_a_window_is_made_of_the_widest_cells_that_lie_in_one_step_each() -> None:
    random, midnight = Random(5), whole_minute(timedelta()).replace(hour=0, minute=0)
    for window in (random_window(random, midnight, 5 * DAY) for _ in range(200)):
        since, until = int(window.since.timestamp()), int(window.until.timestamp())
        cells = [(start, piece.width) for piece in pieces_of(window) for start in range(*piece[1:], piece.width)]
        assert [start + width for start, width in cells] == [*(start for start, _ in cells[1:]), until]
        assert cells[0][0] == since
        for start, width in cells:
            assert start % width == 0
            assert (start - since) // window.step == (start + width - 1 - since) // window.step
    day, at = Window(midnight, midnight + timedelta(days=1), 3600), int(midnight.timestamp())
    assert pieces_of(day) == [Piece(3600, at, at + 86_400)]
    assert pieces_of(Window(midnight, midnight + timedelta(days=3), 86_400)) == [Piece(86_400, at, at + 3 * 86_400)]
    odd = Window(midnight + timedelta(minutes=3), midnight + timedelta(minutes=129), 86_400)
    assert [piece.width for piece in pieces_of(odd)] == [60, 300, 3600, 300, 60]


def test_every_latency_is_within_the_error_of_its_bucket() -> None:
    assert (len(LOWER_BOUNDS), LOWER_BOUNDS[:3], LOWER_BOUNDS[-1]) == (644, [0, 1, 2], 1_056_971_944_247)
    for number, lowest in enumerate(LOWER_BOUNDS[:-1], 1):
        for exact in (lowest, LOWER_BOUNDS[number] - 1):
            assert bucket_of(exact) == number
            assert abs(latency_of([0] * number + [1], 2**50).p50 - exact) <= LATENCY_ERROR * exact
