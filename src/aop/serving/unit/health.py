"""Health of a unit: alive, ready with one answer for all checks, and metrics that say which check fails."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from aop.base.fresh import Fresh
from aop.contracts.health import Health, HealthStatus
from aop.serving.edge.metrics import CONTENT_TYPE, UnitMetrics
from aop.serving.edge.request import Request
from aop.serving.edge.request_log import Level, UnitLog
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route, Spanned
from aop.serving.edge.worker_metrics import packed, text_of_all
from aop.serving.workers.worker_group import WorkerGroup

Check = Callable[[], Awaitable[None]]
"""Raises when its subject is not ready; the class and text of the exception go to the log only."""

READY = "ready"
METRICS = "metrics"
"""What is asked of all workers of a unit."""
CHECK_SECONDS = 2.0
_FRESH_SECONDS = 0.5


class Readiness:
    """Runs all checks together, at most once per half second however many ask."""

    def __init__(self, checks: Mapping[str, Check], log: UnitLog, metrics: UnitMetrics) -> None:
        self._checks = checks
        self._log = log
        self._metrics = metrics
        self._draining = False
        self._judged = Fresh(self._judge_all, _FRESH_SECONDS)
        self._passed: dict[str, bool | None] = dict.fromkeys(checks)

    def drain(self) -> None:
        self._draining = True

    async def ready(self) -> bool:
        return await self._judged.get() and not self._draining

    async def _judge_all(self) -> bool:
        await asyncio.gather(*(self._judge(name, check) for name, check in self._checks.items()))
        return all(self._passed.values())

    async def _judge(self, name: str, check: Check) -> None:
        cause = None
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                await check()
        except Exception as failure:  # noqa: BLE001  whatever a check raises means: not ready
            cause = f"{name}: {type(failure).__name__} {failure}".strip()
        if cause is None and self._passed[name] is False:
            self._log.event("check.passed", cause=name)
        elif cause is not None and self._passed[name] is None:
            self._log.event("check.waiting", cause=cause)
        elif cause is not None and self._passed[name]:
            self._log.event("check.failed", level=Level.WARNING, cause=cause)
        self._passed[name] = cause is None
        self._metrics.ready(name, cause is None)


def health_routes(readiness: Readiness, metrics: UnitMetrics, group: WorkerGroup) -> Sequence[Route]:
    """Each worker answers for all: ready when all are, and with the metrics of all."""

    async def own_readiness(_: bytes) -> bytes:
        return b"1" if await readiness.ready() else b""

    async def own_metrics(_: bytes) -> bytes:
        await readiness.ready()
        return packed(metrics.registry)

    group.answers(READY, own_readiness)
    group.answers(METRICS, own_metrics)

    async def livez(request: Request) -> Response:
        return json_response(200, Health(status=HealthStatus.OK))

    async def readyz(request: Request) -> Response:
        if all(await group.ask_all(READY)):
            return json_response(200, Health(status=HealthStatus.OK))
        return json_response(503, Health(status=HealthStatus.UNAVAILABLE))

    async def scrape(request: Request) -> Response:
        parts = await group.ask_all(METRICS)
        text = text_of_all([part for part in parts if part is not None], metrics.across)
        return Response(200, text, ((b"content-type", CONTENT_TYPE),))

    paths = (("/livez", livez), ("/readyz", readyz), ("/metrics", scrape))
    return [Route("GET", path, call, query=None, spanned=Spanned.NOT) for path, call in paths]
