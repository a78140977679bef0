"""An unforeseen fault while an outcome is recorded: its caller is told, its slot is free, its terminal follows."""

from pathlib import Path

import pytest

from aop.local.state import DatabaseUrls
from proof.gathering import problems_of
from proof.switchboard import Action, Armed
from proof.world import Plan, world
from tests.support.metrics import numbers
from tests.support.postgres import PostgresForTests

pytestmark = pytest.mark.second_ring


@pytest.mark.parametrize("action", [Action.RAISE, pytest.param(Action.DO_THEN_RAISE, marks=pytest.mark.long)])
async def test_a_fault_in_recording_is_told_as_a_lost_outcome_and_recorded_once(
    stores: DatabaseUrls, postgres: PostgresForTests, tmp_path: Path, action: Action
) -> None:
    superuser = postgres.url(stores.migration.rpartition("/")[2])
    async with world(stores, superuser, tmp_path, Plan(failpoints=True)) as made:
        remote = made.remote(made.router)
        await remote.arm(Armed("terminal.before", action))
        reply = await made.invoke(text="recorded")
        await remote.hit()
        assert (reply.status, reply.code) == (503, "DEPENDENCY_ERROR")
        assert await problems_of(made) == []
        (row,) = await made.ledger.recorded()
        ended = [(fact.type, fact.code) for fact in row.terminals]
        assert ended in ([("failed", "DEPENDENCY_ERROR")], [("succeeded", None)])
        assert ended == [("failed", "DEPENDENCY_ERROR")] or action is Action.DO_THEN_RAISE
        assert list((await numbers(made.router.unit, "aop_invocations_in_flight")).values()) == [0]
