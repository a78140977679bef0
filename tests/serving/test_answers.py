"""Answers of the edge: load shedding, faults, streams, and what is logged of them."""

import asyncio
import json

import pytest

from aop.contracts.errors import DependencyFailed
from aop.store.problems import StoreUnavailable
from tests.serving.conftest import Workbench
from tests.support.errors import require_error
from tests.support.units import RunningUnit
from tests.support.waiting import patience, promptly


async def opened(unit: RunningUnit, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", unit.port)
    writer.write(f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
    return reader, writer


def records(bench: Workbench) -> list[dict[str, object]]:
    return [json.loads(line) for line in bench.log.getvalue().splitlines()]


@pytest.mark.rows("INV-30")
async def test_a_full_unit_refuses_at_once_and_leaves_running_calls_unharmed(
    unit: RunningUnit, bench: Workbench
) -> None:
    held = [asyncio.create_task(unit.get("/hold")) for _ in range(2)]
    await bench.started.wait()
    while bench.slots._taken < 2:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    refused = await unit.get("/hold")
    require_error(refused, 503, "OVERLOADED", "3")
    assert refused.header("retry-after") == "1"
    assert (await unit.get("/livez")).status == 200
    bench.release.set()
    assert [(await call).status for call in held] == [200, 200]
    assert (await unit.get("/hold")).status == 200


async def test_an_unforeseen_fault_is_an_internal_error_that_shows_nothing(unit: RunningUnit, bench: Workbench) -> None:
    reply = await unit.get("/fault")
    require_error(reply, 500, "INTERNAL_ERROR", "3")
    record = records(bench)[-1]
    assert record["level"] == "error"
    assert "KeyError" in str(record["cause"])
    assert b"canary" not in reply.body + bench.log.getvalue()


async def test_a_failing_store_is_a_dependency_error(unit: RunningUnit) -> None:
    require_error(await unit.get("/store"), 503, "DEPENDENCY_ERROR", "3")


async def test_one_record_per_request_holds_allowed_members_only(unit: RunningUnit, bench: Workbench) -> None:
    reply = await unit.get("/refused", headers=[(b"x-secret", b"canary-header")])
    await unit.get("/nowhere/canary-path?canary=query")
    first, second = records(bench)
    assert first == {
        "time": first["time"],
        "level": "info",
        "unit": "bench",
        "event": "request",
        "method": "GET",
        "route": "/refused",
        "status": 403,
        "traceId": reply.header("x-platform-trace-id"),
        "milliseconds": first["milliseconds"],
        "code": "FORBIDDEN",
        "caller": "alice",
        "cause": "thing belongs to somebody else",
    }
    assert (second["route"], second["status"], second["code"]) == (None, 404, "NOT_FOUND")
    assert b"canary" not in bench.log.getvalue()


async def test_path_and_query_are_read_by_their_rules(unit: RunningUnit) -> None:
    reply = await unit.get("/things/a%3Ab/versions/1.0.0-rc.1%2Bb?latest=true&name=a%20b+c%C3%A4")
    assert reply.json == {
        "path": {"thingId": "a:b", "version": "1.0.0-rc.1+b"},
        "query": {"latest": True, "name": "a b cä"},
    }


@pytest.mark.rows("CAT-24")
@pytest.mark.parametrize(
    ("target", "pointer", "rule"),
    [
        ("/things/a%20b/versions/1.0.0", "/thingId", "path_value"),
        ("/things/a%2Fb/versions/1.0.0", "/thingId", "path_value"),
        ("/things/%FF/versions/1.0.0", "/thingId", "path_value"),
        ("/things/a/versions/1.0", "/version", "path_value"),
        ("/things/a/versions/1.0.0?latest=1", "/latest", "query_value"),
        ("/things/a/versions/1.0.0?latest=", "/latest", "query_value"),
        ("/things/a/versions/1.0.0?latest=true&latest=true", "/latest", "query_repeated"),
        ("/things/a/versions/1.0.0?other=1", "", "query_unknown"),
        ("/things/a/versions/1.0.0?name=%zz", "", "query_value"),
        ("/things/a/versions/1.0.0?name=%FF", "", "query_value"),
        ("/things/a/versions/1.0.0?&", "", "query_unknown"),
    ],
)
async def test_what_breaks_them_is_refused(unit: RunningUnit, target: str, pointer: str, rule: str) -> None:
    reply = await unit.get(target)
    require_error(reply, 400, "VALIDATION_ERROR", "3")
    assert {"pointer": pointer, "rule": rule} in reply.json["violations"]


async def test_a_stream_is_sent_piece_by_piece_and_ends_with_its_source(unit: RunningUnit, bench: Workbench) -> None:
    reader, writer = await opened(unit, "/stream")
    head = await reader.readuntil(b"\r\n\r\n")
    assert b"content-type: text/event-stream\r\n" in head
    assert b"cache-control: no-store\r\n" in head
    assert b"x-accel-buffering: no\r\n" in head
    assert await reader.readuntil(b"data: 0\n\n")
    bench.release.set()
    assert b"data: 1\n\n" in await reader.readuntil(b"0\r\n\r\n")
    await bench.closed.wait()
    writer.close()


async def broken_stream(unit: RunningUnit) -> bytes:
    """Whole or not, everything that the caller gets."""
    reader, writer = await opened(unit, "/broken")
    async with patience():
        received = await reader.read()
    writer.close()
    return received


@pytest.mark.parametrize(
    ("fault", "code", "reason"),
    [
        (StoreUnavailable("ConnectionRefusedError"), "DEPENDENCY_ERROR", "store_unavailable"),
        (DependencyFailed("the Router is away"), "DEPENDENCY_ERROR", None),
    ],
)
async def test_a_dependency_that_goes_away_under_a_stream_is_logged_as_for_any_answer(
    unit: RunningUnit,
    bench: Workbench,
    caplog: pytest.LogCaptureFixture,
    fault: Exception,
    code: str,
    reason: str | None,
) -> None:
    bench.breaks = fault
    received = await broken_stream(unit)
    assert b"data: 0\n\n" in received
    assert not received.endswith(b"0\r\n\r\n"), "nobody may take it for whole"
    (record,) = records(bench)
    assert (record["level"], record["status"], record.get("code"), record.get("reason")) == ("info", 200, code, reason)
    assert record["cause"] == str(fault)
    assert caplog.records == []


async def test_an_unforeseen_fault_under_a_stream_is_logged_as_an_error(unit: RunningUnit, bench: Workbench) -> None:
    bench.breaks = KeyError("canary-payload")
    received = await broken_stream(unit)
    assert not received.endswith(b"0\r\n\r\n")
    (record,) = records(bench)
    assert (record["level"], record["code"]) == ("error", "INTERNAL_ERROR")
    assert "canary" not in str(record)


async def test_silence_is_broken_by_comments(unit: RunningUnit, bench: Workbench) -> None:
    bench.silence = 0.05
    reader, writer = await opened(unit, "/stream")
    for _ in range(3):
        await reader.readuntil(b":\n\n")
    bench.release.set()
    assert b"data: 1\n\n" in await reader.readuntil(b"0\r\n\r\n")
    writer.close()


@pytest.mark.parametrize("leave", ["close", "abort", "half-close"])
async def test_a_caller_who_leaves_a_silent_stream_is_noticed_and_the_source_closed(
    unit: RunningUnit, bench: Workbench, leave: str
) -> None:
    reader, writer = await opened(unit, "/stream")
    await reader.readuntil(b"data: 0\n\n")
    await bench.started.wait()
    {"close": writer.close, "abort": writer.transport.abort, "half-close": writer.write_eof}[leave]()
    async with promptly(1):
        await bench.closed.wait()
        while bench.slots._taken:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    writer.close()
