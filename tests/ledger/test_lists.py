"""The lists of Invocations: filters that combine, two orders, pages that read a limited number of rows."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import product

import asyncpg
import pytest
import pytest_asyncio
from msgspec import UNSET

from aop.base.clock import utc_now
from aop.base.ids import new_hex_id
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.identity import Caller, CallerType, InvocationContext
from aop.contracts.lineage import EventType, InvocationOrder, InvocationStatus, TraceItem
from aop.ledger.model import CANCELED, LOST, SUCCEEDED, TIMED_OUT, Terminal, terminal_fact
from aop.ledger.read.reader import LedgerReader
from aop.ledger.read.record_filter import ListRead, RecordFilter
from aop.local.state import DatabaseUrls
from aop.store.problems import StoreUnavailable
from tests.ledger.writing import SPACE, Writing, a_context, an_acceptance, listed_ids, new_epoch, reading, writing
from tests.support.postgres import PostgresForTests, opened_database

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNREACHED = Terminal(EventType.FAILED, ErrorCode.AGENT_UNAVAILABLE, Reason.CONNECT_FAILED)
REDIRECTED = Terminal(EventType.FAILED, ErrorCode.AGENT_UNAVAILABLE, Reason.HTTP_REDIRECT)
ENDS = (SUCCEEDED, LOST, CANCELED, UNREACHED, SUCCEEDED, TIMED_OUT, REDIRECTED, None)
BEGIN = utc_now() - timedelta(hours=1)
NEWEST, SLOWEST = InvocationOrder.NEWEST, InvocationOrder.SLOWEST


@dataclass(frozen=True)
class Fact:
    """What was written of one Invocation."""

    context: InvocationContext
    created_at: datetime
    end: Terminal | None
    latency_ms: int

    @property
    def key(self) -> str:
        return self.context.lineage.invocation

    @property
    def status(self) -> InvocationStatus:
        return InvocationStatus.RUNNING if self.end is None else InvocationStatus(self.end.type)


async def _call(written: Writing, number: int, parent: InvocationContext | None = None) -> Fact:
    """Several have the same time of creation, and several the same latency."""
    context = a_context(parent, agent=f"acme:{number % 2}", capability=f"skill-{number % 3}")
    if parent is None:
        context = a_context(
            agent=f"acme:{number % 2}",
            capability=f"skill-{number % 3}",
            caller=Caller(type=CallerType.USER, id="alice" if number % 4 else "bob"),
        )
    place = await written.journal.accept(an_acceptance(context, at=BEGIN + timedelta(seconds=number // 3)))
    end, latency = ENDS[number % len(ENDS)], 10 * (number * 7 % 5)
    if end is not None:
        moment = place.created_at + timedelta(milliseconds=latency)
        assert await written.journal.end(terminal_fact(place, new_hex_id(), moment, end))
    return Fact(context, place.created_at, end, latency)


@dataclass(frozen=True)
class Seeded:
    url: str
    facts: list[Fact]

    def expected(self, keeps: Callable[[Fact], bool], order: InvocationOrder) -> list[str]:
        kept = [fact for fact in self.facts if keeps(fact)]
        if order is NEWEST:
            return [fact.key for fact in sorted(kept, key=lambda fact: (fact.created_at, fact.key), reverse=True)]
        ended = [fact for fact in kept if fact.end is not None]
        return [fact.key for fact in sorted(ended, key=lambda fact: (-fact.latency_ms, fact.key))]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def seeded(postgres: PostgresForTests) -> AsyncIterator[Seeded]:
    """48 Invocations in two epochs, a third of them children, and some of another Workspace."""
    stores: DatabaseUrls = await postgres.new_platform()
    facts: list[Fact] = []
    for epoch in range(2):
        async with writing(stores.router) as written:
            parent = a_context(agent="acme:parent")
            root = await written.journal.accept(an_acceptance(parent, at=BEGIN))
            facts.append(Fact(parent, root.created_at, None, 0))
            for number in range(24):
                facts.append(await _call(written, number + epoch, parent if number % 3 == 2 else None))
            await written.journal.accept(an_acceptance(a_context(workspace="other")))
    await new_epoch(stores.router)
    yield Seeded(stores.router, facts)
    await postgres.drop(stores.migration.rpartition("/")[2])


Case = tuple[RecordFilter, Callable[[Fact], bool]]
SINCE, UNTIL = BEGIN + timedelta(seconds=2), BEGIN + timedelta(seconds=6)
FAILED, RUNNING = InvocationStatus.FAILED, InvocationStatus.RUNNING
UNAVAILABLE = {UNREACHED, REDIRECTED}


def _is(status: InvocationStatus) -> Callable[[Fact], bool]:
    return lambda fact: fact.status is status


def single_filters(trace: str) -> list[Case]:
    return [
        *((RecordFilter(status=status), _is(status)) for status in InvocationStatus),
        (RecordFilter(), lambda fact: True),
        (RecordFilter(agent_id="acme:1"), lambda fact: fact.context.pin.agent == "acme:1"),
        (RecordFilter(agent_id="acme:none"), lambda fact: False),
        (RecordFilter(caller_id="bob"), lambda fact: fact.context.caller.id == "bob"),
        (RecordFilter(caller_id="acme:parent"), lambda fact: False),
        (RecordFilter(root=True), lambda fact: fact.context.lineage.parent is None),
        (RecordFilter(root=False), lambda fact: fact.context.lineage.parent is not None),
        (RecordFilter(trace_id=trace), lambda fact: fact.context.lineage.trace == trace),
        (RecordFilter(trace_id="f" * 32), lambda fact: False),
        (RecordFilter(error_code=ErrorCode.TIMEOUT), lambda fact: fact.end is TIMED_OUT),
        (RecordFilter(error_code=ErrorCode.AGENT_UNAVAILABLE), lambda fact: fact.end in UNAVAILABLE),
        (RecordFilter(reason=Reason.CONNECT_FAILED), lambda fact: fact.end is UNREACHED),
    ]


def combined_filters(trace: str) -> list[Case]:
    return [
        (RecordFilter(since=SINCE, until=UNTIL), lambda fact: SINCE <= fact.created_at < UNTIL),
        (RecordFilter(error_code=ErrorCode.TIMEOUT, reason=Reason.CONNECT_FAILED), lambda fact: False),
        (RecordFilter(status=RUNNING, error_code=ErrorCode.TIMEOUT), lambda fact: False),
        (
            RecordFilter(status=FAILED, root=True, agent_id="acme:1", until=UNTIL),
            lambda fact: (
                (fact.status, fact.context.lineage.parent, fact.context.pin.agent) == (FAILED, None, "acme:1")
                and fact.created_at < UNTIL
            ),
        ),
        (
            RecordFilter(error_code=ErrorCode.AGENT_UNAVAILABLE, capability="skill-0", since=SINCE),
            lambda fact: fact.end in UNAVAILABLE and fact.context.capability == "skill-0" and fact.created_at >= SINCE,
        ),
        (
            RecordFilter(trace_id=trace, status=RUNNING, root=False),
            lambda fact: (
                fact.context.lineage.trace == trace and fact.end is None and fact.context.lineage.parent is not None
            ),
        ),
        (
            RecordFilter(trace_id=trace, error_code=ErrorCode.AGENT_UNAVAILABLE),
            lambda fact: fact.context.lineage.trace == trace and fact.end in UNAVAILABLE,
        ),
    ]


@pytest.mark.rows("LED-10", "FIND-04")
@pytest.mark.parametrize(("order", "max_read"), list(product([NEWEST, SLOWEST], [20_000, 5])))
async def test_filters_combine_in_both_orders_and_every_page_goes_on_where_the_last_one_ended(
    seeded: Seeded, order: InvocationOrder, max_read: int
) -> None:
    """Compared with a plain filter in Python. With 5 rows for each page most pages end early, and some are empty."""
    async with reading(seeded.url, max_read=max_read) as ledger:
        trace = seeded.facts[0].context.lineage.trace
        for filters, keeps in (*single_filters(trace), *combined_filters(trace)):
            expected = seeded.expected(keeps, order)
            assert await listed_ids(ledger, filters, order, limit=4) == expected, filters
        assert (await ledger.page(ListRead("nobody", 10, order=order))).items == []


async def test_a_list_of_traces_has_one_row_for_each_however_many_calls_it_made(seeded: Seeded) -> None:
    """Also when its pages end early, because the Traces of a page together are too large to be read."""
    trace = seeded.facts[0].context.lineage.trace
    roots = seeded.expected(lambda fact: fact.context.lineage.parent is None, NEWEST)
    async with reading(seeded.url, max_read=9) as ledger:
        items, read = list[TraceItem](), ListRead(SPACE, 6)
        while read.after is not None or not items:
            page = await ledger.traces(read)
            items += page.items
            if page.last is None:
                break
            read = replace(read, after=page.last)
        assert [item.root.invocation_id for item in items] == roots
        filters = RecordFilter(trace_id=trace)
        assert (await ledger.traces(ListRead(SPACE, 6, filters))).items == [
            item for item in items if item.trace_id == trace
        ]
    members = [fact for fact in seeded.facts if fact.context.lineage.trace == trace]
    (item,) = [item for item in items if item.trace_id == trace]
    failed = [fact.end for fact in members if fact.status in {InvocationStatus.FAILED, InvocationStatus.TIMED_OUT}]
    assert (item.invocations, item.running) == (len(members), sum(fact.end is None for fact in members))
    assert item.failures == len(failed) == sum(error.count for error in item.errors) > 0
    counts = Counter((end.error, end.reason or UNSET) for end in failed if end is not None)
    assert {(error.error_code, error.reason): error.count for error in item.errors} == counts
    assert [error.count for error in item.errors] == sorted(counts.values(), reverse=True)
    agents = Counter(fact.context.pin.agent for fact in members)
    assert list(item.agents) == sorted(agents, key=lambda agent: (-agents[agent], agent))
    assert item.agent_count == len(agents)
    ends = max(fact.created_at + timedelta(milliseconds=fact.latency_ms if fact.end else 0) for fact in members)
    assert item.duration_ms == (ends - members[0].created_at) // timedelta(milliseconds=1)


async def test_a_store_that_does_not_answer_in_time_is_never_an_empty_list(
    seeded: Seeded, postgres: PostgresForTests
) -> None:
    blocking = await asyncpg.connect(postgres.url(seeded.url.rpartition("/")[2]))
    # The limit of a unit, not the patience of other tests: this one waits until it has passed.
    async with opened_database(seeded.url, size=3, statement_ms=500) as database, blocking.transaction():
        ledger = LedgerReader(database)
        await blocking.execute("LOCK TABLE ledger.event")
        read = ListRead(SPACE, 5)
        found = await asyncio.gather(
            ledger.page(read), ledger.page(replace(read, order=SLOWEST)), ledger.traces(read), return_exceptions=True
        )
    await blocking.close()
    assert all(isinstance(answer, StoreUnavailable) for answer in found), found
