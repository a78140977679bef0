"""The units as processes: started from settings alone, refused when something is wrong, drained on SIGTERM."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from urllib.request import Request, urlopen

import pytest

from aop.control_plane.gateway.tokens import Tokens, issue_token
from aop.local.child import _LAUNCHER as LAUNCHER
from aop.local.state import DatabaseUrls
from aop.net.sockets import listening_socket
from aop.store.database import connect
from aop.store.migrations import migrate
from tests.support.postgres import PostgresForTests
from tests.support.settings import OIDC, control_plane_environment, router_environment
from tests.support.waiting import PATIENCE_SECONDS, becomes_true, patience, promptly

UNITS = {
    "control-plane": ("PLATFORM_DATABASE_URL", "PLATFORM_LISTEN_ADDRESS", control_plane_environment),
    "router": ("PLATFORM_ROUTER_DATABASE_URL", "PLATFORM_ROUTER_LISTEN_ADDRESS", router_environment),
}


@dataclass(frozen=True)
class Ended:
    code: int
    said: str


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(unit: str, stores: DatabaseUrls | None, **changes: str | None) -> dict[str, str]:
    database, address, make = UNITS[unit]
    if stores is not None:
        changes.setdefault(database, stores.router if unit == "router" else stores.control_plane)
    changes.setdefault(address, f"127.0.0.1:{free_port()}")
    return make(**changes)


async def start(unit: str, settings: dict[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "aop", unit),
        env={**settings, "PATH": os.defpath},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )


async def run_to_end(unit: str, settings: dict[str, str]) -> Ended:
    process = await start(unit, settings)
    async with patience():
        _, said = await process.communicate()
    return Ended(process.returncode or 0, said.decode())


@asynccontextmanager
async def served(unit: str, settings: dict[str, str]) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    process = await start(unit, settings)
    origin = f"http://{settings[UNITS[unit][1]]}"
    try:
        async with patience():
            # A Router is ready only with a Control Plane to watch; here each unit runs alone.
            path = "livez" if unit == "router" else "readyz"
            while await asyncio.to_thread(status_of, f"{origin}/{path}") != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        yield process, origin
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def status_of(url: str, token: str | None = None) -> int:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    try:
        with urlopen(Request(url, headers=headers), timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
            return int(answer.status)
    except OSError as failure:
        return int(getattr(failure, "code", 0))


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


@pytest.mark.parametrize("unit", UNITS)
async def test_a_dead_database_ends_the_start_with_one_clear_message(unit: str) -> None:
    ended = await run_to_end(unit, environment(unit, None))
    assert ended.code == 1
    assert ended.said.splitlines() == [
        f"aop {unit}: {UNITS[unit][0]}: the database cannot be reached (ConnectionRefusedError)"
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


def handing(listener: socket.socket) -> tuple[str, ...]:
    """The program that gives its successor this socket, as `aop up` does it."""
    return (sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid()), "9", "-1", str(listener.fileno()))


@pytest.mark.rows("SAFE-13")
async def test_a_unit_serves_on_the_socket_it_is_handed(stores: DatabaseUrls) -> None:
    with listening_socket("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        settings = environment("control-plane", stores, PLATFORM_LISTEN_ADDRESS=f"127.0.0.1:{port}")
        process = await asyncio.create_subprocess_exec(
            *handing(listener),
            *(sys.executable, "-m", "aop", "control-plane"),
            env={**settings, "PATH": os.defpath},
            stderr=asyncio.subprocess.DEVNULL,
            pass_fds=(listener.fileno(),),
        )
        # Whoever comes before the unit waits in the socket's own queue.
        assert await asyncio.to_thread(status_of, f"http://127.0.0.1:{port}/livez") == 200
        process.send_signal(signal.SIGTERM)
        async with patience():
            assert await process.wait() == 0


async def test_a_socket_of_another_address_is_refused_by_the_setting(stores: DatabaseUrls) -> None:
    with listening_socket("127.0.0.1", 0) as listener:
        process = await asyncio.create_subprocess_exec(
            *handing(listener),
            *(sys.executable, "-m", "aop", "control-plane"),
            env={**environment("control-plane", stores), "PATH": os.defpath},
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(listener.fileno(),),
        )
        async with patience():
            _, said = await process.communicate()
    assert process.returncode == 1
    assert b"PLATFORM_LISTEN_ADDRESS: the socket handed over in LISTEN_FDS has another address" in said


async def test_a_socket_meant_for_another_process_is_not_taken(stores: DatabaseUrls) -> None:
    strange = environment("control-plane", stores)
    port = int(strange["PLATFORM_LISTEN_ADDRESS"].rpartition(":")[2])
    process = await start("control-plane", {**strange, "LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())})

    async def alive() -> bool:
        return await asyncio.to_thread(status_of, f"http://127.0.0.1:{port}/livez") == 200

    await becomes_true(alive)
    process.send_signal(signal.SIGTERM)
    async with patience():
        await process.communicate()
