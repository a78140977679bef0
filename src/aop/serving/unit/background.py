"""The background work of a unit: its loops, schema processes and telemetry, each reported to its log and metrics."""

import os
import signal
from contextlib import AsyncExitStack
from dataclasses import dataclass

from aop.base.distribution import install_line
from aop.base.loops import Loops, Report
from aop.base.share import WorkerShare
from aop.cards.workers import MAX_PROCESSES, SchemaWorkers
from aop.net.policy import Resolver
from aop.serving.edge.metrics import Counts, UnitMetrics
from aop.serving.edge.request_log import Level, UnitLog, safe_cause
from aop.serving.unit.unit_settings import CannotStart
from aop.telemetry.settings import ENDPOINT, TelemetrySettings
from aop.telemetry.tracing import Tracing

_EXTRA = "opentelemetry"


def unit_loops(log: UnitLog, metrics: UnitMetrics | None = None) -> Loops:
    """Without metrics for a process that has none, such as the parent of workers."""

    def report_of(name: str) -> Report:
        count = metrics.loop_faults(name) if metrics is not None else lambda: None

        def report(fault: BaseException) -> None:
            count()
            log.event("loop.fault", level=Level.ERROR, cause=f"{name}: {safe_cause(fault)}")

        return report

    return Loops(report_of)


def schema_workers(log: UnitLog, metrics: UnitMetrics, share: WorkerShare) -> SchemaWorkers:
    count = Counts(
        metrics.registry, "aop_schema_processes_lost", "Schema processes that ended in the middle of a job.", ("unit",)
    ).of(metrics.unit)

    def lost(status: int) -> None:
        count()
        spent = status == -signal.SIGPROF
        cause = "its processor time was spent" if spent else f"it ended with status {status}"
        log.event("schema_process.lost", level=Level.WARNING, cause=cause)

    workers = SchemaWorkers(share.of(MAX_PROCESSES), lost=lost)
    metrics.gauge("aop_schema_jobs_running", "Jobs that schema processes work on.", lambda: workers.running)
    metrics.gauge("aop_schema_jobs_waiting", "Jobs that wait for a schema process.", lambda: workers.waiting)
    return workers


@dataclass(frozen=True)
class UnitContext:
    """A unit that tells what it does; `instance` distinguishes it from others of its kind."""

    log: UnitLog
    metrics: UnitMetrics
    loops: Loops
    resolver: Resolver
    instance: str | None = None


def start_telemetry(settings: TelemetrySettings | None, unit: UnitContext, opened: AsyncExitStack) -> Tracing | None:
    """What traces requests from now on, until `opened` is closed; None when no collector is named."""
    if settings is None:
        return None
    try:
        from aop.telemetry.export import Pipeline, SpanCounts  # noqa: PLC0415  needs the extra
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in {_EXTRA, "google"}:
            raise
        raise CannotStart(f"{ENDPOINT}: sending telemetry needs the extra otel: {install_line('otel')}") from None

    def report(event: str, cause: str | None) -> None:
        level = Level.INFO if event == "telemetry.recovered" else Level.WARNING
        unit.log.event(event, level=level, cause=cause)

    resource = {
        "service.namespace": "aop",
        "service.name": settings.service_name or f"aop-{unit.log.unit}",
        "service.instance.id": unit.instance or os.urandom(8).hex(),
        **settings.resource,
    }
    counts = SpanCounts(unit.metrics.registry, unit.log.unit)
    pipeline = Pipeline(settings, unit.resolver, resource, unit.loops, report, counts)
    opened.push_async_callback(pipeline.close)
    return pipeline.tracing
