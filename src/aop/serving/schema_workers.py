"""The schema processes of a unit, with a record and a count of each that did not come to the end of its job."""

import signal

from aop.cards.workers import SchemaWorkers
from aop.serving.counts import Counts
from aop.serving.metrics import UnitMetrics
from aop.serving.request_log import Level, UnitLog


def schema_workers(log: UnitLog, metrics: UnitMetrics) -> SchemaWorkers:
    count = Counts(
        metrics.registry, "aop_schema_processes_lost", "Schema processes that ended in the middle of a job.", ("unit",)
    ).of(metrics.unit)

    def lost(status: int) -> None:
        count()
        spent = status == -signal.SIGPROF
        cause = "its processor time was spent" if spent else f"it ended with status {status}"
        log.event("schema_process.lost", level=Level.WARNING, cause=cause)

    return SchemaWorkers(lost=lost)
