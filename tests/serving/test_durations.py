"""Histograms of our own making: what a scraper reads is what was observed."""

from prometheus_client import CollectorRegistry, Histogram, generate_latest

from aop.serving.edge.metrics import Durations

BOUNDS = (0.001, 0.5, 1, 10)
SEEN = (0.0, 0.0005, 0.001, 0.0011, 0.5, 0.7, 1, 9.99, 10, 11, 3600)


def test_a_scraper_sees_what_the_usual_histogram_would_show() -> None:
    ours, usual = CollectorRegistry(), CollectorRegistry()
    durations = Durations(ours, "aop_test_seconds", "A test.", ("unit", "outcome"), BOUNDS)
    histogram = Histogram("aop_test_seconds", "A test.", ("unit", "outcome"), buckets=BOUNDS, registry=usual)
    for outcome in ("succeeded", "failed"):
        for seconds in SEEN:
            durations.of("router", outcome)(seconds)
            histogram.labels("router", outcome).observe(seconds)
    expected = [line for line in generate_latest(usual).splitlines() if b"_created" not in line]
    assert generate_latest(ours).splitlines() == expected


def test_what_was_never_observed_is_declared_and_has_no_series() -> None:
    registry = CollectorRegistry()
    Durations(registry, "aop_test_seconds", "A test.", ("unit",), BOUNDS)
    assert b"# TYPE aop_test_seconds histogram" in generate_latest(registry)
    assert b"aop_test_seconds_count" not in generate_latest(registry)
