"""Every reason is told with its sentence and next step, as text and as JSON, for answers and for what was recorded."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import msgspec
import pytest

from aop.cli.shell.invocation_lines import explained
from aop.contracts.errors import ErrorCode, Reason, code_entries, reason_pairs
from aop.contracts.lineage import InvocationRecord
from aop.contracts.recovery import recovery_of
from tests.cli.conftest import Aop
from tests.support.contracts import CONTRACTS

TRACE = "5" * 32
FAILED = json.loads((CONTRACTS / "invocation-record/2/examples/valid/failed.json").read_bytes())


class Refusing:
    """A Gateway that answers everything with one error."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.status, self.body = 0, b""

    def refuse_with(self, code: ErrorCode, reason: Reason) -> None:
        entry = code_entries()[code]
        error = {"code": code, "message": entry.message, "reason": reason, "traceId": TRACE}
        self.status, self.body = entry.status, json.dumps(error).encode()


@contextmanager
def refusing_gateway() -> Iterator[Refusing]:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(gateway.status)
            for name, value in (
                ("content-type", "application/json"),
                ("content-length", str(len(gateway.body))),
                ("x-platform-trace-id", TRACE),
            ):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(gateway.body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    gateway = Refusing(f"http://127.0.0.1:{server.server_address[1]}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield gateway
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.rows("REAS-01")
def test_an_error_is_told_with_its_reason_its_sentence_and_its_next_step(alone: Aop) -> None:
    with refusing_gateway() as gateway:
        user = {"AOP_GATEWAY": gateway.origin, "AOP_TOKEN": "token"}
        for code, reason in sorted(reason_pairs()):
            gateway.refuse_with(code, reason)
            recovery = recovery_of(code, reason)
            told = alone("workspace", "list", "--json", **user).error
            assert (told["code"], told["reason"], told["sentence"]) == (code, reason, recovery.sentence)
            assert told["recovery"].startswith(recovery.action)
            shown = alone("workspace", "list", **user).err
            assert f"  reason      {reason}: {recovery.sentence}\n  what to do  {recovery.action}" in shown


@pytest.mark.rows("REAS-01")
def test_a_recorded_failure_is_explained_once_for_each_reason() -> None:
    """Under a Trace and under the facts of one Invocation."""
    records = [
        msgspec.convert({**FAILED, "errorCode": code, "reason": reason}, InvocationRecord)
        for code, reason in sorted(reason_pairs())
    ]
    lines = [str(line) for line in explained([*records, *records])]
    assert len(lines) == 4 * len(records)
    for code, reason in reason_pairs():
        recovery = recovery_of(code, reason)
        place = lines.index(f"  reason      {reason}: {recovery.sentence}")
        assert lines[place - 1 : place + 2 : 2] == [code, f"  what to do  {recovery.action}"]
