"""Area `ha`: three PostgreSQL under Patroni with etcd, two of each unit behind HAProxy, and one loss after another."""

import asyncio
import logging
import os
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from proof.area import Area, Figure, Findings, Run, proves
from proof.balancers.program import Balancer, HAProxy
from proof.balancers.stage import balanced, by_name
from proof.gathering import Seen, problems_of
from proof.gauges import percentile
from proof.ha.cluster import PROGRAMS, Cluster, ClusterServer, Node, cluster
from proof.ha.networks import NotPossible
from proof.record import CallResult
from proof.traffic import Load, Traffic, traffic
from proof.world import World
from tests.support.postgres import PostgresForTests
from tests.support.stalls import signal_all
from tests.support.waiting import background, becomes_true

_LOAD = Load(json=5, streams=2, pause=0.05)
_ROUNDS = 50
_MEMORY = "/dev/shm"  # noqa: S108
_GONE_SECONDS = 30.0
"""Longer than the lease of a leader (`ttl`), so that another one leads meanwhile."""
_RECOVERED_SECONDS = 120.0
_FULL_SECONDS = 15.0


@dataclass
class Stage:
    made: World
    nodes: Cluster
    balancer: Balancer
    found: Findings
    results: list[CallResult] = field(default_factory=list)
    recoveries: dict[str, list[float]] = field(default_factory=dict)
    """Seconds until calls succeeded again, by what was lost."""
    refusals: int = 0

    async def leader(self) -> Node:
        leader = await self.nodes.leader()
        assert leader is not None
        return leader


async def prove(run: Run) -> Findings:
    found = Findings()
    missing = [name for name in (*PROGRAMS, HAProxy.name) if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        run.say(f"NOT RUN: it needs root and {', '.join(missing) or 'no more programs'}")
        found.hits["looked for Patroni, etcd, HAProxy and the rights they need"] += 1
        found.figures.append(Figure("parts that were not run here", 1))
        return found
    try:
        async with _stage(run, found) as stage:
            names = list(_FAULTS)
            for number in range(run.pick(len(names), _ROUNDS)):
                await _round(stage, names[number % len(names)], run)
            await _judged(stage)
    except NotPossible as problem:
        run.say(f"NOT RUN: {problem}")
        found.figures.append(Figure("parts that were not run here", 1))
    return found


@asynccontextmanager
async def _stage(run: Run, found: Findings) -> AsyncIterator[Stage]:
    logging.getLogger("asyncpg").setLevel(logging.CRITICAL)  # that the store is gone is the point, and no news
    place = Path(tempfile.mkdtemp(prefix="aop-ha-", dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None))
    try:
        async with cluster(place) as nodes:
            run.say("three nodes of PostgreSQL follow one leader")
            postgres = PostgresForTests(ClusterServer(nodes.hosts), asyncio.get_running_loop())
            await postgres.prepare()
            async with balanced(replace(run, postgres=postgres), HAProxy) as (made, balancer):
                yield Stage(made, nodes, balancer, found)
    finally:
        _keep_logs(place, run.folder)


def _keep_logs(place: Path, folder: Path) -> None:
    for log in place.glob("db-*/*.log"):
        shutil.copy(log, folder / f"{log.parent.name}-{log.name}")
    shutil.rmtree(place, ignore_errors=True)


@proves("Calls succeed again within two minutes after each loss, and every unit says that it is ready.")
async def _round(stage: Stage, name: str, run: Run) -> None:
    async with traffic(stage.made, _LOAD) as going, background(_watched(stage)):
        await going.succeeds(60)
        began = time.time()
        seconds = await _FAULTS[name](stage, going)
        stage.found.hits[name] += 1
        await stage.nodes.whole()
        await going.succeeds(60)
    failed = [result for result in going.failures if result.ended > began]
    stage.results += going.results
    stage.recoveries.setdefault(name, []).append(seconds)
    run.say(f"{name}: {len(going.results)} calls, {len(failed)} failed, again after {seconds:.1f} s")
    for unit_name, unit in by_name(stage.made):
        stage.found.require(await _becomes_ready(unit.unit.port), f"{name}: {unit_name} is not ready afterwards")


async def _watched(stage: Stage) -> None:
    while True:
        ready = await asyncio.gather(*(_ready(unit.unit.port) for _, unit in by_name(stage.made)))
        stage.refusals += len(ready) - sum(ready)
        await asyncio.sleep(0.5)


async def _becomes_ready(port: int) -> bool:
    """Calls may succeed before a Router, whose watch went through the proxy, follows the Control Plane again."""
    with suppress(TimeoutError):
        await becomes_true(lambda: _ready(port), _RECOVERED_SECONDS)
        return True
    return False


async def _ready(port: int) -> bool:
    try:
        async with asyncio.timeout(5):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /readyz HTTP/1.1\r\nHost: unit\r\nConnection: close\r\n\r\n")
            line = await reader.readline()
            writer.close()
    except (OSError, TimeoutError):
        return False
    return b" 200 " in line


@proves(
    "Nothing that was acknowledged is lost, each Invocation has one terminal and no message was sent twice, whichever"
    " node, member of etcd or proxy was lost."
)
async def _judged(stage: Stage) -> None:
    stage.found.broken += await problems_of(stage.made, Seen(stage.results, router_lost=True))
    succeeded = sum(result.outcome == "succeeded" for result in stage.results)
    stage.found.require(stage.refusals > 0, "no unit ever said that it was not ready")
    every = list(chain.from_iterable(stage.recoveries.values()))
    for name, seconds in stage.recoveries.items():
        stage.found.figures += [
            Figure(f"{name}: first success, median", percentile(seconds, 0.5), "s"),
            Figure(f"{name}: first success, at the latest", max(seconds), "s", at_most=_RECOVERED_SECONDS),
        ]
    stage.found.figures += [
        Figure("calls", len(stage.results)),
        Figure("calls that succeeded", succeeded),
        Figure("p99 of the time until calls succeeded again", percentile(every, 0.99), "s"),
        Figure("answers of /readyz that were not ok", stage.refusals),
    ]


async def _killed(stage: Stage, going: Traffic) -> float:
    """Patroni, PostgreSQL and etcd of the leader, as when its machine is switched off; later it comes back."""
    node = await stage.leader()
    assert node.etcd is not None
    signal_all(signal.SIGKILL, *node.database_processes(), node.etcd.pid)
    seconds = await going.succeeds(_RECOVERED_SECONDS)
    await stage.nodes.start_etcd(node)
    await stage.nodes.start_patroni(node)
    return seconds


async def _crashed(stage: Stage, going: Traffic) -> float:
    """PostgreSQL alone; its Patroni lives and gives the lead away."""
    node = await stage.leader()
    signal_all(signal.SIGKILL, *node.database_processes()[1:2])
    return await going.succeeds(_RECOVERED_SECONDS)


async def _frozen(stage: Stage, going: Traffic) -> float:
    """For longer than its lease, and then it goes on as if nothing had been."""
    node = await stage.leader()
    stopped = node.database_processes()
    signal_all(signal.SIGSTOP, *stopped)
    try:
        since = time.time()
        seconds = await going.succeeds(_RECOVERED_SECONDS)
        await asyncio.sleep(max(0.0, since + _GONE_SECONDS - time.time()))
    finally:
        signal_all(signal.SIGCONT, *stopped)
    return seconds


async def _cut_off(stage: Stage, going: Traffic) -> float:
    node = await stage.leader()
    await node.network.cut()
    try:
        since = time.time()
        seconds = await going.succeeds(_RECOVERED_SECONDS)
        await asyncio.sleep(max(0.0, since + _GONE_SECONDS - time.time()))
    finally:
        await node.network.join()
    return seconds


async def _disk_full(stage: Stage, going: Traffic) -> float:
    """Patroni leaves the lead to a node that answers, even if it can write nothing: an operator makes room."""
    node = await stage.leader()
    with node.full():
        await asyncio.sleep(_FULL_SECONDS)
    stage.found.require(bool(going.failures), "a full disk was not felt")
    return await going.succeeds(_RECOVERED_SECONDS)


async def _etcd_leader_killed(stage: Stage, going: Traffic) -> float:
    node = await stage.nodes.etcd_leader()
    assert node.etcd is not None
    signal_all(signal.SIGKILL, node.etcd.pid)
    await asyncio.sleep(10)
    seconds = await going.succeeds(_RECOVERED_SECONDS)
    await stage.nodes.start_etcd(node)
    return seconds


async def _proxy_restarted(stage: Stage, going: Traffic) -> float:
    await stage.balancer.stop()
    await stage.balancer.start(stage.made.control_planes, stage.made.routers)
    return await going.succeeds(_RECOVERED_SECONDS)


_FAULTS: Mapping[str, Callable[[Stage, Traffic], Awaitable[float]]] = {
    "leader killed": _killed,
    "PostgreSQL of the leader killed": _crashed,
    "leader frozen": _frozen,
    "leader cut off": _cut_off,
    "disk of the leader full": _disk_full,
    "leader of etcd killed": _etcd_leader_killed,
    "proxy restarted": _proxy_restarted,
}
AREA = Area("ha", "High availability", prove, (_judged, _round), alone=True)
