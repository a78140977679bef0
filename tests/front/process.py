"""The command `aop front` as a process of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from aop.agent.testing import SignedRouter
from aop.net.http import ConnectFailed, HttpClient
from tests.agent.agents import ask
from tests.front.served import ServedFront
from tests.support.waiting import PATIENCE_SECONDS, becomes_true


@asynccontextmanager
async def running_front(
    folder: Path, router: SignedRouter, *arguments: str, agent_id: str, version: str = "1.0.0", **environment: str
) -> AsyncIterator[tuple[ServedFront, int]]:
    """The command in that folder, once it answers; its process has ended well when this returns."""
    port = int(router.audience.rpartition(":")[2])
    process = started(folder, router, *arguments, **environment)
    client = HttpClient(idle_seconds=5, connect_seconds=PATIENCE_SECONDS)
    served = ServedFront(router, port, client, "chat", f"/{agent_id}/{version}")

    async def answers() -> bool:
        try:
            return (await ask(client, port, "GET", "/readyz")).status == 200
        except ConnectFailed:
            assert process.poll() is None, (folder / "log").read_text()
            return False

    try:
        await becomes_true(answers)
        yield served, process.pid
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 0
    finally:
        process.kill()
        process.wait()
        await client.close()


def started(folder: Path, router: SignedRouter, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
    """The command with this Router in its environment; `log` in the folder is what it prints."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PLATFORM_")}  # noqa: TID251
    environment: Mapping[str, str] = inherited | router.environment(folder) | more
    command = [sys.executable, "-m", "aop", "front", *arguments]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
