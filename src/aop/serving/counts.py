"""Counters for the hot path: counted on one loop, so without a lock."""

from collections.abc import Callable, Iterator, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

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
