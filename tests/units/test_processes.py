"""The units as processes: started from settings alone, refused when something is wrong, drained on SIGTERM."""

import asyncio
import signal
import socket
from contextlib import closing

import pytest

from aop.control_plane.gateway.tokens import Tokens, issue_token
from aop.local.state import DatabaseUrls
from aop.store.database import connect
from aop.store.migrations import migrate
from tests.support.postgres import PostgresForTests
from tests.support.settings import OIDC
from tests.support.waiting import patience, promptly
from tests.units.processes import UNITS, environment, run_to_end, served, status_of, wrong_login

pytestmark = pytest.mark.second_ring


@pytest.mark.rows("OPS-03")
@pytest.mark.parametrize("unit", UNITS)
async def test_a_unit_without_settings_names_all_that_are_missing_and_exits_78(unit: str) -> None:
    ended = await run_to_end(unit, {})
    assert ended.code == 78
    assert f"aop {unit}: {UNITS[unit][0]} is required and not set" in ended.said
    assert ended.said.count("is required and not set") >= 4
    assert "Traceback" not in ended.said


@pytest.mark.rows("OPS-03")
@pytest.mark.parametrize("unit", UNITS)
async def test_a_bad_value_is_named_but_not_shown(unit: str) -> None:
    ended = await run_to_end(unit, environment(unit, None, PLATFORM_LOG_LEVEL="canary-level"))
    assert (ended.code, "PLATFORM_LOG_LEVEL" in ended.said, "canary" in ended.said) == (78, True, False)


@pytest.mark.rows("SOUND-14")
@pytest.mark.parametrize("unit", UNITS)
async def test_a_database_that_refuses_the_login_ends_the_start_with_one_clear_message(
    unit: str, stores: DatabaseUrls
) -> None:
    ended = await run_to_end(unit, environment(unit, wrong_login(stores)))
    assert ended.code == 1
    assert ended.said.splitlines() == [
        f"aop {unit}: {UNITS[unit][0]}: the database cannot be reached (InvalidPasswordError)"
    ]


@pytest.mark.parametrize("unit", UNITS)
async def test_an_address_in_use_ends_the_start_with_one_clear_message(unit: str, stores: DatabaseUrls) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = await run_to_end(unit, environment(unit, stores, **{UNITS[unit][1]: address}))
    assert ended.code == 1
    assert ended.said.splitlines() == [
        f"aop {unit}: {UNITS[unit][1]}: the address cannot be listened on (Address already in use)"
    ]


@pytest.mark.rows("OPS-05", "OPS-09")
@pytest.mark.parametrize("unit", UNITS)
async def test_a_unit_refuses_a_store_of_another_version_and_does_not_migrate_it(
    unit: str, postgres: PostgresForTests
) -> None:
    database = await postgres.new_database()
    stores = postgres.platform_urls(database)
    for statement in (
        "REVOKE ALL ON DATABASE {0} FROM PUBLIC",
        "GRANT CONNECT ON DATABASE {0} TO aop_control_plane, aop_router",
    ):
        await postgres.execute(statement.format(database))
    ended = await run_to_end(unit, environment(unit, stores))
    assert ended.code == 78
    assert "does not exist; run: aop migrate" in ended.said
    await migrate(stores.migration)
    for owner in ("gateway", "ledger"):
        await postgres.execute(f"INSERT INTO {owner}.schema_version VALUES (9999, 'x', 'y')", database)
    ended = await run_to_end(unit, environment(unit, stores))
    assert (ended.code, "has version 9999" in ended.said) == (78, True)


@pytest.mark.rows("AUTH-05")
async def test_a_control_plane_does_not_start_while_a_usable_token_has_a_principal_of_the_openid_provider(
    stores: DatabaseUrls,
) -> None:
    for principal in ("id", "id-alice", "other:id:alice"):
        await issue_token(stores.control_plane, principal)
    forged = (await issue_token(stores.control_plane, "id:alice")).record.token_id
    settings = environment("control-plane", stores, **{**OIDC, "PLATFORM_OIDC_PRINCIPAL_PREFIX": "id:"})
    ended = await run_to_end("control-plane", settings)
    assert ended.code == 78
    assert f"PLATFORM_OIDC_PRINCIPAL_PREFIX begins the principal of {forged}" in ended.said
    connection = await connect(stores.control_plane, application="test")
    assert await Tokens(connection).revoke(forged)
    await connection.close()
    async with served("control-plane", settings) as (_, origin):
        assert status_of(f"{origin}/readyz") == 200


@pytest.mark.parametrize("unit", UNITS)
async def test_a_unit_serves_until_sigterm_and_then_ends_with_code_0(unit: str, stores: DatabaseUrls) -> None:
    async with served(unit, environment(unit, stores)) as (process, origin):
        assert await asyncio.to_thread(status_of, f"{origin}/livez") == 200
        process.send_signal(signal.SIGTERM)
        async with promptly(5):
            _, said = await process.communicate()
        assert process.returncode == 0
        assert b"unit.draining" in said
        assert b"unit.stopped" in said


async def test_a_drain_refuses_new_work_while_the_listener_stays_open_and_running_work_ends(
    stores: DatabaseUrls,
) -> None:
    token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    settings = environment("control-plane", stores, PLATFORM_SHUTDOWN_GRACE_SECONDS="60")

    asked, may_end = asyncio.Event(), asyncio.Event()

    async def say_nothing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await may_end.wait()
        writer.close()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    settings["PLATFORM_ROUTER_INTERNAL_ORIGIN"] = f"http://127.0.0.1:{port}"
    async with served("control-plane", settings) as (process, origin):
        running = asyncio.create_task(asyncio.to_thread(status_of, f"{origin}/v1/status", token))
        async with patience():
            await asked.wait()
            process.send_signal(signal.SIGTERM)
            while await asyncio.to_thread(status_of, f"{origin}/readyz") != 503:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert await asyncio.to_thread(status_of, f"{origin}/v1/status", token) == 503
        may_end.set()
        assert await running == 200
        async with patience():
            await process.wait()
        assert process.returncode == 0
    silent.close()
