"""How PostgreSQL finds what the sequencer asks for: by key, whatever it knows of the tables."""

import re

import asyncpg
import pytest

from aop.ledger.sequence import store
from aop.local.state import DatabaseUrls

pytestmark = pytest.mark.second_ring


async def test_events_are_looked_up_by_their_invocation_without_statistics_too(stores: DatabaseUrls) -> None:
    """In one order over all, the planner would walk every event of a Ledger that is not analyzed yet."""
    connection = await asyncpg.connect(stores.router)
    try:
        await store.prepare(connection)
        ids = "array_fill(gen_random_uuid(), ARRAY[500])"
        opened = f"{ids}, {ids}, array_fill(2, ARRAY[500])"
        await connection.execute("SET plan_cache_mode = force_generic_plan")  # as after some turns
        await connection.execute(f"PREPARE events AS {store._EVENTS}")
        plan = "\n".join(line[0] for line in await connection.fetch(f"EXPLAIN EXECUTE events ({opened}, 2000)"))
    finally:
        await connection.close()
    assert re.search(
        r"Index Cond: \(\(invocation_id = open.invocation_id\) AND \(sequence > open.sequence\)"
        r" AND \(root_task_id = open.root_task_id\)\)",
        plan,
    ), plan


async def test_the_first_event_of_an_opening_is_looked_up_by_its_invocation_without_statistics_too(
    stores: DatabaseUrls,
) -> None:
    connection = await asyncpg.connect(stores.router)
    try:
        await store.prepare(connection)
        await connection.execute(f"PREPARE openings AS {store._BEHIND}")
        asked = "EXPLAIN EXECUTE openings (ARRAY['router'], ARRAY[1], ARRAY[0], 500)"
        plan = "\n".join(line[0] for line in await connection.fetch(asked))
    finally:
        await connection.close()
    assert "Seq Scan" not in plan, plan
    by_key = r"Index Cond: \(\(invocation_id = \S+invocation_id\) AND \(root_task_id = \S+root_task_id\)\)"
    assert re.search(by_key, plan), plan


async def test_the_guard_of_positions_looks_each_number_up_by_its_key(stores: DatabaseUrls) -> None:
    """As a join, the planner would read every number of a young Ledger for each Invocation of a batch."""
    connection = await asyncpg.connect(stores.router)
    try:
        await store.prepare(connection)
        body = await connection.fetchval("SELECT prosrc FROM pg_proc WHERE proname = 'fence_numbered_position'")
        guard = re.search(r"IF (EXISTS .*?) THEN", body, re.DOTALL)
        assert guard is not None
        asked = guard[1].replace("NEW.router_id", "'router'").replace("NEW.epoch", "1").replace("NEW.position", "500")
        plan = "\n".join(line[0] for line in await connection.fetch(f"EXPLAIN SELECT {asked}"))
    finally:
        await connection.close()
    assert "Join" not in plan, plan
    by_key = r"Index Cond: \(\(invocation_id = invocation(_\d)?\.invocation_id\) AND \(sequence = 0\)\)"
    assert re.search(by_key, plan), plan
