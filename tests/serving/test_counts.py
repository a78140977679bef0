"""Counters of our own making: what a scraper reads is what was counted."""

from prometheus_client import CollectorRegistry, Counter, generate_latest

from aop.serving.edge.metrics import Counts


def test_a_scraper_sees_what_the_usual_counter_would_show() -> None:
    ours, usual = CollectorRegistry(), CollectorRegistry()
    counts = Counts(ours, "aop_test", "A test.", ("unit", "code"))
    counter = Counter("aop_test", "A test.", ("unit", "code"), registry=usual)
    for code in ("", "TIMEOUT", "TIMEOUT"):
        counts.of("router", code)()
        counter.labels("router", code).inc()
    expected = [line for line in generate_latest(usual).splitlines() if b"_created" not in line]
    assert generate_latest(ours).splitlines() == expected
