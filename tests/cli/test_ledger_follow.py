"""`aop ledger follow`: every event, from a position on, through failures of the Gateway and its own death."""

import http.server
import json
import signal
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Aop, Stack
from tests.cli.programs import program, wait_written
from tests.cli.test_invoke import SUMMARIZE, TEXT
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.second_ring

_EVENTS_OF_CALL = ["created", "routing", "started", "succeeded"]


@pytest.fixture
def space(aop: Aop, workspace: str) -> str:
    """A Workspace whose feed is that of this test alone."""
    assert aop("install", "aop:summarizer", "-w", workspace, "--yes").code == 0
    return workspace


def call(aop: Aop, space: str) -> str:
    done = aop(*SUMMARIZE, TEXT, "-w", space, "--json")
    assert done.code == 0, done.err
    return str(done.json["invocationId"])


def numbered(aop: Aop, space: str, events: int) -> list[Any]:
    """Every event, once the feed has so many: they get their numbers a moment after they are recorded."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        done = aop("ledger", "follow", "--end", "-w", space)
        assert (done.code, done.err) == (0, "")
        if len(done.lines) >= events:
            return done.lines
        assert time.monotonic() < deadline, done.lines
        time.sleep(0.1)


def test_a_line_is_a_cloud_event_and_a_position_goes_on_behind_it(aop: Aop, space: str, tmp_path: Path) -> None:
    position = tmp_path / "events.position"
    first = call(aop, space)
    events = numbered(aop, space, 4)
    assert [event["data"]["type"] for event in events] == _EVENTS_OF_CALL
    assert {(event["specversion"], event["subject"]) for event in events} == {("1.0", first)}
    following = ("ledger", "follow", "--end", "-w", space, "--position", str(position))
    assert aop(*following).lines == events
    assert aop(*following).out == ""
    second = call(aop, space)
    numbered(aop, space, 8)
    assert {event["subject"] for event in aop(*following).lines} == {second}
    position.write_text("")
    assert "has no position" in aop(*following).err
    position.write_text("bm8gcG9zaXRpb24\n")
    refused = aop(*following)
    assert (refused.code, "/after" in refused.err) == (1, True)
    assert "cannot be saved" in aop(*following[:-1], str(tmp_path / "nowhere" / "position")).err


def whole_lines(log: Path) -> list[Any]:
    """Without a last line that a killed process did not finish, and without notes."""
    text = log.read_text() if log.exists() else ""
    return [json.loads(line) for line in text.split("\n")[:-1] if line.startswith("{")]


def test_a_killed_follower_misses_nothing_and_writes_in_order(
    aop: Aop, stack: Stack, space: str, tmp_path: Path
) -> None:
    position, seen = tmp_path / "position", list[str]()
    following = ("ledger", "follow", "-w", space, "--position", str(position))
    for turn in range(3):
        log = tmp_path / f"{turn}.jsonl"
        with program(*following, data=stack.platform.data, log=log) as process:
            last = call(aop, space)
            wait_written(log, last)
            process.send_signal(signal.SIGKILL)
            process.wait()
        seen += [event["id"] for event in whole_lines(log)]
    events = numbered(aop, space, 12)
    seen += [event["id"] for event in aop(*following, "--end").lines]
    assert list(dict.fromkeys(seen)) == [event["id"] for event in events]


@contextmanager
def failing_gateway(gateway: str) -> Iterator[tuple[str, Sequence[str]]]:
    """Every second request fails: without an answer, with 503, or with something that no Gateway says."""
    faults, met = ["none", "503", "text"], list[str]()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            turn = len(met)
            fault = faults[turn // 2 % 3] if turn % 2 == 0 else "answer"
            met.append(fault)
            if fault == "none":
                self.close_connection = True
            elif fault == "answer":
                headers = {"authorization": str(self.headers["authorization"])}
                request = urllib.request.Request(gateway + self.path, headers=headers)  # noqa: S310  (of this test)
                with urllib.request.urlopen(request) as answer:  # noqa: S310
                    self._answer(200, answer.read(), str(answer.headers["x-platform-trace-id"]))
            else:
                error = {"code": "DEPENDENCY_ERROR", "message": "A dependency failed.", "traceId": "a" * 32}
                self._answer(503, json.dumps(error).encode() if fault == "503" else b"no", "a" * 32)

        def _answer(self, status: int, body: bytes, trace: str) -> None:
            self.send_response(status)
            for name, value in (("content-type", "application/json"), ("x-platform-trace-id", trace)):
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002  (its name there)
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", met
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_gateway_that_fails_is_asked_again_until_it_answers(aop: Aop, alone: Aop, stack: Stack, space: str) -> None:
    for _ in range(3):
        call(aop, space)
    events = numbered(aop, space, 12)
    with failing_gateway(stack.run["gateway"]) as (address, met):
        settings = {"AOP_GATEWAY": address, "AOP_TOKEN": stack.token}
        done = alone("ledger", "follow", "--end", "-w", space, **settings)
    assert (done.code, done.lines) == (0, events)
    assert {"none", "503", "answer"} <= set(met)
    assert "waiting" in done.err


def test_an_error_that_does_not_pass_ends_the_command(aop: Aop) -> None:
    unknown = aop("ledger", "follow", "-w", "nowhere-at-all")
    assert (unknown.code, "NOT_FOUND" in unknown.err) == (1, True)
