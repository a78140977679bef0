"""Authorization: every operation, every kind of visitor, every relation of its objects, each cell exact."""

import asyncio
from collections.abc import Sequence
from itertools import count

import asyncpg

from aop.net.http import HttpClient
from proof.area import Area, Figure, Findings, Run, proves
from proof.authorization.matrix import Cell, Doors, cells, digests, ordered_life
from proof.authorization.world import World, opened_world

AT_ONCE = 16


async def prove(run: Run) -> Findings:
    found = Findings()
    client = HttpClient(idle_seconds=2, connect_seconds=5)
    async with run.stores() as (stores, superuser), opened_world(stores) as world:
        connection = await asyncpg.connect(superuser)
        try:
            await _go_through(run, world, Doors(world, client, count(1)), connection, found)
        finally:
            await connection.close()
            await client.close()
    return found


@proves("No refusal and no read changes a row of any table or writes a fact into the Ledger.")
async def _go_through(
    run: Run, world: World, doors: Doors, connection: "asyncpg.Connection[asyncpg.Record]", found: Findings
) -> None:
    everything = list(cells(world.visitors))
    harmless = [cell for cell in everything if not cell.spends]
    chance = run.random
    before = await digests(connection)
    for _ in range(run.pick(1, 10)):
        chance.shuffle(harmless)
        for start in range(0, len(harmless), AT_ONCE):
            await _try(doors, harmless[start : start + AT_ONCE], found)
    for cell in filter(lambda cell: cell.is_plain, everything):
        found.hits["misplaced"] += 1
        outcome = await doors.outcome(cell, misplaced=True)
        found.require(outcome == (404, "NOT_FOUND"), f"at the other unit, {cell}: {outcome}")
    after = await digests(connection)
    changed = [table for table in before if before[table] != after[table]]
    found.require(not changed, f"refusals and reads changed {changed}")
    found.figures += [
        Figure("cells of the matrix", len(everything), at_least=3000),
        Figure("operations", len({(cell.document, cell.operation) for cell in everything})),
        Figure("kinds of visitors", len(world.visitors)),
        Figure("calls that changed nothing", sum(found.hits.values())),
    ]
    await _spend(doors, [cell for cell in everything if cell.spends], connection, found)


@proves(
    "Every operation of the four OpenAPI documents gives every kind of visitor exactly the answer of the"
    " table, for own, foreign, shared and absent objects in every combination."
)
async def _try(doors: Doors, some: Sequence[Cell], found: Findings) -> None:
    for cell, outcome in zip(some, await asyncio.gather(*map(doors.outcome, some)), strict=True):
        found.hits[str(cell.expected[0])] += 1
        found.require(outcome == cell.expected, f"{cell}: {outcome}, not {cell.expected}")


async def _spend(
    doors: Doors, spending: Sequence[Cell], connection: "asyncpg.Connection[asyncpg.Record]", found: Findings
) -> None:
    """What is allowed is done, once for each who may, and shows in the tables: the digest would tell a change."""
    before = await digests(connection)
    for cell in ordered_life(spending):
        await _try(doors, [cell], found)
        after = await digests(connection)
        found.require(after != before, f"{cell} changed nothing")
        before = after


AREA = Area("authorization", "Authorization", prove, (_try, _go_through, Doors.outcome))
