"""A store that ends its sessions again and again: callers hear of a dependency, and of nothing else."""

import asyncio
from collections import Counter

import pytest

from aop.local.state import DatabaseUrls
from tests.ledger.writing import breaches
from tests.support.agent import a_message, data
from tests.support.loop import Changes, Platform, running_platform
from tests.support.postgres import PostgresForTests, session
from tests.support.waiting import becomes_true

pytestmark = pytest.mark.second_ring

_CALLERS = 8
_ENDS = 12
_PAUSE_SECONDS = 0.2
_END_ALL = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
 WHERE datname = $1 AND application_name LIKE 'aop %'
"""
_READS = ("/installations", "/invocations", "/traces", "/figures")
_Answers = Counter[tuple[int, str | None]]


async def _call(platform: Platform, number: int, answers: _Answers, accepted: dict[str, str]) -> None:
    """By turns an Invocation, a read of the Ledger or of the Workspace, and a search."""
    path = f"/v1/workspaces/space{_READS[number % len(_READS)]}"
    for reply in (
        await platform.invoke(),
        await platform.gateway.get(path, token=platform.token),
        await platform.gateway.get("/v1/agents?query=work", token=platform.token),
    ):
        answers[reply.status, reply.json.get("code") if reply.status != 200 else None] += 1
        if "invocationId" in reply.json:
            accepted[reply.json["invocationId"]] = "succeeded" if reply.status == 200 else "failed"


async def _is_good_again(platform: Platform, accepted: dict[str, str]) -> None:
    async def is_good() -> bool:
        answers = Counter[tuple[int, str | None]]()
        for number in range(len(_READS)):
            await _call(platform, number, answers, accepted)
        return set(answers) == {(200, None)}

    await becomes_true(is_good, 2)


@pytest.mark.rows("SOUND-05")
async def test_sessions_that_the_store_ends_under_callers_are_never_an_internal_error(
    postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    database = stores.migration.rpartition("/")[2]
    async with running_platform(stores) as platform, session(postgres.url(database)) as administrator:
        platform.agent.usual = (a_message(data(1)),)
        answers, accepted, over = Counter[tuple[int, str | None]](), dict[str, str](), asyncio.Event()

        async def caller(number: int) -> None:
            while not over.is_set():
                await _call(platform, number, answers, accepted)

        callers = [asyncio.create_task(caller(number)) for number in range(_CALLERS)]
        ended = 0
        for _ in range(_ENDS):
            await asyncio.sleep(_PAUSE_SECONDS)
            ended += await administrator.fetchval(_END_ALL, database)
        over.set()
        await asyncio.gather(*callers)
        assert ended > _ENDS
        assert set(answers) == {(200, None), (503, "DEPENDENCY_ERROR")}

        await _is_good_again(platform, accepted)
        for invocation, status in accepted.items():
            assert (await platform.ended(invocation))["invocation"]["status"] == status
    assert await breaches(stores.router) == []


@pytest.mark.rows("SOUND-05")
async def test_a_store_without_a_free_connection_and_one_that_stops_statements_are_never_an_internal_error(
    postgres: PostgresForTests, stores: DatabaseUrls
) -> None:
    database = stores.migration.rpartition("/")[2]
    short = {"PLATFORM_DATABASE_STATEMENT_TIMEOUT_MS": "300"}
    async with (
        running_platform(stores, Changes(control_plane=short, router=short)) as platform,
        session(postgres.url(database)) as administrator,
    ):
        platform.agent.usual = (a_message(data(1)),)
        accepted = dict[str, str]()

        async def all_fail(answers: _Answers) -> None:
            for number in range(len(_READS)):
                await _call(platform, number, answers, accepted)

        answers = Counter[tuple[int, str | None]]()
        await administrator.execute(f"ALTER DATABASE {database} CONNECTION LIMIT 0")
        await administrator.fetchval(_END_ALL, database)
        await all_fail(answers)
        await administrator.execute(f"ALTER DATABASE {database} CONNECTION LIMIT -1")
        assert set(answers) == {(503, "DEPENDENCY_ERROR")}
        await _is_good_again(platform, accepted)

        answers.clear()
        async with administrator.transaction():
            await administrator.execute("LOCK ledger.invocation, workspace.installation, registry.card")
            await all_fail(answers)
        assert set(answers) == {(503, "DEPENDENCY_ERROR")}
        await _is_good_again(platform, accepted)
