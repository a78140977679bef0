"""What `aop door` adds to a call: CPU of its process per 1 kB call and per chunk, and memory of its open streams."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from multiprocessing.connection import Connection

import uvloop

from aop.door.app import build
from aop.door.settings import read_door_settings
from aop.local.ports import any_free_port
from aop.net.http import Headers, HttpClient, Target
from benchmarks._door_protocols import PROTOCOLS, DoorProtocol
from benchmarks._front_floor import plain_floor_peer
from benchmarks._stream_platform import (
    AGENT,
    CAPABILITY,
    WORKSPACE,
    StreamPlatform,
    resident_kib,
    serve_unit,
    stream_platform,
)
from benchmarks.measure import Figure, Report, Round, cpu_micros_of, interleaved, peer_process

CALLERS = 16
CALLS = 800
STREAMS = 64
CHUNKS = 100
ROUNDS = 7
OPEN_STREAMS = 500
LIMIT_CHUNK_MICROS = 15.0
LIMIT_OPEN_KIB = 64.0

_GATEWAY_CALL, _GATEWAY_CHUNK = "Gateway, direct call", "Gateway, direct chunk"
_FLOOR = "floor: a server and a client"
_JSON = (b"accept", b"application/json")
_Request = tuple[Target, str, Headers, bytes]
_TEXT = "an input of about a kilobyte " * 35


def run() -> Report:
    return uvloop.run(_run())


async def _run() -> Report:
    async with stream_platform() as platform:
        accepting = (*platform.headers[:2], _JSON)
        pass_on = partial(plain_floor_peer, platform.gateway.port, platform.path, accepting)
        serve = partial(_door_peer, platform.gateway.port)
        with peer_process(serve) as (pid, port), peer_process(pass_on) as (floor_pid, floor_port):
            client = HttpClient(idle_seconds=60, connect_seconds=30, max_idle_per_target=2 * OPEN_STREAMS)
            callers = _Callers(platform, client, port)
            floor = _Callers(platform, client, floor_port, around_gateway=True).round(floor_pid, None, CALLS, 0)
            median = await _costs(platform, callers, pid, floor)
            memory = await _memory(callers, pid)
            await client.close()
    chunks = [micros for name, micros in median.items() if name.startswith("door") and "chunk" in name]
    targets = {
        f"a call of {protocol.name} costs at most {protocol.limit_micros:.0f} µs of CPU in the door": median[
            f"door, call, {protocol.name}"
        ]
        <= protocol.limit_micros
        for protocol in PROTOCOLS
    }
    targets[f"a chunk costs at most {LIMIT_CHUNK_MICROS:.0f} µs of CPU in the door"] = max(chunks) <= LIMIT_CHUNK_MICROS
    targets[f"each of {OPEN_STREAMS} open streams takes at most {LIMIT_OPEN_KIB:.0f} KiB"] = memory <= LIMIT_OPEN_KIB
    rows = _rows(median)
    rows.append({"what": f"door, KiB per open stream ({OPEN_STREAMS} open)", "value": memory, "to the Gateway's": ""})
    return Report("door", f"1 kB calls and {CHUNKS}-chunk streams, {CALLERS} callers", rows, targets)


def _rows(median: Mapping[str, float]) -> list[Mapping[str, Figure]]:
    """Each beside what the Gateway itself spends on the same call or chunk."""
    return [
        {
            "what": f"{name}, µs CPU",
            "value": micros,
            "to the Gateway's": micros / median[_GATEWAY_CHUNK if "chunk" in name else _GATEWAY_CALL],
        }
        for name, micros in median.items()
    ]


async def _costs(platform: StreamPlatform, callers: "_Callers", pid: int, floor: Round) -> dict[str, float]:
    rounds: dict[str, Round] = {_GATEWAY_CALL: callers.round(platform.gateway_pid, None, CALLS, 0), _FLOOR: floor}
    streaming: dict[str, tuple[int, DoorProtocol | None]] = {_GATEWAY_CHUNK: (platform.gateway_pid, None)}
    for protocol in PROTOCOLS:
        rounds[f"door, call, {protocol.name}"] = callers.round(pid, protocol, CALLS, 0)
        streaming[f"door, chunk, {protocol.name}"] = (pid, protocol)
    for name, (of, through) in streaming.items():
        rounds[f"{name}, one"] = callers.round(of, through, STREAMS, 1)
        rounds[f"{name}, many"] = callers.round(of, through, STREAMS, CHUNKS)
    median = await interleaved(rounds, ROUNDS)
    for name in streaming:
        one, many = median.pop(f"{name}, one"), median.pop(f"{name}, many")
        median[name] = (many - one) / (CHUNKS - 1)
    return median


async def _memory(callers: "_Callers", pid: int) -> float:
    """KiB of the door per stream that has had its first chunk and stays open."""
    before = resident_kib(pid)
    async with AsyncExitStack() as opened:
        for _ in range(OPEN_STREAMS):
            await callers.hold(PROTOCOLS[0], opened)
        return (resident_kib(pid) - before) / OPEN_STREAMS


class _Callers:
    """The same call at the Gateway itself and in every protocol at the door."""

    def __init__(
        self, platform: StreamPlatform, client: HttpClient, port: int, *, around_gateway: bool = False
    ) -> None:
        """Whoever listens on the port is the door, or passes on what is meant for the Gateway."""
        self._platform = platform
        self._client = client
        self._door = Target("http", "127.0.0.1", port, "127.0.0.1")
        self._gateway = self._door if around_gateway else platform.gateway

    def round(self, pid: int, protocol: DoorProtocol | None, count: int, chunks: int) -> Round:
        """Without a protocol it is a call of the Gateway; without chunks one in JSON mode."""
        target, path, headers, body = self._request(protocol, chunks, 0)

        async def call() -> None:
            for _ in range(count // CALLERS):
                answer = await self._client.request(
                    target,
                    "POST",
                    path,
                    headers=headers,
                    body=body,
                    deadline=asyncio.get_running_loop().time() + 120,
                    max_body=1 << 24,
                )
                assert answer.status == 200, answer.body
                assert answer.body.count(b"token number") >= chunks, answer.body
                assert b'"error"' not in answer.body, answer.body

        async def work() -> None:
            await asyncio.gather(*(call() for _ in range(CALLERS)))

        return lambda: cpu_micros_of(pid, work, count)

    async def hold(self, protocol: DoorProtocol, opened: AsyncExitStack) -> None:
        """Opens a stream that has had its first chunk and stays open for a minute."""
        target, path, headers, body = self._request(protocol, 2, 60_000)
        deadline = asyncio.get_running_loop().time() + 120
        answer = await opened.enter_async_context(
            self._client.stream(target, "POST", path, headers=headers, body=body, deadline=deadline, max_body=1 << 24)
        )
        async for piece in answer:
            if b"token number" in piece:
                return

    def _request(self, protocol: DoorProtocol | None, chunks: int, pause_ms: float) -> _Request:
        platform = self._platform
        authorization, content_type, accept_events = platform.headers
        content = {"chunks": chunks, "pauseMs": pause_ms} if chunks else {"text": _TEXT}
        if protocol is None:
            wanted = {"agentId": AGENT, "capability": CAPABILITY, "input": content, "stream": bool(chunks)}
            accept = accept_events if chunks else _JSON
            return (
                self._gateway,
                platform.path,
                (authorization, content_type, accept),
                json.dumps(wanted).encode(),
            )
        headers = (authorization, content_type, *protocol.headers)
        path = protocol.path.format(workspace=WORKSPACE, agent=AGENT)
        return self._door, path, headers, json.dumps(protocol.body(content, bool(chunks))).encode()


def _door_peer(gateway_port: int, report: Connection) -> None:
    port = any_free_port()
    settings = read_door_settings(
        {
            "PLATFORM_DOOR_LISTEN_ADDRESS": f"127.0.0.1:{port}",
            "PLATFORM_DOOR_GATEWAY_ORIGIN": f"http://127.0.0.1:{gateway_port}",
        }
    )
    serve_unit(lambda: build(settings), port, report)
