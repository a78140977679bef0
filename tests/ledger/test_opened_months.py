"""Statements that know the root task open the partitions of its month alone, however many months the Ledger has."""

import re
from collections.abc import Sequence
from typing import Any

import asyncpg
import pytest

from aop.base.clock import utc_now
from aop.base.ids import new_hex_id
from aop.contracts.lineage import InvocationOrder
from aop.ledger.read.reader import _QUERIES
from aop.ledger.read.record_filter import ListRead
from aop.ledger.read.search import search
from aop.local.state import DatabaseUrls
from tests.ledger.test_months import month_before, named, root_at
from tests.ledger.writing import SPACE, a_context, an_acceptance, reading, writing

pytestmark = pytest.mark.second_ring


@pytest.mark.rows("HA-04")
async def test_a_read_by_id_looks_at_no_other_month_once_the_root_task_is_known(stores: DatabaseUrls) -> None:
    connection = await asyncpg.connect(stores.router)
    try:
        root = new_hex_id()
        query = f"EXPLAIN {_QUERIES['events']}"
        plan = "\n".join(row[0] for row in await connection.fetch(query, new_hex_id(), root))
        over_all = "EXPLAIN SELECT FROM ledger.invocation WHERE invocation_id = $1"
        await connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
        every = "\n".join(row[0] for row in await connection.fetch(over_all, new_hex_id()))
    finally:
        await connection.close()
    assert plan.count("on event_") == 1, plan
    assert named("event", utc_now()) in plan
    assert every.count("Index Only Scan using invocation_") + every.count("Index Scan using invocation_") == 4, every


@pytest.mark.rows("HA-04")
async def test_a_list_of_traces_opens_the_months_of_its_roots_alone(stores: DatabaseUrls) -> None:
    connection = await asyncpg.connect(stores.router)
    try:
        await connection.execute("SET plan_cache_mode = force_generic_plan")
        for query in (_QUERIES["trace_sizes"], _QUERIES["trace_parts"]):
            await require_one_month(connection, ("invocation",), query, [new_hex_id()], [new_hex_id()], SPACE)
    finally:
        await connection.close()


@pytest.mark.rows("HA-04")
@pytest.mark.parametrize("order", InvocationOrder)
async def test_a_list_is_not_planned_anew_over_all_months(stores: DatabaseUrls, order: InvocationOrder) -> None:
    connection = await asyncpg.connect(stores.router)
    try:
        for _ in range(3):
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                await search(connection, ListRead(SPACE, 10, order=order), 100)
        planned = await connection.fetch(
            "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%FROM ledger.%'"
        )
    finally:
        await connection.close()
    assert max(row["generic_plans"] for row in planned) == 3
    assert {row["custom_plans"] for row in planned} == {0}


@pytest.mark.rows("HA-04")
async def test_the_parent_of_a_nested_call_is_looked_for_in_the_month_of_its_root_task(stores: DatabaseUrls) -> None:
    async with writing(stores.router) as written, reading(stores.router) as lineage:
        parent = a_context(root_task=root_at(month_before(utc_now())))
        await written.journal.accept(an_acceptance(parent))
        invocation = parent.lineage.invocation
        facts = await lineage.parent(invocation, parent.lineage.root_task)
        assert facts is not None
        assert facts.context.lineage == parent.lineage
        assert await lineage.parent(invocation, root_at(utc_now())) == facts  # whoever asks compares the root tasks
        assert await lineage.parent(a_context().lineage.invocation, parent.lineage.root_task) is None
    connection = await asyncpg.connect(stores.router)
    try:
        await connection.execute("SET plan_cache_mode = force_generic_plan")
        await require_one_month(connection, ("invocation", "event"), _QUERIES["parent"], new_hex_id(), new_hex_id())
    finally:
        await connection.close()


async def require_one_month(connection: asyncpg.Connection, tables: Sequence[str], query: str, *values: Any) -> None:
    rows = await connection.fetch(f"EXPLAIN (ANALYZE) {query}", *values)
    plan = "\n".join(row[0] for row in rows)
    parts = set(re.findall(rf"on ((?:{'|'.join(tables)})_[0-9_]+)", plan))
    assert parts == {named(table, utc_now()) for table in tables}, plan
