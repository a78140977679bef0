"""A unit with workers as a process: how it starts, what it says when it cannot, and that nobody outlives the parent."""

import asyncio
import os
import signal
import socket
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from aop.control_plane.gateway.tokens import issue_token
from aop.local.state import DatabaseUrls
from aop.serving.workers.worker_link import SILENT_TURNS
from tests.support.processes import children, is_alive
from tests.support.waiting import PATIENCE_SECONDS, becomes_true, patience
from tests.units.processes import UNITS, environment, run_to_end, served, status_of, wrong_login

pytestmark = pytest.mark.second_ring

_ESTABLISHED = "01"


@pytest.mark.rows("HA-05")
async def test_workers_of_a_control_plane_serve_and_a_killed_one_comes_back(stores: DatabaseUrls) -> None:
    token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    async with served("control-plane", environment("control-plane", stores), "--workers", "2") as (process, origin):
        before = children(process.pid)
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)

        async def is_back() -> bool:
            now = children(process.pid)
            return len(now) == 2 and now != before and await asyncio.to_thread(status_of, f"{origin}/readyz") == 200

        await becomes_true(is_back)
        for _ in range(8):
            assert await asyncio.to_thread(status_of, f"{origin}/v1/workspaces", token) == 200
        process.send_signal(signal.SIGTERM)
        async with patience():
            _, said = await process.communicate()
        assert (process.returncode, said.count(b'"unit.stopped"')) == (0, 2)


@pytest.mark.parametrize("unit", UNITS)
async def test_what_stops_every_worker_is_said_once(unit: str, stores: DatabaseUrls) -> None:
    refused = await run_to_end(unit, environment(unit, wrong_login(stores)), "--workers", "3")
    assert refused.code == 1
    assert refused.said.splitlines() == [
        f"aop {unit}: {UNITS[unit][0]}: the database cannot be reached (InvalidPasswordError)"
    ]
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = await run_to_end(unit, environment(unit, stores, **{UNITS[unit][1]: address}), "--workers", "3")
    assert (ended.code, ended.said.count("the address cannot be listened on")) == (1, 1)


async def test_workers_end_with_their_parent_and_leave_the_address(stores: DatabaseUrls) -> None:
    settings = environment("control-plane", stores)
    async with served("control-plane", settings, "--workers", "2") as (process, _):
        left = children(process.pid)
        process.kill()
        await process.wait()

        async def are_gone() -> bool:
            return not any(map(is_alive, left))

        await becomes_true(are_gone)
    async with served("control-plane", settings, "--workers", "1") as (process, _):
        assert len(children(process.pid)) == 1


@pytest.mark.rows("HA-05")
async def test_a_stuck_worker_holds_nobody_up_and_gets_its_connections_later(stores: DatabaseUrls) -> None:
    settings = environment("control-plane", stores)
    async with served("control-plane", settings, "--workers", "2") as (process, _):
        stuck, other = children(process.pid)
        with ExitStack() as open_ones:
            os.kill(stuck, signal.SIGSTOP)
            for _ in range(40):
                open_ones.enter_context(await _live_connection(settings))
            os.kill(stuck, signal.SIGCONT)
            for _ in range(160):
                open_ones.enter_context(await _live_connection(settings))
                # If it got every second one, this would take more than 500.
                if _sockets(stuck, settings) + 2 >= _sockets(other, settings) * 7 / 8:
                    break
            else:
                pytest.fail("the connections stay uneven")


@pytest.mark.long
@pytest.mark.rows("SOUND-06")
async def test_no_worker_is_replaced_because_its_parent_stood_still(stores: DatabaseUrls) -> None:
    async with served("control-plane", environment("control-plane", stores), "--workers", "2") as (process, _):
        before = children(process.pid)
        process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(SILENT_TURNS + 2)
        process.send_signal(signal.SIGCONT)
        await asyncio.sleep(3)
        assert children(process.pid) == before


async def _live_connection(settings: dict[str, str]) -> socket.socket:
    """One that is answered, and stays open."""
    host, _, port = settings[UNITS["control-plane"][1]].partition(":")

    def opened() -> socket.socket:
        sock = socket.create_connection((host, int(port)), PATIENCE_SECONDS)
        sock.sendall(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")
        assert sock.recv(65536).startswith(b"HTTP/1.1 200 ")
        return sock

    return await asyncio.to_thread(opened)


def _sockets(pid: int, settings: dict[str, str]) -> int:
    """How many connections to the address of the unit the process has."""
    port = int(settings[UNITS["control-plane"][1]].rpartition(":")[2])
    rows = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    ours = {f"socket:[{row[9]}]" for row in rows if row[1].endswith(f":{port:04X}") and row[3] == _ESTABLISHED}
    found = 0
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found += os.readlink(file) in ours
    return found
