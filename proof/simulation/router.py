"""One life of the real Router in a simulated world: everything above the sockets is the product's own."""

import asyncio
import io
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

from aop.base.clock import utc_now
from aop.cards.checks import SchemaChecks
from aop.cards.workers import SchemaWorkers
from aop.contracts.topology import FrameKind, TopologyEvent, WatchedState
from aop.ledger.model import Writer
from aop.ledger.read.reader import LedgerReader
from aop.ledger.write.checkpoints import Checkpoints
from aop.ledger.write.epochs import close_earlier, open_epoch
from aop.ledger.write.journal import Journal
from aop.net.peer import Peer
from aop.net.policy import Resolver
from aop.router.app import RouterEnvironment, _invocation_routes, _Parts
from aop.router.invocation.parents import ParentWatch
from aop.router.invocation.supervisor import InvocationSupervisor
from aop.router.metrics import RouterMetrics
from aop.router.settings import read_router_settings
from aop.router.targets.resolution import CardCache
from aop.router.targets.topology import Topology
from aop.serving.edge.admission import Slots
from aop.serving.edge.application import Application
from aop.serving.edge.metrics import UnitMetrics
from aop.serving.edge.request_log import UnitLog
from aop.serving.unit.background import unit_loops
from aop.serving.unit.foundation import Foundation
from aop.serving.unit.health import Readiness
from aop.serving.unit.unit import Unit, _drain
from aop.serving.unit.write_check import WriteCheck
from aop.store.database import Database
from proof.simulation.control_plane import AGENT_HOST, RELEASES, Published
from tests.ledger.simulated.connection import StorePool, connect
from tests.ledger.simulated.store import Store
from tests.support.settings import router_environment

CHECKPOINT_SECONDS = 0.25
_SETTINGS = read_router_settings(
    router_environment(PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON=f'["{AGENT_HOST}"]', PLATFORM_LOG_LEVEL="debug")
)
_METRICS = UnitMetrics("router")
_COUNTS = RouterMetrics(_METRICS)
# Every value here is small: no process is started in a world that is simulated.
_WORKERS = SchemaWorkers()
_CHECKS = SchemaChecks(_WORKERS, max_work_ms=1000, max_kept_bytes=1 << 20)


@dataclass
class SteppedClock:
    """The real time of day, but for what somebody set it back."""

    back: timedelta = timedelta()

    def __call__(self) -> datetime:
        return utc_now() - self.back


@dataclass(frozen=True)
class Doubles:
    """What stands in place of the outside."""

    agents: Any
    control_plane: Any
    store: Store
    journal: type[Journal] = Journal


async def epoch_of_new_life(store: Store) -> int:
    """As at the start of a process: a new epoch, and an end for everything an earlier one left open."""
    connection = await connect(store)
    epoch = await open_epoch(connection, _SETTINGS.router_id)
    await close_earlier(connection, _SETTINGS.router_id, epoch, utc_now)
    connection.terminate()
    return epoch


class SimulatedRouter:
    def __init__(self, doubles: Doubles, epoch: int, fenced: Callable[[], None]) -> None:
        self.clock, self.log = SteppedClock(), io.BytesIO()
        log = UnitLog("router", "debug", cast("Any", self.log))
        database, resolver = Database(StorePool(doubles.store)), Resolver()
        self.journal = doubles.journal(
            Writer(_SETTINGS.router_id, epoch),
            partial(connect, doubles.store),
            self.clock,
            write_seconds=doubles.store.plan.write_seconds,
            fenced=fenced,
        )
        self.supervisor, self.cards = InvocationSupervisor(), CardCache(1 << 20)
        self.topology = Topology(self.clock, self.cards.forget)
        self.roots, self.children = Slots(512), Slots(512)
        ledger = LedgerReader(database)
        peer = Peer("http://127.0.0.1:8080", doubles.control_plane, resolver)
        self._loops = unit_loops(log, _METRICS)
        writes = WriteCheck(database)
        foundation = Foundation(log, _METRICS, self._loops, resolver, database=database, writes=writes)
        parts = _Parts(
            *(_SETTINGS, RouterEnvironment(self.clock), foundation, self.journal, _COUNTS, self.supervisor),
            *(doubles.agents, peer, _WORKERS, _CHECKS),
        )
        routes = _invocation_routes(parts, self.topology, self.cards, ledger, (self.roots, self.children))
        self.application = Application(routes, log, _METRICS)
        self._parents = ParentWatch(ledger, self.supervisor)
        self._checkpoints = Checkpoints(database, self.journal, CHECKPOINT_SECONDS)
        self._unit = Unit(
            self.application,
            Readiness({}, log, _METRICS),
            ((self.roots,), (self.children,)),
            log,
            _METRICS,
            self.close,
            abandon=self.supervisor.stop_all,
        )
        self._revision = 1

    def start(self) -> None:
        self.journal.start(self._loops)
        self._loops.start("parents", self._parents.turn)
        self._loops.start("checkpoints", self._checkpoints.turn)
        watched = tuple(release.watched() for release in RELEASES.values())
        self._take(FrameKind.SNAPSHOT, releases=watched, complete=True)
        for release in RELEASES.values():
            self.cards.keep(release.release_id, release.card, release.card.kept_bytes)

    def suspend(self, release: Published) -> None:
        self._revision += 1
        self._take(FrameKind.CHANGE, release=release.watched(WatchedState.SUSPENDED))

    def _take(self, kind: FrameKind, **members: Any) -> None:
        self.topology.take(TopologyEvent(schema_version="1", kind=kind, revision=self._revision, **members))

    async def drain(self, grace: float) -> None:
        await _drain(self._unit, cast("int", grace))

    async def close(self) -> None:
        await self._loops.close()
        await self.journal.close()

    def is_idle(self) -> bool:
        return not (len(self.supervisor) or self.roots.taken or self.children.taken)

    async def settles(self, seconds: float) -> bool:
        """Whether nothing runs and everything is settled, soon."""
        for _ in range(int(seconds * 10)):
            if self.is_idle() and not self.journal.unsettled().count:
                return True
            await asyncio.sleep(0.1)
        return False
