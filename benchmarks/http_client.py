"""What one 1 kB round trip costs the HTTP client, beside a bare echo protocol in the same run."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from multiprocessing.connection import Connection
from typing import cast

import uvloop

from aop.net.http import HttpClient, Target
from benchmarks.measure import Figure, Report, Round, interleaved, own_cpu_micros, peer_process

CALLERS = 16
ROUND_TRIPS = 4000
ROUNDS = 9
LIMIT_MICROS = 30.0

_PAYLOAD = b"x" * 1024
_HEADERS = (
    (b"content-type", b"application/json"),
    (b"accept", b"application/json"),
    (b"accept-encoding", b"identity"),
    (b"authorization", b"Bearer 0123456789abcdef0123456789abcdef"),
    (b"x-platform-trace-id", b"0123456789abcdef0123456789abcdef"),
)
_ANSWER = (
    b"HTTP/1.1 200 OK\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\ncontent-type: application/json\r\n"
    b"cache-control: no-store\r\ncontent-length: %d\r\n\r\n" % len(_PAYLOAD)
) + _PAYLOAD


def run() -> Report:
    with peer_process(_echo_peer) as (_, echo_port), peer_process(_http_peer) as (_, http_port):
        median = uvloop.run(_measure(echo_port, http_port))
    echo = median["raw echo"]
    rows: list[Mapping[str, Figure]] = [
        {"client": name, "CPU": micros, "over echo": micros - echo, "ratio": micros / echo}
        for name, micros in median.items()
    ]
    promise = f"a request costs at most {LIMIT_MICROS:.0f} µs of CPU more than a bare echo"
    kept = median["request"] - echo <= LIMIT_MICROS
    return Report("http_client", f"µs CPU per 1 kB round trip, {CALLERS} callers", rows, {promise: kept})


async def _measure(echo_port: int, http_port: int) -> dict[str, float]:
    loop = asyncio.get_running_loop()
    echoes = [(await loop.create_connection(_Echo, "127.0.0.1", echo_port))[1] for _ in range(CALLERS)]
    client = HttpClient(idle_seconds=60, connect_seconds=5)
    target = Target("http", "127.0.0.1", http_port, "127.0.0.1")
    deadline = loop.time() + 600

    async def request() -> None:
        answer = await client.request(
            target, "POST", "/v1/echo", headers=_HEADERS, body=_PAYLOAD, deadline=deadline, max_body=1 << 20
        )
        assert len(answer.body) == len(_PAYLOAD)

    async def stream() -> None:
        async with client.stream(
            target, "POST", "/v1/echo", headers=_HEADERS, body=_PAYLOAD, deadline=deadline, max_body=1 << 20
        ) as answer:
            assert sum([len(piece) async for piece in answer]) == len(_PAYLOAD)

    rounds = {
        "raw echo": _round([echo.round_trip for echo in echoes]),
        "request": _round([request] * CALLERS),
        "stream": _round([stream] * CALLERS),
    }
    median = await interleaved(rounds, ROUNDS)
    await client.close()
    return median


def _round(callers: list[Callable[[], Awaitable[None]]]) -> Round:
    async def calls(once: Callable[[], Awaitable[None]]) -> None:
        for _ in range(ROUND_TRIPS // CALLERS):
            await once()

    async def work() -> None:
        await asyncio.gather(*(calls(once) for once in callers))

    return lambda: own_cpu_micros(work, ROUND_TRIPS)


class _Echo(asyncio.Protocol):
    """The least an asyncio client can do: write 1 kB, count 1 kB, wake its caller."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._loop = asyncio.get_running_loop()
        self._missing = 0

    async def round_trip(self) -> None:
        self._missing = len(_PAYLOAD)
        self._back = self._loop.create_future()
        self._transport.write(_PAYLOAD)
        await self._back

    def data_received(self, data: bytes) -> None:
        self._missing -= len(data)
        if not self._missing:
            self._back.set_result(None)


class _EchoPeer(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._transport.write(data)


class _HttpPeer(_EchoPeer):
    """Answers every request with the same bytes; reads only as far as needed to know that one has ended."""

    _seen = b""

    def data_received(self, data: bytes) -> None:
        self._seen += data
        head = self._seen.find(b"\r\n\r\n")
        if head >= 0 and len(self._seen) >= head + 4 + len(_PAYLOAD):
            self._seen = b""
            self._transport.write(_ANSWER)


def _echo_peer(report: Connection) -> None:
    uvloop.run(_serve(_EchoPeer, report))


def _http_peer(report: Connection) -> None:
    uvloop.run(_serve(_HttpPeer, report))


async def _serve(protocol: type[asyncio.Protocol], report: Connection) -> None:
    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    report.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()
