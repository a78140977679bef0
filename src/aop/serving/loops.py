"""The background loops of a unit, with its log and its metrics as witnesses of their faults."""

from aop.base.loops import Loops, Report
from aop.serving.metrics import UnitMetrics
from aop.serving.request_log import Level, UnitLog, safe_cause


def unit_loops(log: UnitLog, metrics: UnitMetrics) -> Loops:
    def report_of(name: str) -> Report:
        count = metrics.loop_faults(name)

        def report(fault: BaseException) -> None:
            count()
            log.event("loop.fault", level=Level.ERROR, cause=f"{name}: {safe_cause(fault)}")

        return report

    return Loops(report_of)
