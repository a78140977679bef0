"""Calls at random times, and figures of random windows against every page of the list."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from aop.base.clock import from_text, utc_now
from aop.base.ids import new_hex_id
from aop.contracts.figures import LATENCY_ERROR, CallCounts, Figures, Latency, Window, WindowFigures
from aop.contracts.lineage import InvocationRecord
from aop.ledger.figures.reader import FiguresReader
from aop.ledger.model import CANCELED, LOST, ROUTER_ENDED, SUCCEEDED, TIMED_OUT, LastFact, terminal_fact
from aop.ledger.read.reader import LedgerReader
from aop.ledger.read.record_filter import ListRead, RecordFilter
from tests.ledger.test_sequence import rows
from tests.ledger.writing import SPACE, Writing, a_context, an_acceptance
from tests.support.postgres import opened_database
from tests.support.waiting import becomes_true

FAILING = 0.12
MINUTES = 90
DAY = 24 * 60
LONG_SECONDS = 600.0
"""For tens of thousands of numbers on a machine that does a dozen other things."""


async def listed(ledger: LedgerReader, filters: RecordFilter) -> list[InvocationRecord]:
    """Every page of the list."""
    found, after = list[InvocationRecord](), None
    while True:
        page = await ledger.page(ListRead(SPACE, 500, filters, after=after))
        found += page.items
        after = page.last
        if after is None:
            return found


def counted(records: Iterable[InvocationRecord]) -> dict[str, int]:
    statuses = Counter(record.status.value for record in records)
    names = dict.fromkeys(CallCounts.__struct_fields__, 0)
    return {**names, "calls": statuses.total(), **statuses}


def require_equal(figures: WindowFigures, records: Sequence[InvocationRecord]) -> None:
    def by(*names: str) -> dict[Any, dict[str, int]]:
        kept = defaultdict[Any, list[InvocationRecord]](list)
        for record in records:
            kept[tuple(getattr(record, name) for name in names)].append(record)
        return {key: counted(each) for key, each in kept.items()}

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


def random_window(random: Random, begin: datetime, minutes: int) -> Window:
    """As often as not of whole steps since midnight, so that cells of every width are read."""
    since = begin + timedelta(minutes=random.randrange(-5, minutes))
    length, step = random.randrange(1, minutes), random.choice((1, 1, 2, 5, 7, 60, 90, 240, DAY))
    if random.random() < 0.5:
        since -= timedelta(minutes=(since.hour * 60 + since.minute) % step)
    return Window(since, since + timedelta(minutes=min(length, 400 * step)), 60 * step)


async def require_figures_of_the_list(
    url: str, begin: datetime, seed: int, *, minutes: int = MINUTES, windows: int = 20
) -> Figures:
    """The whole, and random windows, against every page of the list of the whole."""
    async with opened_database(url, size=2) as database:
        ledger, reader, random = LedgerReader(database), FiguresReader(database), Random(seed)
        whole = Window(begin, begin + timedelta(minutes=minutes), 60 * -(-minutes // 400))
        records = await listed(ledger, RecordFilter(since=whole.since, until=whole.until))
        for window in (whole, *(random_window(random, begin, minutes) for _ in range(windows))):
            found, buckets = await reader.read(SPACE, window), cut(window, records)
            require_equal(found.total, [record for bucket in buckets for record in bucket])
            for figures, bucket in zip(found.buckets, buckets, strict=True):
                require_equal(figures, bucket)
        of_agent = await listed(ledger, RecordFilter(since=whole.since, until=whole.until, agent_id="acme:1"))
        found = await reader.read(SPACE, whole)
        (agent,) = [one for one in found.total.agents if one.agent_id == "acme:1"]
        assert agent.counts.calls == len(of_agent)
        return found


async def call(written: Writing, random: Random, begin: datetime, minutes: int) -> LastFact | None:
    """One call of the time; some of them go on running."""
    at = begin + timedelta(seconds=random.uniform(0, minutes * 60 - 1))
    context = a_context(agent=f"acme:{random.randrange(3)}", capability=f"skill-{random.randrange(3)}")
    place = await written.journal.accept(an_acceptance(context, at=at))
    if random.random() < 0.05:
        return place
    await end(written, random, place)
    return None


async def end(written: Writing, random: Random, place: LastFact) -> None:
    terminal = SUCCEEDED
    if random.random() < FAILING:
        terminal = random.choice((LOST, ROUTER_ENDED, TIMED_OUT, CANCELED))
    moment = place.created_at + timedelta(milliseconds=random.lognormvariate(5, 1.5))
    assert await written.journal.end(terminal_fact(place, new_hex_id(), moment, terminal))


async def some(
    written: Writing, random: Random, begin: datetime, number: int, *, minutes: int = MINUTES
) -> list[LastFact]:
    """Returns those that run."""
    made = await asyncio.gather(*(call(written, random, begin, minutes) for _ in range(number)))
    return [place for place in made if place]


def whole_minute(before: timedelta) -> datetime:
    return utc_now().astimezone(UTC).replace(second=0, microsecond=0) - before


async def has_tiles(url: str, number: int, *, level: int = 0) -> None:
    async def are_there() -> bool:
        found = await rows(url, f"SELECT count(*) AS n FROM ledger.figure_tile WHERE level = {level}")
        return bool(found[0]["n"] >= number)

    await becomes_true(are_there, LONG_SECONDS)
