"""`GET /internal/v1/status`: what this Router says of itself, in an answer of one size."""

import asyncio
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from aop.cards.workers import SchemaWorkers
from aop.contracts.errors import Envelope
from aop.contracts.router_status import (
    RouterReadiness,
    RouterStatus,
    SchemaLoad,
    SequenceLag,
    UnwrittenFacts,
    WatchFreshness,
)
from aop.ledger.open_invocations import Unsettled
from aop.ledger.sequence.sequencer import Sequencer
from aop.router.targets.topology import Topology
from aop.serving.bearer import ServicePrincipals
from aop.serving.health import Readiness
from aop.serving.request import Request
from aop.serving.response import Response, json_response
from aop.serving.routing import Route, Spanned

# Less than the Control Plane waits: what a Router whose store hangs knows of itself must still arrive.
_READY_SECONDS = 1.0


def _random_id() -> str:
    return os.urandom(8).hex()


@dataclass(frozen=True)
class StatusRoutes:
    """Each part says how it is. Nothing is waited for except readiness, and that not for long."""

    router_id: str
    readiness: Readiness
    topology: Topology
    workers: SchemaWorkers
    unsettled: Callable[[], Unsettled]
    sequencer: Sequencer
    instance_id: str = field(default_factory=_random_id)

    def routes(self, principals: ServicePrincipals) -> Sequence[Route]:
        path, authenticate = "/internal/v1/status", principals.authenticate
        return [Route("GET", path, self.read, Envelope.INVOCATION, authenticate, spanned=Spanned.NOT)]

    async def read(self, request: Request) -> Response:
        status = RouterStatus(
            router_id=self.router_id,
            instance_id=self.instance_id,
            status=RouterReadiness.OK if await self._is_ready() else RouterReadiness.NOT_READY,
            topology=self._watch(),
            schema_work=SchemaLoad(
                processes=self.workers.processes, running=self.workers.running, waiting=self.workers.waiting
            ),
            facts=self._facts(),
            sequence=_lag(self.sequencer),
        )
        return json_response(200, status)

    async def _is_ready(self) -> bool:
        try:
            async with asyncio.timeout(_READY_SECONDS):
                return await self.readiness.ready()
        except TimeoutError:
            return False

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


def _lag(sequencer: Sequencer) -> SequenceLag | msgspec.UnsetType:
    return SequenceLag(lag_ms=_milliseconds(sequencer.lag_seconds)) if sequencer.is_holder else msgspec.UNSET


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
