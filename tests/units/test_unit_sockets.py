"""Units of one machine that meet at unix sockets: where they listen, where their requests go, what they refuse."""

import asyncio
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from functools import partial
from pathlib import Path

import pytest

from aop.control_plane.gateway.tokens import issue_token
from aop.local.state import DatabaseUrls
from aop.net.sockets import MAX_PATH_BYTES, listening_path, listening_socket
from aop.net.worker_sockets import worker_path
from tests.support.processes import children
from tests.support.waiting import becomes_true, patience
from tests.units.processes import environment, run_to_end, served, status_of
from tests.units.test_handed_socket import handing

pytestmark = pytest.mark.second_ring

NOWHERE = "http://nowhere.test:1"
_IDS = struct.Struct("3i")  # of a process, its user and its group
BOTH = ["PLATFORM_CONTROL_PLANE_SOCKET", "PLATFORM_ROUTER_SOCKET"]


async def status_at(path: Path) -> int:
    reader, writer = await asyncio.open_unix_connection(path)
    with closing(writer):
        writer.write(b"GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        return int((await reader.readline()).split()[1])


@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=["alone", "workers"])
async def test_a_unit_listens_on_its_address_and_its_socket_and_so_does_the_next_one(
    stores: DatabaseUrls, tmp_path: Path, options: tuple[str, ...]
) -> None:
    path = tmp_path / "control-plane.sock"
    settings = environment("control-plane", stores, PLATFORM_CONTROL_PLANE_SOCKET=f"unix:{path}")
    for _ in range(2):
        async with served("control-plane", settings, *options) as (process, origin):
            assert await asyncio.to_thread(status_of, f"{origin}/livez") == 200
            assert [await status_at(path) for _ in range(4)] == [200] * 4
            process.send_signal(signal.SIGTERM)
            async with patience():
                await process.communicate()
            assert process.returncode == 0


async def test_units_reach_each_other_by_their_sockets_and_not_by_their_origins(
    stores: DatabaseUrls, tmp_path: Path
) -> None:
    token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    sockets = {name: f"unix:{tmp_path / name}" for name in BOTH}
    ours = environment("control-plane", stores, PLATFORM_ROUTER_INTERNAL_ORIGIN=NOWHERE, **sockets)
    theirs = environment("router", stores, PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN=NOWHERE, **sockets)
    async with served("control-plane", ours) as (_, gateway), served("router", theirs) as (_, router):

        async def is_ready() -> bool:
            return await asyncio.to_thread(status_of, f"{router}/readyz") == 200

        await becomes_true(is_ready)  # it watches the Control Plane
        assert await _created(gateway, token) == 201
        # The Ledger is the Router's: the Control Plane asks it.
        assert await asyncio.to_thread(status_of, f"{gateway}/v1/workspaces/meeting/invocations", token) == 200


async def _created(gateway: str, token: str) -> int:
    host, port = gateway.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    with closing(writer):
        body = json.dumps({"workspaceId": "meeting"}).encode()
        head = f"POST /v1/workspaces HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\nconnection: close\r\n"
        writer.write(f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        return int((await reader.readline()).split()[1])


@pytest.mark.rows("HA-05")
async def test_each_worker_of_the_router_reaches_one_worker_of_its_peer(stores: DatabaseUrls, tmp_path: Path) -> None:
    path = tmp_path / "control-plane.sock"
    async with _noted(path) as used:
        settings = environment("router", stores, PLATFORM_CONTROL_PLANE_SOCKET=f"unix:{path}")
        async with served("router", settings, "--workers", "2") as (process, _):

            async def both_asked() -> bool:
                return used.keys() == set(children(process.pid))

            await becomes_true(both_asked)
    assert sorted(used.values(), key=min) == [{"control-plane.sock.1"}, {"control-plane.sock.2"}]


@pytest.mark.rows("HA-05")
async def test_each_worker_reaches_one_worker_of_its_peer(stores: DatabaseUrls, tmp_path: Path) -> None:
    token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    path = tmp_path / "router.sock"
    async with _noted(path) as used:
        settings = environment("control-plane", stores, PLATFORM_ROUTER_SOCKET=f"unix:{path}")
        async with served("control-plane", settings, "--workers", "2") as (process, gateway):
            assert await _created(gateway, token) == 201

            async def both_asked() -> bool:
                await asyncio.to_thread(status_of, f"{gateway}/v1/workspaces/meeting/invocations", token)
                return len(used) == 2

            await becomes_true(both_asked)
            assert used.keys() == set(children(process.pid))
    assert sorted(used.values(), key=min) == [{"router.sock.1"}, {"router.sock.2"}]


@asynccontextmanager
async def _noted(path: Path) -> AsyncIterator[Mapping[int, set[str]]]:
    """Listens in place of a peer with two workers, and hangs up. By the id of each process that connected: the names of
    the sockets it connected to."""
    used: dict[int, set[str]] = {}

    def connected(name: str, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ids = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _IDS.size)
        used.setdefault(_IDS.unpack(ids)[0], set()).add(name)
        writer.close()

    async with AsyncExitStack() as listening:
        for name in (path, *(Path(worker_path(str(path), number)) for number in (1, 2))):
            server = await asyncio.start_unix_server(partial(connected, name.name), name)
            await listening.enter_async_context(server)
        yield used


@pytest.mark.rows("HA-05")
async def test_each_worker_serves_its_own_socket_also_when_it_was_started_again(
    stores: DatabaseUrls, tmp_path: Path
) -> None:
    path = tmp_path / "control-plane.sock"
    settings = environment("control-plane", stores, PLATFORM_CONTROL_PLANE_SOCKET=f"unix:{path}")
    async with served("control-plane", settings, "--workers", "2") as (process, _):
        first, second = children(process.pid)
        for number, pid in ((1, first), (2, second)):
            assert await _has_all_connections(pid, path, number)
        os.kill(second, signal.SIGKILL)

        async def second_is_served_by_a_new_one() -> bool:
            new = set(children(process.pid)) - {first, second}
            return bool(new) and await _has_all_connections(new.pop(), path, 2)

        await becomes_true(second_is_served_by_a_new_one)
        process.send_signal(signal.SIGTERM)
        async with patience():
            await process.communicate()
    assert await asyncio.to_thread(os.listdir, tmp_path) == [path.name]


async def _has_all_connections(pid: int, path: Path, number: int) -> bool:
    """Of those that come to the socket of the worker with this number. The process opens and closes few others."""
    before, count = _sockets_of(pid), 20
    async with AsyncExitStack() as connected:
        for _ in range(count):
            reader, writer = await asyncio.open_unix_connection(worker_path(str(path), number))
            connected.enter_context(closing(writer))
            writer.write(b"GET /livez HTTP/1.1\r\nhost: a\r\n\r\n")
            assert b"200" in await reader.readline()
        return _sockets_of(pid) - before > count / 2


def _sockets_of(pid: int) -> int:
    found = 0
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found += os.readlink(file).startswith("socket:")
    return found


@pytest.mark.rows("HA-05")
async def test_the_socket_of_a_stuck_worker_is_served_by_another_one(stores: DatabaseUrls, tmp_path: Path) -> None:
    path = tmp_path / "control-plane.sock"
    settings = environment("control-plane", stores, PLATFORM_CONTROL_PLANE_SOCKET=f"unix:{path}")
    async with served("control-plane", settings, "--workers", "2") as (process, _):
        paths = [Path(worker_path(str(path), number)) for number in (1, 2)]
        assert [await status_at(one) for one in paths] == [200, 200]
        stuck = children(process.pid)[0]
        os.kill(stuck, signal.SIGSTOP)
        try:
            async with patience():
                assert [await status_at(one) for one in paths] == [200, 200]
        finally:
            os.kill(stuck, signal.SIGCONT)


async def test_a_unit_whose_workers_can_have_no_sockets_serves_without_them(
    stores: DatabaseUrls, tmp_path: Path
) -> None:
    path = str(tmp_path / "s")
    path += "s" * (MAX_PATH_BYTES - len(path))  # with a number behind it, it is too long
    settings = environment("control-plane", stores, PLATFORM_CONTROL_PLANE_SOCKET=f"unix:{path}")
    async with served("control-plane", settings, "--workers", "2") as (process, _):
        assert await status_at(Path(path)) == 200
        process.send_signal(signal.SIGTERM)
        async with patience():
            _, said = await process.communicate()
    (record,) = [line for line in said.splitlines() if b"unit.no_worker_sockets" in line]
    assert json.loads(record)["cause"] == "their paths would be too long"


async def test_a_socket_that_another_one_listens_on_is_refused_by_the_setting(
    stores: DatabaseUrls, tmp_path: Path
) -> None:
    path = tmp_path / "taken.sock"
    with listening_path(str(path)):
        ended = await run_to_end("router", environment("router", stores, PLATFORM_ROUTER_SOCKET=f"unix:{path}"))
    assert ended.code == 1
    assert "PLATFORM_ROUTER_SOCKET: the path cannot be listened on (Address already in use)" in ended.said


@pytest.mark.parametrize(
    ("router", "said"),
    [
        ("/run/one.sock", "must not be that of PLATFORM_CONTROL_PLANE_SOCKET"),
        ("/run/one.sock.1", "must differ from PLATFORM_CONTROL_PLANE_SOCKET by more than .1"),
        ("/run/one", "must differ from PLATFORM_CONTROL_PLANE_SOCKET by more than .1"),
    ],
)
async def test_two_units_whose_sockets_could_be_one_are_refused(stores: DatabaseUrls, router: str, said: str) -> None:
    ours = "/run/one.sock" if router != "/run/one" else "/run/one.2"
    paths = {name: f"unix:{path}" for name, path in zip(BOTH, (ours, router), strict=True)}
    ended = await run_to_end("router", environment("router", stores, **paths))
    assert ended.code == 78
    assert f"PLATFORM_ROUTER_SOCKET {said}" in ended.said


@pytest.mark.rows("SAFE-13")
@pytest.mark.parametrize("named", [True, False], ids=["its own", "of nobody"])
async def test_a_unit_takes_an_address_and_the_socket_of_its_setting_from_whoever_starts_it(
    stores: DatabaseUrls, tmp_path: Path, *, named: bool
) -> None:
    path = tmp_path / "handed.sock"
    with listening_socket("127.0.0.1", 0) as listener, listening_path(str(path)) as by_path:
        settings = environment(
            "control-plane",
            stores,
            PLATFORM_LISTEN_ADDRESS=f"127.0.0.1:{listener.getsockname()[1]}",
            PLATFORM_CONTROL_PLANE_SOCKET=f"unix:{path}" if named else None,
        )
        process = await asyncio.create_subprocess_exec(
            *handing(listener, by_path),
            *(sys.executable, "-m", "aop", "control-plane"),
            env={**settings, "PATH": os.defpath},
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(listener.fileno(), by_path.fileno()),
        )
        async with patience():
            if named:
                assert await status_at(path) == 200
                process.send_signal(signal.SIGTERM)
            _, said = await process.communicate()
    assert process.returncode == (0 if named else 1)
    assert named or b"LISTEN_FDS hands over a unix socket, and no setting names its path" in said
