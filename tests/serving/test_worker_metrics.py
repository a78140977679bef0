"""Metrics of several workers as one page: sums, the least or the greatest of a gauge, and nothing that goes back."""

from prometheus_client.exposition import generate_latest

from aop.serving.edge.metrics import UnitMetrics
from aop.serving.edge.worker_metrics import packed, text_of_all, with_ended


def worker(requests: int, ready: bool) -> bytes:
    metrics = UnitMetrics("router")
    for _ in range(requests):
        metrics.answered("/v1/x", "GET", 200, ("", ""), 0.2)
    metrics.ready("ledger", ready)
    metrics.gauge("aop_connections", "Connections that are open.", lambda: 3)
    return packed(metrics.registry)


def lines_of(*parts: bytes) -> list[str]:
    return text_of_all(parts, UnitMetrics("router").across).decode().splitlines()


def test_one_worker_alone_says_what_the_unit_says() -> None:
    metrics = UnitMetrics("router")
    metrics.answered("/v1/x", "GET", 200, ("", ""), 0.2)
    metrics.ready("ledger", True)
    assert text_of_all([packed(metrics.registry)], metrics.across) == generate_latest(metrics.registry)


def test_counts_durations_and_gauges_are_added_up_and_readiness_is_that_of_the_worst() -> None:
    lines = lines_of(worker(2, ready=True), worker(3, ready=False))
    label = 'route="/v1/x"'
    assert f'aop_http_requests_total{{code="",method="GET",reason="",{label},status="200",unit="router"}} 5.0' in lines
    assert f'aop_http_request_seconds_bucket{{le="0.25",method="GET",{label},unit="router"}} 5.0' in lines
    assert f'aop_http_request_seconds_count{{method="GET",{label},unit="router"}} 5.0' in lines
    assert 'aop_ready{check="ledger",unit="router"} 0.0' in lines
    assert 'aop_connections{unit="router"} 6.0' in lines


def test_what_workers_that_are_gone_had_counted_stays_and_their_gauges_go() -> None:
    ended = with_ended(with_ended(None, worker(2, ready=False)), worker(4, ready=True))
    lines = lines_of(worker(1, ready=True), ended)
    assert 'aop_http_request_seconds_count{method="GET",route="/v1/x",unit="router"} 7.0' in lines
    assert 'aop_ready{check="ledger",unit="router"} 1.0' in lines
    assert 'aop_connections{unit="router"} 3.0' in lines
