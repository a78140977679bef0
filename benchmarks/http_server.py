"""What one request costs the HTTP server: a plain ASGI answer of 1 kB, beside uvicorn where that is installed."""

import asyncio
import importlib.util
from collections.abc import Awaitable, Callable, Mapping
from multiprocessing.connection import Connection
from typing import cast

import uvloop

from aop.net.asgi import Receive, Scope, Send
from aop.net.server import HttpServer, listening_socket
from benchmarks.measure import Figure, Report, cpu_micros_of, interleaved, peer_process

CALLERS = 16
REQUESTS = 4000
ROUNDS = 7

_PAYLOAD = b"x" * 1024
_REQUEST = (
    b"POST /v1/echo HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: application/json\r\n"
    b"authorization: Bearer 0123456789abcdef0123456789abcdef\r\ncontent-length: %d\r\n\r\n" % len(_PAYLOAD)
) + _PAYLOAD
_HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(_PAYLOAD))]


def run() -> Report:
    with peer_process(_ours) as ours:
        if importlib.util.find_spec("uvicorn") is None:
            median = uvloop.run(_measure({"aop.net.server": ours}))
        else:
            with peer_process(_uvicorn) as theirs:
                median = uvloop.run(_measure({"aop.net.server": ours, "uvicorn": theirs}))
    first = median["aop.net.server"]
    rows: list[Mapping[str, Figure]] = [
        {"server": name, "CPU": micros, "ratio": micros / first} for name, micros in median.items()
    ]
    promises = {"no dearer than uvicorn": first <= median["uvicorn"]} if "uvicorn" in median else {}
    return Report("http_server", f"µs CPU per 1 kB request, {CALLERS} callers", rows, promises)


async def _measure(servers: dict[str, tuple[int, int]]) -> dict[str, float]:
    rounds: dict[str, Callable[[], Awaitable[float]]] = {}
    for name, (pid, port) in servers.items():
        loop = asyncio.get_running_loop()
        callers = [(await loop.create_connection(_Caller, "127.0.0.1", port))[1] for _ in range(CALLERS)]
        rounds[name] = _round(pid, callers)
    return await interleaved(rounds, ROUNDS)


def _round(pid: int, callers: list["_Caller"]) -> Callable[[], Awaitable[float]]:
    async def work() -> None:
        await asyncio.gather(*(caller.ask(REQUESTS // CALLERS) for caller in callers))

    return lambda: cpu_micros_of(pid, work, REQUESTS)


class _Caller(asyncio.Protocol):
    """Sends the same bytes again and again; an answer has come when it ends with the payload."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._seen = b""

    async def ask(self, times: int) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(times):
            self._answered = loop.create_future()
            self._transport.write(_REQUEST)
            await self._answered

    def data_received(self, data: bytes) -> None:
        self._seen += data
        if self._seen.endswith(_PAYLOAD):
            self._seen = b""
            self._answered.set_result(None)


async def _application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    more = True
    while more:
        more = (await receive())["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": _PAYLOAD})


def _ours(report: Connection) -> None:
    async def serve() -> None:
        sock = listening_socket("127.0.0.1", 0)
        await HttpServer(_application).start([sock])
        report.send(sock.getsockname()[1])
        await asyncio.Event().wait()

    uvloop.run(serve())


def _uvicorn(report: Connection) -> None:
    uvicorn = importlib.import_module("uvicorn")
    sock = listening_socket("127.0.0.1", 0)
    report.send(sock.getsockname()[1])
    config = uvicorn.Config(
        _application, http="httptools", loop="uvloop", log_level="error", access_log=False, server_header=False
    )
    uvloop.run(uvicorn.Server(config).serve(sockets=[sock]))
