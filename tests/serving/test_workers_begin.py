"""The workers of a unit begin together: whoever accepted first would have all connections that wait, and keep them."""

import asyncio
import io
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from aop.net.sockets import listening_socket
from aop.serving.edge.request_log import UnitLog
from aop.serving.workers.parent import Parent, WorkersPlan
from tests.support.waiting import becomes_true, patience

pytestmark = [pytest.mark.rows("HA-05"), pytest.mark.second_ring]

WORKER = """
import asyncio, os, signal, sys
from pathlib import Path
from aop.serving.workers.worker_group import WorkerGroup, WorkerPlace

async def work(folder):
    place = WorkerPlace.of(os.environ)
    group = WorkerGroup(place.share)
    link = await group.join(place, lambda: os._exit(1))
    stop = asyncio.Event()
    if place.share.number == 1:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    else:
        (folder / "built").touch()
        while not (folder / "go on").exists():
            await asyncio.sleep(0.01)
    await group.built()
    (folder / f"serves {place.share.number}").touch()
    await stop.wait()

asyncio.run(work(Path(sys.argv[1])))
"""


@asynccontextmanager
async def two_workers(folder: Path) -> AsyncIterator[asyncio.Task[None]]:
    """The second one takes until it may go on to be built."""
    plan = WorkersPlan(2, (sys.executable, "-c", WORKER, str(folder)), {"PATH": os.defpath})
    with listening_socket("127.0.0.1", 0) as listener:
        parent = Parent(plan, [listener], [], UnitLog("router", out=io.BytesIO()), {})
        running = asyncio.create_task(parent.run(asyncio.Event(), 0))
        try:
            await exists(folder / "built")
            yield running
        finally:
            running.cancel()
            await asyncio.wait({running})


async def exists(path: Path) -> None:
    async def is_there() -> bool:
        return await asyncio.to_thread(path.exists)

    await becomes_true(is_there)


async def test_no_worker_serves_before_the_others_are_built(tmp_path: Path) -> None:
    async with two_workers(tmp_path):
        # The second one was not started before the first one had told that it is built.
        assert not (tmp_path / "serves 1").exists()
        (tmp_path / "go on").touch()
        for number in (1, 2):
            await exists(tmp_path / f"serves {number}")


async def test_a_unit_that_is_stopped_while_its_workers_are_built_ends(tmp_path: Path) -> None:
    async with two_workers(tmp_path) as running:
        running.cancel()
        async with patience():
            await asyncio.wait({running})
        assert running.cancelled()
        assert (tmp_path / "serves 1").exists()  # it was told, and not killed while it waited
