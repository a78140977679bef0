"""An Agent that knows nothing of the platform, on a real socket: its agent card, and the JSON-RPC methods it knows."""

import json
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Json = dict[str, Any]

NEW = ("GetTask", "SendMessage")
OLD = ("tasks/get", "message/send")


def card_0_3(url: str = "http://localhost:9999/", **changes: Any) -> Json:
    """As the SDKs of A2A 0.3 write it."""
    return {
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "description": "Just a hello world agent",
        "name": "Hello World Agent",
        "preferredTransport": "JSONRPC",
        "protocolVersion": "0.3.0",
        "skills": [
            {"description": "just returns hello world", "examples": ["hi", "hello world"], "id": "hello_world"}
            | {"name": "Returns hello world", "tags": ["hello world"]}
        ],
        "url": url,
        "version": "1.0.0",
    } | changes


def card_1_0(url: str = "http://localhost:9999/", **changes: Any) -> Json:
    """As the SDKs of A2A 1.0 write it."""
    old = card_0_3(url)
    kept = {name: old[name] for name in old if name not in {"preferredTransport", "protocolVersion", "url"}}
    interface = {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    return kept | {"supportedInterfaces": [interface]} | changes


@dataclass
class ForeignAgent:
    """`pages` are its GET answers by path: a status and a body. `status` answers each POST when it is not 200, and
    `says` in the place of a reply."""

    methods: Sequence[str] = OLD
    status: int = 200
    says: bytes | None = None
    pages: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    seen: list[tuple[str, Json]] = field(default_factory=list)
    origin: str = ""

    def show(self, card: Json, path: str = "/.well-known/agent-card.json") -> None:
        self.pages[path] = (200, json.dumps(card).encode())

    def reply(self, request: Json) -> Json:
        code = -32001 if request["method"] in self.methods else -32601
        return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": "no"}}


@contextmanager
def foreign_agent(agent: ForeignAgent, port: int = 0, tls: ssl.SSLContext | None = None) -> Iterator[ForeignAgent]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(*agent.pages.get(self.path, (404, b"")))

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name: self.headers[name] for name in ("authorization", "content-type")}
            agent.seen.append((self.path, request | headers))
            said = json.dumps(agent.reply(request)).encode() if agent.says is None else agent.says
            self._answer(agent.status, said if agent.status == 200 else b"")

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("location", body.decode())
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name of the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    agent.origin = f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_address[1]}"
    try:
        yield agent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
