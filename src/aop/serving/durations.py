"""Histograms for the hot path: counted on one loop, so without a lock, and by bisection instead of a walk."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

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
