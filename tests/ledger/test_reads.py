"""Reading the Ledger: details that equal their last event, parents that end their children, Traces parents first."""

import asyncio

import pytest

from aop.base.clock import to_text, utc_now
from aop.base.ids import new_hex_id, new_id
from aop.contracts.errors import ErrorCode
from aop.contracts.lineage import InvocationStatus
from aop.ledger.model import CANCELED, LOST, SUCCEEDED, TIMED_OUT, Progress, progress_fact
from aop.ledger.read.record_filter import RecordFilter
from aop.local.state import DatabaseUrls
from tests.ledger.writing import SPACE, a_context, an_acceptance, an_end, breaches, listed_ids, reading, writing


@pytest.mark.rows("LED-01", "LED-02")
async def test_a_detail_is_one_chain_whose_last_event_the_record_equals(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written, reading(stores.router) as lineage:
        place = await written.journal.accept(an_acceptance())
        for _ in range(3):
            fact = progress_fact(place, new_hex_id(), utc_now(), Progress(2, 20))
            assert await written.journal.progress(fact)
            place = fact.as_last()
        running = await lineage.detail(SPACE, place.context.lineage.invocation)
        assert running is not None
        assert running.invocation.updated_at == running.events[-1].occurred_at == to_text(place.occurred_at)
        await written.journal.end(an_end(place, TIMED_OUT))
        found = await lineage.detail(SPACE, place.context.lineage.invocation)
        assert found is not None
        record, last = found.invocation, found.events[-1]
        assert [event.sequence for event in found.events] == list(range(7))
        assert [event.chunk_index for event in found.events[3:6]] == [1, 3, 5]
        assert (record.status, record.error_code, record.latency_ms, record.updated_at) == (
            last.status, ErrorCode.TIMEOUT, last.latency_ms, last.occurred_at,
        )  # fmt: skip
        times = [event.occurred_at for event in found.events]
        assert times == sorted(times)
        assert len({event.event_id for event in found.events}) == 7
        pins = {(event.agent_release_id, event.agent_card_digest) for event in found.events}
        assert pins == {(record.agent_release_id, record.agent_card_digest)}


@pytest.mark.rows("NEST-13", "NEST-14")
async def test_a_parent_takes_its_children_with_it_when_it_was_canceled_or_timed_out_and_only_then(
    stores: DatabaseUrls,
) -> None:
    async with writing(stores.router) as written, reading(stores.router) as lineage:
        parents = {}
        for terminal in (SUCCEEDED, LOST, CANCELED, TIMED_OUT, None):
            place = await written.journal.accept(an_acceptance())
            parents[place.context.lineage.invocation] = terminal
            if terminal is not None:
                fact = progress_fact(place, new_hex_id(), utc_now(), Progress(1, 10))
                assert await written.journal.progress(fact)
                assert await written.journal.end(an_end(fact.as_last(), terminal))
        ended = await lineage.ended_with_children([*parents, new_id("inv")])
        assert {parents[invocation] for invocation in ended} == {CANCELED, TIMED_OUT}
        assert len(ended) == 2


@pytest.mark.rows("LED-10")
async def test_a_trace_of_many_levels_comes_parents_first_and_its_children_are_in_the_list(
    stores: DatabaseUrls,
) -> None:
    async with writing(stores.router) as written, reading(stores.router) as lineage:
        root = a_context()
        await written.journal.accept(an_acceptance(root))
        level, all_ids = [root], {root.lineage.invocation}
        for _ in range(3):
            children = [a_context(parent) for parent in level for _ in range(3)]
            await asyncio.gather(*(written.journal.accept(an_acceptance(child)) for child in children))
            level = children
            all_ids |= {child.lineage.invocation for child in children}
        page = await lineage.trace(SPACE, root.lineage.trace)
        assert page is not None
        assert page.last is None
        seen: set[object] = set()
        for record in page.trace.invocations:
            assert not seen or record.parent_invocation_id in seen
            seen.add(record.invocation_id)
        assert seen == all_ids
        assert set(await listed_ids(lineage, limit=7)) == all_ids
        assert set(await listed_ids(lineage, RecordFilter(InvocationStatus.RUNNING), limit=7)) == all_ids
    assert await breaches(stores.router) == []
