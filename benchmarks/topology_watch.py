"""How fast a snapshot of 30,000 Releases streams and at what memory, and how soon a change reaches a watcher."""

import asyncio
import statistics
import time
from collections.abc import Mapping
from typing import Any

import asyncpg
import uvloop

from benchmarks._control_plane import BenchedControlPlane, control_plane
from benchmarks.measure import Figure, Report
from tests.support.settings import ROUTER_TO_CONTROL_PLANE
from tests.support.watch import seed_releases, watching

RELEASES = 30_000
SNAPSHOTS = 5
CHANGES = 200
WATCHERS = 3
LIMIT_SNAPSHOT_SECONDS = 2.0
LIMIT_CHANGE_MILLIS = 50.0
LIMIT_GROWTH_MEGABYTES = 16.0
"""What the unit may grow by at most while it streams snapshots, far less than one of them takes as a whole."""

_SUSPEND = (
    "UPDATE registry.release SET state = 'suspended', updated_at = now(), suspended_at = now(),"
    " suspended_by = 'provider' WHERE release_id = $1"
)
_RECORD = (
    "WITH number AS (UPDATE registry.counter SET value = value + 1 WHERE name = 'topology' RETURNING value)"
    " INSERT INTO registry.change (revision, release_id, agent_id, version, card_digest, state)"
    " SELECT number.value, release_id, agent_id, version, card_digest, state FROM number, registry.watched_release"
    " WHERE release_id = $1"
)


def run() -> Report:
    return uvloop.run(_run())


async def _run() -> Report:
    async with control_plane(ROUTER_TO_CONTROL_PLANE) as unit:
        await seed_releases(unit.database_url, RELEASES)
        await _snapshot_seconds(unit)  # warms the unit and the store
        before = unit.resident_megabytes()
        seconds = [await _snapshot_seconds(unit) for _ in range(SNAPSHOTS)]
        growth = unit.peak_megabytes() - before
        millis = await _change_millis(unit)
    snapshot, change = statistics.median(seconds), statistics.median(millis)
    rows: list[Mapping[str, Figure]] = [
        {"figure": f"snapshot of {RELEASES} Releases, s", "median": f"{snapshot:.2f}", "worst": f"{max(seconds):.2f}"},
        {
            "figure": f"change to {WATCHERS} watchers, ms",
            "median": f"{change:.1f}",
            "worst": f"{max(millis):.1f}",
        },
        {"figure": "memory before, then most, MB", "median": f"{before:.0f}", "worst": f"{before + growth:.0f}"},
    ]
    targets = {
        f"a snapshot streams in at most {LIMIT_SNAPSHOT_SECONDS:.0f} s": snapshot <= LIMIT_SNAPSHOT_SECONDS,
        f"a change arrives within {LIMIT_CHANGE_MILLIS:.0f} ms at the median": change <= LIMIT_CHANGE_MILLIS,
        f"snapshots take at most {LIMIT_GROWTH_MEGABYTES:.0f} MB of memory": growth <= LIMIT_GROWTH_MEGABYTES,
    }
    return Report("topology_watch", "one Control Plane, real sockets", rows, targets)


async def _snapshot_seconds(unit: BenchedControlPlane) -> float:
    started = time.perf_counter()
    async with watching(unit.port) as watch:
        frames = await watch.snapshot()
    assert sum(len(frame["releases"]) for frame in frames) == RELEASES
    return time.perf_counter() - started


async def _change_millis(unit: BenchedControlPlane) -> list[float]:
    """From the moment a transition has committed to the arrival of its change at each watcher."""
    connection = await asyncpg.connect(unit.database_url)
    ids = [
        row["release_id"] for row in await connection.fetch("SELECT release_id FROM registry.release LIMIT $1", CHANGES)
    ]
    committed: dict[int, float] = {}
    watchers = [asyncio.create_task(_arrivals(unit)) for _ in range(WATCHERS)]
    await asyncio.sleep(1)
    for number, release_id in enumerate(ids, start=RELEASES + 1):
        await _suspend(connection, release_id)
        committed[number] = time.perf_counter()
        await asyncio.sleep(0.01)
    arrived = await asyncio.gather(*watchers)
    await connection.close()
    return [max(0.0, seen[number] - moment) * 1000 for seen in arrived for number, moment in committed.items()]


async def _suspend(connection: Any, release_id: str) -> None:
    async with connection.transaction():
        await connection.execute(_SUSPEND, release_id)
        await connection.execute(_RECORD, release_id)
        await connection.execute("NOTIFY aop_topology")


async def _arrivals(unit: BenchedControlPlane) -> dict[int, float]:
    seen: dict[int, float] = {}
    async with watching(unit.port, RELEASES) as watch:
        while len(seen) < CHANGES:
            frame = await watch.change()
            seen[frame["revision"]] = time.perf_counter()
    return seen
