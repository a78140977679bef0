"""A Gateway in front of the real one that is overloaded for some requests, and passes all others on."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from aop.contracts.errors import ErrorCode, code_entries
from tests.support.waiting import PATIENCE_SECONDS

_OVERLOADED = code_entries()[ErrorCode.OVERLOADED]
_REFUSAL = {"code": ErrorCode.OVERLOADED, "message": _OVERLOADED.message, "traceId": "5" * 32}
_HEADERS = [("content-type", "application/json"), ("x-platform-trace-id", "5" * 32)]


@contextmanager
def unable_to(part: str, gateway: str) -> Iterator[str]:
    """Its origin; refused are requests whose target has that part."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if part in self.path:
                self._answer(_OVERLOADED.status, json.dumps(_REFUSAL).encode(), _HEADERS)
                return
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            connection = HTTPConnection(urlsplit(gateway).netloc, timeout=PATIENCE_SECONDS)
            headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            self._answer(answer.status, answer.read(), answer.getheaders())
            connection.close()

        def do_POST(self) -> None:
            self.do_GET()

        def _answer(self, status: int, body: bytes, headers: list[tuple[str, str]]) -> None:
            self.send_response(status)
            for name, value in headers:
                if name.lower() not in {"content-length", "transfer-encoding", "connection"}:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
