"""Prometheus metrics of a unit; labels are only unit, route, method, status, code, reason, outcome and check."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from prometheus_client import CollectorRegistry, Gauge, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from aop.serving.edge.worker_metrics import Across

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4.encode()


Increment = Callable[[], None]


class Counts(Collector):
    """Events by label values; what `of` gives is to be kept, as finding it costs more than counting in it."""

    def __init__(self, registry: CollectorRegistry, name: str, text: str, labels: Sequence[str]) -> None:
        self._name = name
        self._text = text
        self._labels = labels
        self._series: dict[tuple[str, ...], list[int]] = {}
        registry.register(self)

    def of(self, *labels: str) -> Increment:
        count = self._series.setdefault(labels, [0])

        def increment() -> None:
            count[0] += 1

        return increment

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily(self._name, self._text, labels=self._labels)
        for labels, (count,) in self._series.items():
            family.add_metric(labels, count)
        yield family


Observe = Callable[[float], None]


class Durations(Collector):
    """Seconds by label values; what `of` gives is to be kept, as finding it costs more than counting in it."""

    def __init__(
        self, registry: CollectorRegistry, name: str, text: str, labels: Sequence[str], bounds: Sequence[float]
    ) -> None:
        self._name = name
        self._text = text
        self._labels = labels
        self._bounds = tuple(bounds)
        self._series: dict[tuple[str, ...], tuple[list[int], list[float]]] = {}
        registry.register(self)

    def of(self, *labels: str) -> Observe:
        bounds = self._bounds
        counts, total = self._series.setdefault(labels, ([0] * (len(bounds) + 1), [0.0]))

        def observe(seconds: float) -> None:
            counts[bisect_left(bounds, seconds)] += 1
            total[0] += seconds

        return observe

    def collect(self) -> Iterator[Metric]:
        family = HistogramMetricFamily(self._name, self._text, labels=self._labels)
        marks = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        for labels, (counts, total) in self._series.items():
            family.add_metric(labels, list(zip(marks, accumulate(counts), strict=True)), total[0])
        yield family


class UnitMetrics:
    def __init__(self, unit: str) -> None:
        # A registry of our own: the default one adds process and interpreter collectors.
        self.registry = CollectorRegistry(auto_describe=False)
        disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no types
        self.unit = unit
        self.across: dict[str, Across] = {"aop_ready": min}
        """By the name of a gauge: what it says for several workers, where that is not the sum."""
        self._requests = Counts(
            self.registry,
            "aop_http_requests",
            "Requests answered.",
            ("unit", "route", "method", "status", "code", "reason"),
        )
        self._seconds = Durations(
            self.registry,
            "aop_http_request_seconds",
            "Time from the request's arrival to the end of its answer.",
            ("unit", "route", "method"),
            BUCKETS,
        )
        self._refused = Counts(
            self.registry,
            "aop_admission_refusals",
            "Requests refused because the unit had no free slot or was draining.",
            ("unit", "route"),
        )
        self._ready = Gauge(
            "aop_ready", "1 while this readiness check passes.", ("unit", "check"), registry=self.registry
        )
        self._loop_faults = Counts(
            self.registry,
            "aop_loop_faults",
            "Unforeseen faults of background loops; the label check names the loop.",
            ("unit", "check"),
        )

        # Finding a metric by its labels costs more than counting in it.
        self._series_of: dict[
            tuple[str, str, int, tuple[str, str]], tuple[Callable[[], None], Callable[[float], None]]
        ] = {}

    def answered(self, route: str, method: str, status: int, error: tuple[str, str], seconds: float) -> None:
        """`error` is its code and reason, empty where there is none."""
        series = self._series_of.get((route, method, status, error))
        if series is None:
            series = self._series_of[route, method, status, error] = (
                self._requests.of(self.unit, route, method, str(status), *error),
                self._seconds.of(self.unit, route, method),
            )
        count, observe = series
        count()
        observe(seconds)

    def refused(self, route: str) -> None:
        self._refused.of(self.unit, route)()

    def connection_events(self, outcomes: Iterable[str]) -> Mapping[str, Increment]:
        """What the unit did to connections by itself, by what it was."""
        counts = Counts(
            self.registry,
            "aop_connection_events",
            "Connections closed while idle at the limit, refused there, cut as slow readers, or not accepted.",
            ("unit", "outcome"),
        )
        return {outcome: counts.of(self.unit, outcome) for outcome in outcomes}

    def in_flight(self, invocations: Callable[[], int]) -> None:
        """The number of Invocations the unit works on, read at each scrape."""
        self.gauge("aop_invocations_in_flight", "Invocations that run here.", invocations)

    def gauge(self, name: str, text: str, value: Callable[[], float], across: Across = sum) -> None:
        """Read at each scrape; `across` is what it says for several workers."""
        self.across[name] = across
        Gauge(name, text, ("unit",), registry=self.registry).labels(self.unit).set_function(value)

    def ready(self, check: str, passed: bool) -> None:
        self._ready.labels(self.unit, check).set(1 if passed else 0)

    def loop_faults(self, loop: str) -> Increment:
        return self._loop_faults.of(self.unit, loop)
