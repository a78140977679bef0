"""The simulated tables against PostgreSQL: every statement of many seeds is answered alike by both."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import pytest

from aop.local.state import DatabaseUrls
from proof.simulation.plan import plan_of
from proof.simulation.world import MAX_SECONDS, World
from tests.ledger.simulated.loop import SimulatedLoop
from tests.ledger.simulated.tables import Row, Tables

pytestmark = pytest.mark.second_ring

SEEDS = range(5000, 5025)


@dataclass(frozen=True)
class Said:
    statement: str
    arguments: Sequence[Any]
    rows: Sequence[Row] = ()
    sqlstate: str | None = None


@dataclass
class RecordedTables(Tables):
    said: list[Said] = field(default_factory=list)

    def execute(self, statement: str, arguments: Sequence[Any]) -> Sequence[Row]:
        try:
            rows = super().execute(statement, arguments)
        except asyncpg.PostgresError as refused:
            self.said.append(Said(statement, arguments, sqlstate=refused.sqlstate))
            raise
        self.said.append(Said(statement, arguments, [dict(row) for row in rows]))
        return rows


def told_by(seed: int, loop: SimulatedLoop) -> Sequence[Said]:
    loop.begin(seed, MAX_SECONDS)
    world = World(plan_of(seed), loop)
    recorded = world.store.tables = RecordedTables(world.history.row)
    loop.run_until_complete(world.run())
    return recorded.said


async def answer(connection: Any, said: Said, router: str) -> Said:
    """What the real store says to the same, for a Router of the seed's own."""
    arguments = [router if argument == "router-1" else argument for argument in said.arguments]
    try:
        rows = [dict(row) for row in await connection.fetch(said.statement, *arguments)]
    except asyncpg.PostgresError as refused:
        return Said(said.statement, arguments, sqlstate=refused.sqlstate)
    return Said(said.statement, arguments, rows)


def alike(simulated: Said, real: Said) -> bool:
    """In every member that both know; a function without a result gives a row with nothing in it."""
    rows = [row for row in real.rows if set(map(str, row.values())) - {"", "None"}]
    if simulated.sqlstate != real.sqlstate or len(simulated.rows) != len(rows):
        return False
    shared = [name for name in rows[0] if name in simulated.rows[0] and name != "router_id"] if rows else []
    told = sorted(repr([row[name] for name in shared]) for row in rows)
    return not rows or (bool(shared) and told == sorted(repr([row[name] for name in shared]) for row in simulated.rows))


async def test_the_simulated_store_says_what_postgresql_says(stores: DatabaseUrls) -> None:
    kinds: Counter[str] = Counter()
    connection = await asyncpg.connect(stores.router, server_settings={"timezone": "UTC"})
    try:
        for seed in SEEDS:
            for said in await _in_thread(seed):
                real = await answer(connection, said, f"router-{seed}")
                assert alike(said, real), f"seed {seed}\n{said}\n{real}"
                kinds[f"{said.statement[:40]} {said.sqlstate or len(said.rows)}"] += 1
    finally:
        await connection.close()
    assert len(kinds) > 15, kinds


async def _in_thread(seed: int) -> Sequence[Said]:
    """A loop cannot run within another one, but beside it."""

    def run() -> Sequence[Said]:
        with closing(SimulatedLoop()) as loop:
            return told_by(seed, loop)

    return await asyncio.to_thread(run)
