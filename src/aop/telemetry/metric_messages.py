"""The Prometheus metrics of a unit as OTLP messages: same names, same numbers, whichever way they are read."""

from collections.abc import Iterable, Iterator, Sequence

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1 import metrics_pb2 as otlp
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric
from prometheus_client.samples import Sample

from aop.telemetry.messages import Origin, attribute_messages

_CUMULATIVE = otlp.AGGREGATION_TEMPORALITY_CUMULATIVE
_UNITS = {"_seconds": "s", "_bytes": "By"}


def metrics_request(origin: Origin, registry: CollectorRegistry, began: int, now: int) -> bytes:
    """All series as they stand `now`, counted since `began`; nanoseconds since 1970."""
    metrics = [_metric(family, began, now) for family in registry.collect() if family.samples]
    scope = otlp.ScopeMetrics(scope=origin.scope, metrics=metrics)
    resource = otlp.ResourceMetrics(resource=origin.resource, scope_metrics=[scope])
    encoded: bytes = ExportMetricsServiceRequest(resource_metrics=[resource]).SerializeToString()
    return encoded


def _metric(family: Metric, began: int, now: int) -> otlp.Metric:
    unit = next((unit for ending, unit in _UNITS.items() if family.name.endswith(ending)), "")
    metric = otlp.Metric(name=family.name, description=family.documentation, unit=unit)
    if family.type == "histogram":
        metric.histogram.aggregation_temporality = _CUMULATIVE
        metric.histogram.data_points.extend(_histogram(series, began, now) for series in _series(family.samples))
    elif family.type == "counter":
        metric.sum.aggregation_temporality, metric.sum.is_monotonic = _CUMULATIVE, True
        metric.sum.data_points.extend(_number(sample, began, now) for sample in family.samples)
    else:
        metric.gauge.data_points.extend(_number(sample, 0, now) for sample in family.samples)
    return metric


def _number(sample: Sample, began: int, now: int) -> otlp.NumberDataPoint:
    return otlp.NumberDataPoint(
        attributes=attribute_messages(sample.labels),
        start_time_unix_nano=began,
        time_unix_nano=now,
        as_double=sample.value,
    )


def _series(samples: Iterable[Sample]) -> Iterator[Sequence[Sample]]:
    """The samples of one set of labels each: its buckets, its count and its sum."""
    series: dict[tuple[tuple[str, str], ...], list[Sample]] = {}
    for sample in samples:
        labels = tuple((name, value) for name, value in sample.labels.items() if name != "le")
        series.setdefault(labels, []).append(sample)
    yield from series.values()


def _histogram(series: Sequence[Sample], began: int, now: int) -> otlp.HistogramDataPoint:
    buckets = [(float(sample.labels["le"]), int(sample.value)) for sample in series if "le" in sample.labels]
    counts = [count for _, count in buckets]
    labels = {name: value for name, value in series[0].labels.items() if name != "le"}
    return otlp.HistogramDataPoint(
        attributes=attribute_messages(labels),
        start_time_unix_nano=began,
        time_unix_nano=now,
        # OTLP counts each bucket for itself, and its last one has no bound.
        explicit_bounds=[bound for bound, _ in buckets[:-1]],
        bucket_counts=[count - before for count, before in zip(counts, [0, *counts], strict=False)],
        count=counts[-1],
        sum=next(sample.value for sample in series if sample.name.endswith("_sum")),
    )
