"""What the Router counts beside its requests: Invocations by outcome, how many run, how long the Ledger takes."""

from collections.abc import Callable

from prometheus_client import Counter, Gauge, Histogram

from aop.ledger.model import Terminal
from aop.serving.metrics import UnitMetrics

_WRITE_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)


class RouterMetrics:
    def __init__(self, unit: UnitMetrics, in_flight: Callable[[], int]) -> None:
        self._ended = Counter(
            "aop_invocations_total",
            "Accepted Invocations that ended.",
            ("unit", "outcome", "code"),
            registry=unit.registry,
        )
        running = Gauge("aop_invocations_in_flight", "Invocations that run here.", ("unit",), registry=unit.registry)
        running.labels(unit.unit).set_function(in_flight)
        writes = Histogram(
            "aop_ledger_write_seconds",
            "Time from a write's begin to its commit, one write for all that waited.",
            ("unit",),
            buckets=_WRITE_BUCKETS,
            registry=unit.registry,
        )
        self.ledger_wrote: Callable[[float], None] = writes.labels(unit.unit).observe
        self._unit = unit.unit
        self._known: dict[Terminal, Callable[[], None]] = {}

    def ended(self, terminal: Terminal) -> None:
        known = self._known.get(terminal)
        if known is None:
            known = self._known[terminal] = self._ended.labels(self._unit, terminal.type, terminal.error or "").inc
        known()
