"""Gateway and Router as `aop` starts them, with or without workers, beside what stays while they come and go.

They meet at a unix socket, as in `aop up`.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
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


@asynccontextmanager
async def surroundings() -> AsyncIterator[Around]:
    async with migrated_store() as store:
        with peer_process(agent_peer) as (agent_pid, agent_port):
            gateway, agent, router_port = _local(any_free_port()), _local(agent_port), any_free_port()
            platform = StreamPlatform(0, 0, store.pid, agent_pid, gateway, agent, store.token, store.url)
            settings = router_environment(store.url, router_port, gateway.port, agent_port)
            here = {ROUTER_SOCKET: f"unix:{store.home / 'router.sock'}"}
            around = Around(platform, router_port, settings | here)
            async with units(around, 1) as first:
                await install(first)
            yield around


def _local(port: int) -> Target:
    return Target("http", "127.0.0.1", port, "127.0.0.1")


@asynccontextmanager
async def units(around: Around, workers: int) -> AsyncIterator[StreamPlatform]:
    """Without workers, each unit is one process; else one that starts as many workers."""
    platform = around.platform
    settings = control_plane_environment(platform.database_url, around.router_port, platform.agent.port)
    settings["PLATFORM_LISTEN_ADDRESS"] = f"127.0.0.1:{platform.gateway.port}"
    settings[ROUTER_SOCKET] = around.router[ROUTER_SOCKET]
    with _unit("control-plane", settings, workers) as gateway, _unit("router", around.router, workers) as router:
        for port in (platform.gateway.port, around.router_port):
            ready = answers_ready(f"http://127.0.0.1:{port}")
            async with asyncio.timeout(_PATIENCE_SECONDS):
                while not await ready(0):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        yield replace(platform, gateway_pid=gateway, router_pid=router)


@contextmanager
def _unit(name: str, settings: Mapping[str, str], workers: int) -> Iterator[int]:
    command = [sys.executable, "-P", "-m", "aop", name]
    if workers:
        command += ["--workers", str(workers)]
    environment = {**settings, "PATH": os.defpath, "PLATFORM_DRAIN_SECONDS": "0"}
    # The log of requests is part of what they cost; nobody reads it here.
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            yield process.pid
        finally:
            process.terminate()


def workers_of(pid: int) -> list[int]:
    """The processes that a unit with workers has beneath it."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
