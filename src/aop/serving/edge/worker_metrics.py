"""The metrics of all workers of a unit as one: what they count is added up, also for workers that are gone."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

Across = Callable[[Iterable[float]], float]
"""What becomes of the values of a gauge in several workers."""
_KEPT = frozenset({"counter", "histogram"})

_Sample = tuple[str, dict[str, str], float]
_Key = tuple[str, tuple[tuple[str, str], ...]]


class _Family(msgspec.Struct, array_like=True):
    name: str
    text: str
    kind: str
    samples: list[_Sample]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[_Family]).decode


def packed(registry: CollectorRegistry) -> bytes:
    """What a worker has counted so far."""
    return _encode(
        [
            _Family(
                family.name,
                family.documentation,
                family.type,
                [(sample.name, dict(sample.labels), float(sample.value)) for sample in family.samples],
            )
            for family in registry.collect()
        ]
    )


def with_ended(ended: bytes | None, last: bytes) -> bytes:
    """What workers that are gone had counted, with one more of them: else a sum of counters would go back."""
    kept = [family for family in _decode(last) if family.kind in _KEPT]
    before = [] if ended is None else _decode(ended)
    return _encode(list(_merged([before, kept], {})))


def text_of_all(parts: Iterable[bytes], across: Mapping[str, Across]) -> bytes:
    """As Prometheus reads it. A gauge that `across` does not name is added up."""
    return generate_latest(_Families(_merged(map(_decode, parts), across)))


def _merged(parts: Iterable[Sequence[_Family]], across: Mapping[str, Across]) -> Iterator[_Family]:
    families: dict[str, _Family] = {}
    values: dict[str, dict[_Key, list[float]]] = {}
    for part in parts:
        for family in part:
            families.setdefault(family.name, family)
            found = values.setdefault(family.name, {})
            for name, labels, value in family.samples:
                found.setdefault((name, tuple(labels.items())), []).append(value)
    for name, family in families.items():
        merge = across.get(name, sum)
        samples = [(sample, dict(labels), float(merge(each))) for (sample, labels), each in values[name].items()]
        yield _Family(name, family.text, family.kind, samples)


class _Families(Collector):
    def __init__(self, families: Iterable[_Family]) -> None:
        self._families = list(families)

    def collect(self) -> Iterator[Metric]:
        for family in self._families:
            metric = Metric(family.name, family.text, family.kind)
            for name, labels, value in family.samples:
                metric.add_sample(name, labels, value)
            yield metric
