"""`GET /internal/v1/status`: what this Router says of itself, all its workers together, in an answer of one size."""

import asyncio
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from aop.cards.workers import SchemaWorkers
from aop.contracts.errors import Overloaded
from aop.contracts.ledger_tree import LedgerHead
from aop.contracts.router_status import (
    RouterReadiness,
    RouterStatus,
    SchemaLoad,
    SequenceLag,
    UnwrittenFacts,
    WatchFreshness,
)
from aop.ledger.sequence.sequencer import Sequencer
from aop.ledger.tree.reader import TreeReader
from aop.ledger.write.open_invocations import Unsettled
from aop.router.api.ledger_reads import read_route
from aop.router.targets.topology import STATES, Topology
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route
from aop.serving.unit.health import Readiness
from aop.serving.workers.worker_group import WorkerGroup
from aop.store.problems import StoreUnavailable

# Less than the Control Plane waits: what a Router whose store hangs knows of itself must still arrive.
_READY_SECONDS = 1.0
_HEAD_SECONDS = 0.3
_ALL_SECONDS = 1.5
_QUESTION = "status"
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(RouterStatus).decode


@dataclass(frozen=True)
class OwnStatus:
    """That of this process. Each part says how it is. Nothing is waited for except readiness, and that not for long."""

    router_id: str
    readiness: Readiness
    topology: Topology
    workers: SchemaWorkers
    unsettled: Callable[[], Unsettled]
    sequencer: Sequencer
    tree: TreeReader
    instance_id: str = field(default_factory=lambda: os.urandom(8).hex())

    async def read(self) -> RouterStatus:
        return RouterStatus(
            router_id=self.router_id,
            instance_id=self.instance_id,
            status=RouterReadiness.OK if await self._is_ready() else RouterReadiness.NOT_READY,
            topology=self._watch(),
            schema_work=SchemaLoad(
                processes=self.workers.processes, running=self.workers.running, waiting=self.workers.waiting
            ),
            facts=self._facts(),
            sequence=_lag(self.sequencer),
            ledger_head=await self._head(),
        )

    async def _is_ready(self) -> bool:
        try:
            async with asyncio.timeout(_READY_SECONDS):
                return await self.readiness.ready()
        except TimeoutError:
            return False

    async def _head(self) -> LedgerHead | msgspec.UnsetType:
        try:
            async with asyncio.timeout(_HEAD_SECONDS):
                return await self.tree.head() or msgspec.UNSET
        except (TimeoutError, StoreUnavailable):
            return msgspec.UNSET

    def _watch(self) -> WatchFreshness:
        source, silent = self.topology.source(), self.topology.silent_seconds
        return WatchFreshness(
            state=source.state,
            since=source.since,
            age_ms=_milliseconds(silent) if math.isfinite(silent) else msgspec.UNSET,
        )

    def _facts(self) -> UnwrittenFacts:
        waiting = self.unsettled()
        return UnwrittenFacts(
            unconfirmed=waiting.unconfirmed,
            deferred=waiting.deferred,
            denied=waiting.left,
            oldest_ms=_milliseconds(waiting.seconds) if waiting.count else msgspec.UNSET,
        )


def status_routes(own: OwnStatus, principals: ServicePrincipals, group: WorkerGroup) -> Sequence[Route]:
    async def answer(_: bytes) -> bytes:
        return _encode(await own.read())

    async def read(request: Request) -> Response:
        if group.is_alone:
            return json_response(200, await own.read())
        answers = await group.ask_all(_QUESTION, seconds=_ALL_SECONDS)
        return json_response(200, status_of_all([None if one is None else _decode(one) for one in answers]))

    group.answers(_QUESTION, answer)
    return [read_route(principals, "/internal/v1/status", read)]


def status_of_all(found: Sequence[RouterStatus | None]) -> RouterStatus:
    """Loads and facts are added up; readiness and the watch are those of the worker that is behind all others.

    It is named as its first worker is, without the number: a reader must not take two workers for a restart.
    """
    workers = [worker for worker in found if worker is not None]
    if not workers:
        raise Overloaded("no worker answers")
    heads = [worker.ledger_head for worker in workers]
    facts, oldest = [worker.facts for worker in workers], [worker.facts.oldest_ms for worker in workers]
    ready = len(workers) == len(found) and all(worker.status is RouterReadiness.OK for worker in workers)
    return RouterStatus(
        router_id=workers[0].router_id.rpartition(".")[0],
        instance_id=workers[0].instance_id,
        status=RouterReadiness.OK if ready else RouterReadiness.NOT_READY,
        topology=min((worker.topology for worker in workers), key=_progress),
        schema_work=SchemaLoad(
            processes=sum(worker.schema_work.processes for worker in workers),
            running=sum(worker.schema_work.running for worker in workers),
            waiting=sum(worker.schema_work.waiting for worker in workers),
        ),
        facts=UnwrittenFacts(
            unconfirmed=sum(one.unconfirmed for one in facts),
            deferred=sum(one.deferred for one in facts),
            denied=sum(one.denied for one in facts),
            oldest_ms=max((age for age in oldest if age is not msgspec.UNSET), default=msgspec.UNSET),
        ),
        sequence=next((worker.sequence for worker in workers if worker.sequence is not msgspec.UNSET), msgspec.UNSET),
        ledger_head=max(
            (head for head in heads if head is not msgspec.UNSET), key=lambda head: head.size, default=msgspec.UNSET
        ),
    )


def _progress(watch: WatchFreshness) -> tuple[int, float]:
    """The more, the fresher."""
    return STATES.index(watch.state), -watch.age_ms if watch.age_ms is not msgspec.UNSET else -math.inf


def _lag(sequencer: Sequencer) -> SequenceLag | msgspec.UnsetType:
    return SequenceLag(lag_ms=_milliseconds(sequencer.lag_seconds)) if sequencer.is_holder else msgspec.UNSET


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
