"""Figures count what the list counts, at every moment: before and after numbers, tiles and late ends."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import asyncpg
import pytest

from aop.base.clock import from_text, utc_now
from aop.base.ids import new_hex_id
from aop.contracts.figures import LATENCY_ERROR, CallCounts, Figures, Latency, Window, WindowFigures
from aop.contracts.lineage import InvocationRecord
from aop.ledger.figures.latency_buckets import LOWER_BOUNDS, latency_of
from aop.ledger.figures.reader import FiguresReader
from aop.ledger.figures.tally import Latencies
from aop.ledger.figures.tiles import NUMBERS_IN_TILE, begin_edition
from aop.ledger.model import CANCELED, LOST, ROUTER_ENDED, SUCCEEDED, TIMED_OUT, Place, terminal_fact
from aop.ledger.reader import LedgerReader
from aop.ledger.record_filter import ListRead, RecordFilter
from aop.local.state import DatabaseUrls
from aop.store.database import Database
from tests.ledger.test_sequence import all_numbered, rows, sequencer
from tests.ledger.writing import SPACE, Writing, a_context, an_acceptance, breaches, writing
from tests.support.postgres import PostgresForTests

CALLS, FAILING = 1_330, 0.12
MINUTES = 90
RANDOM_WINDOWS = 20


async def listed(ledger: LedgerReader, filters: RecordFilter) -> list[InvocationRecord]:
    """Every page of the list."""
    found, after = list[InvocationRecord](), None
    while True:
        page = await ledger.page(ListRead(SPACE, 500, filters, after=after))
        found += page.records
        after = page.last
        if after is None:
            return found


def counted(records: Iterable[InvocationRecord]) -> dict[str, int]:
    statuses = Counter(record.status.value for record in records)
    names = dict.fromkeys(CallCounts.__struct_fields__, 0)
    return {**names, "calls": statuses.total(), **statuses}


def require_equal(figures: WindowFigures, records: Sequence[InvocationRecord]) -> None:
    def by(*names: str) -> dict[Any, dict[str, int]]:
        keys = {tuple(getattr(record, name) for name in names) for record in records}
        return {
            key: counted(record for record in records if tuple(getattr(record, name) for name in names) == key)
            for key in keys
        }

    def as_dict(counts: CallCounts) -> dict[str, int]:
        return {name: getattr(counts, name) for name in counts.__struct_fields__}

    assert as_dict(figures.counts) == counted(records)
    assert {(one.agent_id,): as_dict(one.counts) for one in figures.agents} == by("target_agent_id")
    skills = {(one.agent_id, one.capability): as_dict(one.counts) for one in figures.skills}
    assert skills == by("target_agent_id", "capability")
    codes = Counter(record.error_code for record in records if record.error_code)
    assert {one.code: one.calls for one in figures.errors} == codes
    reasons = Counter((record.error_code, record.reason) for record in records if record.reason)
    assert {(one.code, each.reason): each.calls for one in figures.errors for each in one.reasons} == reasons
    require_latency(
        figures.latency, sorted(record.latency_ms for record in records if isinstance(record.latency_ms, int))
    )


def require_latency(latency: object, exact: Sequence[int]) -> None:
    if not exact:
        assert not isinstance(latency, Latency)
        return
    assert isinstance(latency, Latency)
    assert latency.max == exact[-1]
    for percent, value in ((50, latency.p50), (90, latency.p90), (99, latency.p99)):
        right = exact[-(-len(exact) * percent // 100) - 1]
        assert abs(value - right) <= LATENCY_ERROR * right, (percent, value, right)


def cut(window: Window, records: Sequence[InvocationRecord]) -> list[list[InvocationRecord]]:
    buckets: list[list[InvocationRecord]] = [[] for _ in range(window.buckets)]
    for record in records:
        created = from_text(record.created_at)
        if window.since <= created < window.until:
            buckets[int((created - window.since).total_seconds() // window.step)].append(record)
    return buckets


def random_window(random: Random, begin: datetime) -> Window:
    since = begin + timedelta(minutes=random.randrange(-5, MINUTES))
    until = since + timedelta(minutes=random.randrange(1, MINUTES))
    return Window(since, until, 60 * random.choice((1, 1, 2, 5, 7, 60)))


async def require_figures_of_the_list(url: str, begin: datetime, seed: int) -> Figures:
    """The whole, and random windows, against every page of the list of the whole."""
    database = await Database.open(url, size=2, application="test")
    try:
        ledger, reader, random = LedgerReader(database), FiguresReader(database), Random(seed)
        whole = Window(begin, begin + timedelta(minutes=MINUTES), 60)
        records = await listed(ledger, RecordFilter(since=whole.since, until=whole.until))
        for window in (whole, *(random_window(random, begin) for _ in range(RANDOM_WINDOWS))):
            found, buckets = await reader.read(SPACE, window), cut(window, records)
            require_equal(found.total, [record for bucket in buckets for record in bucket])
            for figures, bucket in zip(found.buckets, buckets, strict=True):
                require_equal(figures, bucket)
        failed = await listed(ledger, RecordFilter(since=whole.since, until=whole.until, agent_id="acme:1"))
        found = await reader.read(SPACE, whole)
        (agent,) = [one for one in found.total.agents if one.agent_id == "acme:1"]
        assert agent.counts.calls == len(failed)
        return found
    finally:
        await database.close()


async def call(written: Writing, random: Random, begin: datetime) -> Place | None:
    """One call of the hour; some of them go on running."""
    at = begin + timedelta(seconds=random.uniform(0, MINUTES * 60 - 1))
    context = a_context(agent=f"acme:{random.randrange(3)}", capability=f"skill-{random.randrange(3)}")
    place = await written.journal.accept(an_acceptance(context, at=at))
    if random.random() < 0.05:
        return place
    await end(written, random, place)
    return None


async def end(written: Writing, random: Random, place: Place) -> None:
    terminal = SUCCEEDED
    if random.random() < FAILING:
        terminal = random.choice((LOST, ROUTER_ENDED, TIMED_OUT, CANCELED))
    moment = place.created_at + timedelta(milliseconds=random.lognormvariate(5, 1.5))
    assert await written.journal.end(terminal_fact(place, new_hex_id(), moment, terminal))


async def some(written: Writing, random: Random, begin: datetime, number: int) -> list[Place]:
    """Returns those that run."""
    return [place for place in await asyncio.gather(*(call(written, random, begin) for _ in range(number))) if place]


@pytest.mark.long
@pytest.mark.rows("FIND-03")
async def test_figures_equal_the_lists_before_and_after_numbers_tiles_and_late_ends(
    stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    url, random = stores.router, Random(1330)
    begin = utc_now().astimezone(UTC).replace(second=0, microsecond=0) - timedelta(minutes=MINUTES)
    async with writing(url, router_id="router-2") as beside, writing(url) as written:
        running = [(beside, place) for place in await some(beside, random, begin, CALLS // 2)]
        await require_figures_of_the_list(url, begin, 1)  # an old Ledger, without a number
        async with sequencer(url, "router-3"):
            running += [(written, place) for place in await some(written, random, begin, CALLS - CALLS // 2)]
            await all_numbered(url)
            await has_tiles(url, 1)
            found = await require_figures_of_the_list(url, begin, 2)
        assert found.total.counts.calls == CALLS
        assert found.total.counts.running == len(running)
        for writer, place in running[::2]:  # nobody numbers them now
            await end(writer, random, place)
        await some(written, random, begin, 20)
        await require_figures_of_the_list(url, begin, 3)
        async with sequencer(url, "router-4"):
            await all_numbered(url)
        await require_figures_of_the_list(url, begin, 4)
    assert await breaches(url) == []
    connection = await asyncpg.connect(postgres.url(stores.migration.rpartition("/")[2]))
    try:
        await require_tampering_is_found(connection, url)
        edition = await begin_edition(connection)
        assert edition == 2
    finally:
        await connection.close()
    await require_figures_of_the_list(url, begin, 5)
    assert await breaches(url) == []


async def require_tampering_is_found(connection: Any, url: str) -> None:
    """The check compares tiles with the rows they count, and numbers with the rows they name."""
    for table in ("number", "figure", "numbering", "numbered_position"):
        await connection.execute(f"ALTER TABLE ledger.{table} DISABLE TRIGGER USER")
    for problem, statement, undone in TAMPERING:
        await connection.execute(statement)
        found = await breaches(url)
        assert any(problem in text for text in found), (problem, found)
        await connection.execute(undone)
        assert await breaches(url) == []
    for table in ("number", "figure", "numbering", "numbered_position"):
        await connection.execute(f"ALTER TABLE ledger.{table} ENABLE TRIGGER USER")


_FIRST = "UPDATE ledger.figure SET calls[1] = calls[1] {} 1 WHERE minute = (SELECT min(minute) FROM ledger.figure)"
_LATENCY = "UPDATE ledger.figure SET max_latency_ms = max_latency_ms {} 1"
_GAP = "UPDATE ledger.number SET number = number {0} 1000000 WHERE number >= {1}"
_OTHER = "UPDATE ledger.number SET is_terminal = NOT is_terminal WHERE sequence = 3"
_MOVED = "UPDATE ledger.number SET sequence = {}, events = {} WHERE sequence = {}"
_SETTLED = "UPDATE ledger.numbering SET settled = {}"
TAMPERING = (
    ("does not count the calls", _FIRST.format("+"), _FIRST.format("-")),
    ("does not count the calls", _LATENCY.format("+"), _LATENCY.format("-")),
    ("does not follow the one before it", _GAP.format("+", 30), _GAP.format("-", 1_000_000)),
    ("is not of the row that it names", _OTHER, _OTHER),
    ("has no number although", _MOVED.format(100, 1, 0), _MOVED.format(0, 3, 100)),
    ("its terminal has no number", _SETTLED.format("past"), _SETTLED.format(0)),
)


async def has_tiles(url: str, number: int) -> None:
    for _ in range(500):
        if (await rows(url, "SELECT count(*) AS n FROM ledger.figure_tile"))[0]["n"] >= number:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"no {number} tiles of {NUMBERS_IN_TILE} numbers")


async def test_agents_and_skills_beyond_the_limits_are_counted_together_and_said(stores: DatabaseUrls) -> None:
    now = utc_now()
    minute = now.replace(second=0, microsecond=0)
    async with writing(stores.router) as written:
        contexts = [a_context(agent=f"acme:{number:03}") for number in range(205)] + [a_context(agent="acme:204")]
        await asyncio.gather(*(written.journal.accept(an_acceptance(context, at=now)) for context in contexts))
    database = await Database.open(stores.router, size=1, application="test")
    try:
        found = await FiguresReader(database).read(SPACE, Window(minute, minute + timedelta(minutes=1), 60))
    finally:
        await database.close()
    assert (found.left_out.agents, found.left_out.skills) == (5, 5)
    assert (found.total.counts.calls, len(found.total.agents), len(found.total.skills)) == (206, 200, 200)
    assert found.total.agents[0].agent_id == "acme:204"
    assert isinstance(found.total.other_agents, CallCounts)
    assert found.total.other_agents.calls == 5
    (bucket,) = found.buckets
    assert [one.agent_id for one in bucket.agents] == [one.agent_id for one in found.total.agents[:10]]
    assert isinstance(bucket.other_skills, CallCounts)
    assert bucket.other_skills.calls == bucket.other_skills.running == 206 - 11


def test_every_latency_is_within_the_error_of_its_bucket() -> None:
    assert (len(LOWER_BOUNDS), LOWER_BOUNDS[:3], LOWER_BOUNDS[-1]) == (644, [0, 1, 2], 1_056_971_944_247)
    for number, lowest in enumerate(LOWER_BOUNDS[:-1], 1):
        for exact in (lowest, LOWER_BOUNDS[number] - 1):
            latencies = Latencies()
            latencies.add_calls(number, 1, 2**50)
            assert abs(latency_of(latencies).p50 - exact) <= LATENCY_ERROR * exact
