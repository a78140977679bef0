"""A unit on a socket that it is handed: served, refused when it is another, not taken from another process."""

import asyncio
import os
import signal
import socket
import sys

import pytest

from aop.local.state import DatabaseUrls
from aop.net.sockets import listening_socket
from aop.processes.child import _LAUNCHER as LAUNCHER
from tests.support.waiting import becomes_true, patience
from tests.units.processes import environment, start, status_of

pytestmark = pytest.mark.second_ring


def handing(*listeners: socket.socket) -> tuple[str, ...]:
    """The program that gives its successor these sockets, as `aop up` does it."""
    handed = ",".join(str(listener.fileno()) for listener in listeners)
    return (sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid()), "9", "-1", handed)


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
