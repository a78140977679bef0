"""Fixed logarithmic buckets of latencies. The store has their numbers, so that they never change."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from aop.contracts.figures import LATENCY_ERROR, Latency

_PERCENT: Final = round(LATENCY_ERROR * 100)
# Beyond what a clock will ever measure; what is longer belongs to the last bucket.
_MAX_MS: Final = 2**40


def _buckets() -> Iterator[tuple[int, int]]:
    """The lowest latency of each, and the value that no latency in it is further from than the error."""
    lowest = 0
    while lowest < _MAX_MS:
        value = lowest * (100 + _PERCENT) // 100
        yield lowest, value
        lowest = max(lowest, value * 100 // (100 - _PERCENT)) + 1


_BUCKETS: Final = tuple(_buckets())
LOWER_BOUNDS: Final = [lowest for lowest, _ in _BUCKETS]
"""What `width_bucket` of PostgreSQL takes: the first bucket is its 1."""


def bucket_of(latency_ms: int) -> int:
    """What `width_bucket` says of it."""
    return bisect_right(LOWER_BOUNDS, latency_ms)


def latency_of(calls: Sequence[int], max_ms: int) -> Latency:
    """Percentiles by nearest rank, of the calls of each bucket from number 0 on. There must be one."""
    seen = list(accumulate(calls))
    ranks = [-(-seen[-1] * percent // 100) for percent in (50, 90, 99)]
    p50, p90, p99 = (min(_BUCKETS[bisect_left(seen, rank) - 1][1], max_ms) for rank in ranks)
    return Latency(p50=p50, p90=p90, p99=p99, max=max_ms)
