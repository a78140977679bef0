"""Prometheus metrics of a unit; labels are only unit, route, method, status, code, outcome and check."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4.encode()


class UnitMetrics:
    def __init__(self, unit: str) -> None:
        # A registry of our own: the default one adds process and interpreter collectors.
        self.registry = CollectorRegistry(auto_describe=False)
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.unit = unit
        self._requests = Counter(
            "aop_http_requests_total",
            "Requests answered.",
            ("unit", "route", "method", "status", "code"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "aop_http_request_seconds",
            "Time from the request's arrival to the end of its answer.",
            ("unit", "route", "method"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._ready = Gauge(
            "aop_ready", "1 while this readiness check passes.", ("unit", "check"), registry=self.registry
        )

        # Finding a metric by its labels costs more than counting in it.
        self._known: dict[tuple[str, str, int, str], tuple[Callable[[], None], Callable[[float], None]]] = {}

    def answered(self, route: str, method: str, status: int, code: str, seconds: float) -> None:
        known = self._known.get((route, method, status, code))
        if known is None:
            known = self._known[route, method, status, code] = (
                self._requests.labels(self.unit, route, method, str(status), code).inc,
                self._seconds.labels(self.unit, route, method).observe,
            )
        count, observe = known
        count()
        observe(seconds)

    def ready(self, check: str, passed: bool) -> None:
        self._ready.labels(self.unit, check).set(1 if passed else 0)

    def text(self) -> bytes:
        return generate_latest(self.registry)
