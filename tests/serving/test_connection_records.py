"""What a unit does to connections by itself: counted each time, logged at a bounded rate, refused in an envelope."""

import io
import json
import logging

import pytest
from prometheus_client.exposition import generate_latest

from aop.contracts.documents import document
from aop.net.server import ConnectionEvent
from aop.serving.edge.metrics import UnitMetrics
from aop.serving.edge.request_log import RuntimeRecords, UnitLog
from aop.serving.unit.unit import ConnectionRecords, require_descriptors
from aop.serving.unit.unit_settings import CannotStart, Descriptors


@pytest.mark.rows("SAFE-07")
def test_each_is_counted_and_one_record_in_ten_seconds_is_written() -> None:
    out, metrics = io.BytesIO(), UnitMetrics("bench")
    records = ConnectionRecords(UnitLog("bench", out=out), metrics)
    for _ in range(1000):
        records.note(ConnectionEvent.REFUSED)
    records.note(ConnectionEvent.ACCEPT_FAILED)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(line["event"], line["level"]) for line in lines] == [
        ("connections.refused", "warning"),
        ("connections.accept_failed", "warning"),
    ]
    text = generate_latest(metrics.registry).decode()
    assert 'aop_connection_events_total{outcome="refused",unit="bench"} 1000.0' in text
    assert 'aop_connection_events_total{outcome="accept_failed",unit="bench"} 1.0' in text
    assert 'aop_connection_events_total{outcome="idle_closed",unit="bench"} 0.0' in text


@pytest.mark.rows("SAFE-07")
def test_a_refused_connection_gets_overloaded_with_its_own_trace() -> None:
    records = ConnectionRecords(UnitLog("bench", out=io.BytesIO()), UnitMetrics("bench"))
    head, _, body = records.refusal().partition(b"\r\n\r\n")
    error, lines = json.loads(body), head.decode().split("\r\n")
    assert lines[0] == "HTTP/1.1 503 Service Unavailable"
    assert {"retry-after: 1", "connection: close", f"x-platform-trace-id: {error['traceId']}"} <= set(lines)
    assert f"content-length: {len(body)}" in lines
    assert error["code"] == "OVERLOADED"
    assert document("platform-error/2").violations(error) == ()
    assert json.loads(records.refusal().partition(b"\r\n\r\n")[2])["traceId"] != error["traceId"]


@pytest.mark.rows("SAFE-07")
def test_the_limit_of_connections_comes_from_the_limit_of_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    hard = 1000
    monkeypatch.setattr("resource.getrlimit", lambda _: (hard, hard))
    use = Descriptors(calls=300, pool_size=20, settings="SLOTS")
    assert require_descriptors(use, None) == 1000 - 300 - 20 - 128
    assert require_descriptors(use, 552) == 552
    with pytest.raises(CannotStart, match="PLATFORM_MAX_CONNECTIONS: needs 1001 open files, the process may have 1000"):
        require_descriptors(use, 553)
    with pytest.raises(CannotStart, match="SLOTS: needs 1148 open files"):
        require_descriptors(Descriptors(calls=500, pool_size=20, settings="SLOTS"), None)
    hard = 1_000_000
    assert require_descriptors(use, None) == 10_000


def test_a_runtime_record_of_a_fault_holds_its_class_and_places_and_nothing_of_its_text() -> None:
    out = io.BytesIO()
    logger = logging.Logger("aop.server")
    logger.addHandler(RuntimeRecords(UnitLog("bench", out=out)))
    try:
        raise LookupError("canary-payload")
    except LookupError:
        logger.exception("the application raised")
    (line,) = out.getvalue().splitlines()
    assert b"LookupError at test_a_runtime_record_of_a_fault" in line
    assert b"canary" not in line
