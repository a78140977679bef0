"""Traces with many Invocations: one row of a list, and pages of a read above 1,000."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio

from aop.base.clock import utc_now
from aop.contracts.identity import InvocationContext
from aop.contracts.lineage import InvocationRecord
from aop.ledger.model import LOST, SUCCEEDED
from aop.ledger.read.record_filter import ListRead, RecordFilter
from aop.ledger.read.traces import TracePosition
from aop.local.state import DatabaseUrls
from tests.ledger.writing import (
    SPACE,
    Writing,
    a_context,
    an_acceptance,
    an_end,
    listed_ids,
    reading,
    writing,
)
from tests.support.postgres import PostgresForTests

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]

BEGIN = utc_now() - timedelta(minutes=5)


async def _grown(written: Writing, size: int) -> InvocationContext:
    """A Trace of that many Invocations, in levels of 100 that are created at the same moment as their parent; one call
    of each level goes on, and nearly all the others fail."""
    root = parent = a_context()
    await written.journal.accept(an_acceptance(root, at=BEGIN))
    left = size - 1
    while left:
        children = [a_context(parent, agent=f"acme:{place}") for place in range(min(left, 100))]
        places = await asyncio.gather(*(written.journal.accept(an_acceptance(child, at=BEGIN)) for child in children))
        ends = [an_end(place, LOST if number % 40 else SUCCEEDED) for number, place in enumerate(places[1:])]
        await asyncio.gather(*map(written.journal.end, ends))
        left, parent = left - len(children), children[0]
    return root


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stored(postgres: PostgresForTests) -> AsyncIterator[tuple[str, InvocationContext, InvocationContext]]:
    """The address of a store, and the roots of a Trace of 993 Invocations and of one of 2,100."""
    stores: DatabaseUrls = await postgres.new_platform()
    async with writing(stores.router) as written:
        roots = await _grown(written, 993), await _grown(written, 2100)
    yield stores.router, *roots
    await postgres.drop(stores.migration.rpartition("/")[2])


@pytest.mark.rows("FIND-04")
async def test_a_trace_of_993_invocations_is_one_row_and_its_children_do_not_flood_the_list_of_roots(
    stored: tuple[str, InvocationContext, InvocationContext],
) -> None:
    url, root, larger = stored
    async with reading(url) as ledger:
        page = await ledger.traces(ListRead(SPACE, 25))
        roots = await listed_ids(ledger, RecordFilter(root=True), limit=25)
        whole = await ledger.trace(SPACE, root.lineage.trace)
    assert page.last is None
    assert {item.trace_id: item.invocations for item in page.items} == {
        root.lineage.trace: 993,
        larger.lineage.trace: 2100,
    }
    assert set(roots) == {root.lineage.invocation, larger.lineage.invocation}
    for item in page.items:
        assert (len(item.agents), item.agent_count) == (20, 101)
        assert item.failures > item.invocations * 0.9
    assert whole is not None
    assert (len(whole.trace.invocations), whole.last) == (993, None)


async def test_more_than_1000_invocations_come_in_pages_with_every_parent_before_its_children(
    stored: tuple[str, InvocationContext, InvocationContext],
) -> None:
    url, _, root = stored
    found, sizes = list[InvocationRecord](), list[int]()
    after: TracePosition | None = None
    async with reading(url) as ledger:
        while after is not None or not found:
            page = await ledger.trace(SPACE, root.lineage.trace, after)
            assert page is not None
            found += page.trace.invocations
            sizes.append(len(page.trace.invocations))
            after = page.last
    assert sizes == [1000, 1000, 100]
    seen: set[object] = set()
    for record in found:
        assert record.parent_invocation_id in seen or not seen
        seen.add(record.invocation_id)
    assert len(seen) == 2100
