"""The event feed at the store: every event once, in the order of the sequence, whatever other Workspaces do."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aop.contracts.lineage import InvocationEvent
from aop.ledger.model import SUCCEEDED
from aop.ledger.read.reader import LedgerReader
from aop.ledger.sequence import feed as feeding
from aop.ledger.sequence.feed import FeedPosition, FeedReader, PositionUnknown
from aop.local.state import DatabaseUrls
from aop.store.database import Connection, Database
from tests.ledger.test_sequence import all_numbered, sequencer, some_calls
from tests.ledger.writing import ROUTER, SPACE, Writing, a_context, an_acceptance, an_end, writing
from tests.support.postgres import opened_database
from tests.support.waiting import patience

pytestmark = pytest.mark.second_ring

ELSEWHERE = "another-space"


async def read_on(
    feed: FeedReader, limit: int, after: FeedPosition | None = None
) -> tuple[list[InvocationEvent], FeedPosition | None]:
    """Page by page until one is empty."""
    found = list[InvocationEvent]()
    while True:
        page = await feed.read(SPACE, after, limit)
        assert len(page.events) <= limit
        if not page.events:
            assert page.last == after
            return found, after
        found += page.events
        after = page.last


async def call_elsewhere(written: Writing) -> None:
    place = await written.journal.accept(an_acceptance(a_context(workspace=ELSEWHERE)))
    await written.journal.end(an_end(place, SUCCEEDED))


def require_order(events: Sequence[InvocationEvent]) -> None:
    """Sequences without a gap, and no child before its parent."""
    chains = defaultdict[str, list[int]](list)
    for event in events:
        if event.parent_invocation_id:
            assert chains[event.parent_invocation_id], event
        chains[event.invocation_id].append(event.sequence)
    assert all(sequences == list(range(len(sequences))) for sequences in chains.values())


async def test_every_event_is_read_once_whatever_the_pages(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written, sequencer(stores.router, ROUTER, written.epoch):
        for _ in range(2):
            await some_calls(written, 6)
            await call_elsewhere(written)
        await all_numbered(stores.router)
    async with opened_database(stores.router, size=2) as database:
        feed, ledger = FeedReader(database), LedgerReader(database)
        whole, _ = await read_on(feed, 100)
        require_order(whole)
        for limit in (1, 2, 3, 7):
            assert (await read_on(feed, limit))[0] == whole
        invocations = {event.invocation_id for event in whole}
        assert len(invocations) == 2 * (2 * 6 + 1)
        for invocation in invocations:
            detail = await ledger.detail(SPACE, invocation)
            assert detail is not None
            assert [event for event in whole if event.invocation_id == invocation] == list(detail.events)


async def test_a_reader_that_follows_misses_nothing_that_several_routers_write(stores: DatabaseUrls) -> None:
    url, followed, position = stores.router, list[InvocationEvent](), None
    async with (
        writing(url, router_id="router-2") as beside,
        writing(url) as written,
        opened_database(url, size=2) as database,
    ):
        feed = FeedReader(database)
        async with sequencer(url, ROUTER, written.epoch), patience():
            work = asyncio.gather(some_calls(written, 12), some_calls(beside, 12))
            while not work.done():
                found, position = await read_on(feed, 5, position)
                followed += found
                await asyncio.sleep(0)
            await work
            await all_numbered(url)
        followed += (await read_on(feed, 5, position))[0]
        assert followed == (await read_on(feed, 100))[0]
        assert len({event.event_id for event in followed}) == len(followed) == 2 * (12 * (3 + 3 + 1) + 9 * 2 + 2)


async def test_a_position_that_this_ledger_does_not_have_is_refused(stores: DatabaseUrls) -> None:
    """As after a restore: a reader that went on would miss what was recorded again under the same numbers."""
    async with writing(stores.router) as written, sequencer(stores.router, ROUTER, written.epoch):
        await some_calls(written, 2)
        await call_elsewhere(written)
        await all_numbered(stores.router)
    async with opened_database(stores.router, size=2) as database:
        feed = FeedReader(database)
        _, last = await read_on(feed, 100)
        assert last is not None
        past, event = last
        unknown = [(past + 1, event), (past - 1, event), (past, "0" * 32), (10**9, event), (1, event), (0, event)]
        for position in unknown:
            with pytest.raises(PositionUnknown):
                await feed.read(SPACE, position, 10)
        with pytest.raises(PositionUnknown):
            await feed.read(ELSEWHERE, last, 10)
        with pytest.raises(PositionUnknown):
            await feed.read("nobody", last, 10)
        assert (await feed.read("nobody", None, 10)).last is None


async def test_a_quiet_workspace_is_read_without_a_look_at_the_others(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written, sequencer(stores.router, ROUTER, written.epoch):
        await asyncio.gather(*(call_elsewhere(written) for _ in range(300)))
        await some_calls(written, 1)
        await all_numbered(stores.router)
    async with opened_database(stores.router, size=2) as database:
        for space, after in ((SPACE, None), ("nobody", None), (SPACE, (10**6, "0" * 32))):
            explained = Explained(database)
            with suppress(PositionUnknown):
                await FeedReader(explained).read(space, after, 12)
            plan = explained.plans[feeding._QUERIES["numbers"]]
            assert "using number_by_workspace" in plan
            assert "Rows Removed" not in plan


async def test_each_statement_of_the_feed_is_planned_without_a_look_at_statistics(stores: DatabaseUrls) -> None:
    """Those of tables that grow fast would have it read all of one, which no test is large enough to show."""
    async with writing(stores.router) as written, sequencer(stores.router, ROUTER, written.epoch):
        await some_calls(written, 1)
        await all_numbered(stores.router)
    async with opened_database(stores.router, size=2) as database:
        explained = Explained(database)
        await FeedReader(explained).read(SPACE, None, 12)
    assert explained.plans.keys() >= set(feeding._QUERIES.values())
    for plan in explained.plans.values():
        for setting in ("seqscan", "bitmapscan", "hashjoin", "mergejoin"):
            assert f"enable_{setting} = 'off'" in plan


class Explained(Database):
    """Has the server explain each statement of a reader, with the settings under which it planned it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.plans: dict[str, str] = {}

    @asynccontextmanager
    async def transaction(self, **options: Any) -> AsyncIterator[Connection]:
        async with self._database.transaction(**options) as connection:
            fetch = connection.fetch

            async def explained(query: str, *values: Any) -> Any:
                lines = await fetch(f"EXPLAIN (ANALYZE, TIMING OFF, SETTINGS) {query}", *values)
                self.plans[query] = "\n".join(line[0] for line in lines)
                return await fetch(query, *values)

            yield cast(
                Connection, SimpleNamespace(execute=connection.execute, fetchval=connection.fetchval, fetch=explained)
            )
