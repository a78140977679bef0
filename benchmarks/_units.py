"""Gateway and Router as `aop` starts them, with or without workers, beside what stays while they come and go.

They meet at a unix socket, as in `aop up`.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from aop.local.ports import any_free_port
from aop.local.unit import answers_ready
from aop.net.http import Target
from aop.serving.unit.unit_settings import ROUTER_SOCKET
from benchmarks._store import migrated_store
from benchmarks._stream_platform import StreamPlatform, control_plane_environment, install, router_environment
from benchmarks._streaming_agent import agent_peer
from benchmarks.measure import peer_process

_PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class Around:
    """What stays while units come and go. `platform` has no units yet."""

    platform: StreamPlatform
    router_port: int
    router: Mapping[str, str]
    """Its settings."""

    @property
    def control_plane(self) -> Mapping[str, str]:
        """Its settings."""
        settings = control_plane_environment(self.platform.database_url, self.router_port, self.platform.agent.port)
        settings["PLATFORM_LISTEN_ADDRESS"] = f"127.0.0.1:{self.platform.gateway.port}"
        return settings | {ROUTER_SOCKET: self.router[ROUTER_SOCKET]}


@asynccontextmanager
async def surroundings() -> AsyncIterator[Around]:
    """With the Agent installed."""
    async with empty_surroundings() as around:
        async with units(around, 1) as first:
            await install(first)
        yield around


@asynccontextmanager
async def empty_surroundings() -> AsyncIterator[Around]:
    async with migrated_store() as store:
        with peer_process(agent_peer) as (agent_pid, agent_port):
            gateway, agent, router_port = _local(any_free_port()), _local(agent_port), any_free_port()
            platform = StreamPlatform(0, 0, store.pid, agent_pid, gateway, agent, store.token, store.url)
            settings = router_environment(store.url, router_port, gateway.port, agent_port)
            here = {ROUTER_SOCKET: f"unix:{store.home / 'router.sock'}"}
            yield Around(platform, router_port, settings | here)


def _local(port: int) -> Target:
    return Target("http", "127.0.0.1", port, "127.0.0.1")


@asynccontextmanager
async def units(around: Around, workers: int) -> AsyncIterator[StreamPlatform]:
    """Without workers, each unit is one process; else one that starts as many workers."""
    control_plane, router = around.control_plane, around.router
    with _unit("control-plane", control_plane, workers) as gateway, _unit("router", router, workers) as router_pid:
        await ready(around)
        yield replace(around.platform, gateway_pid=gateway, router_pid=router_pid)


async def ready(around: Around) -> None:
    """Until both units answer that they are."""
    for port in (around.platform.gateway.port, around.router_port):
        is_ready = answers_ready(f"http://127.0.0.1:{port}")
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while not await is_ready(0):  # noqa: ASYNC110
                await asyncio.sleep(0.05)


@contextmanager
def _unit(name: str, settings: Mapping[str, str], workers: int) -> Iterator[int]:
    command = [sys.executable, "-P", "-m", "aop", name]
    if workers:
        command += ["--workers", str(workers)]
    with started(command, settings) as process:
        yield process.pid


@contextmanager
def started(
    command: Sequence[str], settings: Mapping[str, str], handed: Sequence[int] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """`handed` are descriptors that it has too."""
    environment = {**settings, "PATH": os.defpath, "PLATFORM_DRAIN_SECONDS": "0"}
    # The log of requests is part of what they cost; nobody reads it here.
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, pass_fds=handed) as process:
        try:
            yield process
        finally:
            process.terminate()


def workers_of(pid: int) -> list[int]:
    """The processes that a unit with workers has beneath it."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
