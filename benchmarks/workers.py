"""What workers cost and bring: CPU per invocation with 1, 2 and 4 of them, and calls per second when each has less.

Twice: with as many callers for each worker, which is why one adds workers, and with as many in all. Writes that come
together share a commit, so fewer callers for each worker make a call dearer with one worker too. The targets are of the
first; the second is shown beside it.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import uvloop

from aop.local.ports import any_free_port
from aop.local.unit import answers_ready
from aop.net.http import HttpClient, Target
from benchmarks._calls import Calls, many
from benchmarks._quota import NoQuota, limited
from benchmarks._store import migrated_store
from benchmarks._stream_platform import StreamPlatform, control_plane_environment, install, router_environment
from benchmarks._streaming_agent import agent_peer
from benchmarks.measure import Figure, Report, cpu_nanos, peer_process, store_cpu_nanos

WORKERS = (1, 2, 4)
ROUNDS = 3
CALLERS = 64
CALLS = 1280
QUOTA = 0.2
LIMIT_CPU = 1.18
LIMIT_THROUGHPUT = 0.85
_PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class _Found:
    """Of one start with so many workers and one load: CPU per call in microseconds, and calls per second under the
    quota."""

    cpu: float
    limited_per_second: float
    least_busy: float
    """CPU of the Router's least busy worker as a part of that of its busiest."""


def run() -> Report:
    return uvloop.run(_run())


async def _run() -> Report:
    each: dict[int, list[_Found]] = {count: [] for count in WORKERS}
    in_all: dict[int, list[_Found]] = {count: [] for count in WORKERS}
    async with _surroundings() as around:
        for _ in range(ROUNDS):
            for count in WORKERS:
                async with _units(around, count) as platform:
                    each[count].append(await _measured(platform, count))
                    in_all[count].append(await _measured(platform, 1))
    return _report(each, in_all)


@dataclass(frozen=True)
class _Around:
    """What stays while units come and go. `platform` has no units yet."""

    platform: StreamPlatform
    router_port: int
    router: Mapping[str, str]
    """Its settings."""


@asynccontextmanager
async def _surroundings() -> AsyncIterator[_Around]:
    async with migrated_store() as store:
        with peer_process(agent_peer) as (agent_pid, agent_port):
            gateway, agent, router_port = _local(any_free_port()), _local(agent_port), any_free_port()
            platform = StreamPlatform(0, 0, store.pid, agent_pid, gateway, agent, store.token, store.url)
            settings = router_environment(store.url, router_port, gateway.port, agent_port)
            around = _Around(platform, router_port, settings)
            async with _units(around, 1) as first:
                await install(first)
            yield around


def _local(port: int) -> Target:
    return Target("http", "127.0.0.1", port, "127.0.0.1")


@asynccontextmanager
async def _units(around: _Around, workers: int) -> AsyncIterator[StreamPlatform]:
    platform = around.platform
    settings = control_plane_environment(platform.database_url, around.router_port, platform.agent.port)
    settings["PLATFORM_LISTEN_ADDRESS"] = f"127.0.0.1:{platform.gateway.port}"
    with _unit("control-plane", settings, workers) as gateway, _unit("router", around.router, workers) as router:
        for port in (platform.gateway.port, around.router_port):
            ready = answers_ready(f"http://127.0.0.1:{port}")
            async with asyncio.timeout(_PATIENCE_SECONDS):
                while not await ready(0):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        yield replace(platform, gateway_pid=gateway, router_pid=router)


@contextmanager
def _unit(name: str, settings: Mapping[str, str], workers: int) -> Iterator[int]:
    command = [sys.executable, "-P", "-m", "aop", name, "--workers", str(workers)]
    environment = {**settings, "PATH": os.defpath, "PLATFORM_DRAIN_SECONDS": "0"}
    # The log of requests is part of what they cost; nobody reads it here.
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            yield process.pid
        finally:
            process.terminate()


async def _measured(platform: StreamPlatform, share: int) -> _Found:
    """With the callers and calls of so many workers."""
    client = HttpClient(idle_seconds=60, connect_seconds=5)
    calls = Calls(platform, client)
    workers = _children(platform.router_pid)
    callers, count = CALLERS * share, CALLS * share
    await many(calls.managed, callers, count)
    before, busy = _spent(platform), [cpu_nanos(pid) for pid in workers]
    await many(calls.managed, callers, count)
    cpu = (_spent(platform) - before) / 1000 / count
    busy = [cpu_nanos(pid) - nanos for pid, nanos in zip(workers, busy, strict=True)]
    per_second = await _under_quota(workers, calls, callers, count)
    await client.close()
    return _Found(cpu, per_second, min(busy) / max(busy))


async def _under_quota(workers: list[int], calls: Calls, callers: int, count: int) -> float:
    """Of the Router's workers; everything else has what the machine leaves."""
    try:
        with limited(workers, QUOTA):
            await many(calls.managed, callers, callers * 4)
            begun = time.perf_counter()
            await many(calls.managed, callers, count)
            return count / (time.perf_counter() - begun)
    except NoQuota:
        return float("nan")


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _spent(platform: StreamPlatform) -> int:
    """Of both units with their parents and workers, and of PostgreSQL."""
    return sum(map(store_cpu_nanos, (platform.gateway_pid, platform.router_pid, platform.store_pid)))


def _report(each: Mapping[int, list[_Found]], in_all: Mapping[int, list[_Found]]) -> Report:
    cpu, speed = _medians(each)
    several = [count for count in each if count > 1]
    targets = {
        f"a call costs at most {LIMIT_CPU} of its CPU with one worker": all(
            cpu[count] <= LIMIT_CPU * cpu[1] for count in several
        ),
        f"N workers with {QUOTA:.0%} of a core each bring {LIMIT_THROUGHPUT} N": all(
            speed[count] >= LIMIT_THROUGHPUT * count * speed[1] for count in several
        ),
    }
    return Report(
        "workers",
        f"Gateway and Router with workers, 1 kB JSON, median of {ROUNDS} starts; "
        f"targets with {CALLERS} callers for each worker",
        [*_rows(f"{CALLERS} a worker", each), *_rows(f"{CALLERS} in all", in_all)],
        targets,
    )


def _rows(callers: str, found: Mapping[int, list[_Found]]) -> list[Mapping[str, Figure]]:
    cpu, speed = _medians(found)
    return [
        {
            "callers": callers,
            "workers": count,
            "µs CPU per call": cpu[count],
            "to one worker": f"{cpu[count] / cpu[1]:.2f}",
            "per second under the quota": speed[count],
            "to N times one": f"{speed[count] / (count * speed[1]):.2f}",
            "least busy to busiest": f"{statistics.median(one.least_busy for one in found[count]):.2f}",
        }
        for count in found
    ]


def _medians(found: Mapping[int, list[_Found]]) -> tuple[Mapping[int, float], Mapping[int, float]]:
    """Of CPU, and of calls per second under the quota."""
    cpu = {count: statistics.median(one.cpu for one in each) for count, each in found.items()}
    speed = {count: statistics.median(one.limited_per_second for one in each) for count, each in found.items()}
    return cpu, speed
