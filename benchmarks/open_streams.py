"""Many at once: calls that wait for their Agent, slow streams that stay open, stalled readers beside honest traffic."""

import asyncio
import json
import re
import socket
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

import uvloop

from aop.net.http import HttpClient
from benchmarks._stream_platform import AGENT, CAPABILITY, StreamPlatform, resident_kib, stream_platform
from benchmarks.measure import Figure, Plot, Report, Series, cpu_nanos

STREAMS = 2000
SECONDS = 120
SMALLER = (10, 100, 500, 1000)
"""Held open for a shorter time, to see how lateness and cost grow."""
SMALLER_SECONDS = 20
STALLED = 500
STALLED_SECONDS = 20
HONEST_CALLERS = 4
WAITING_CALLS = 500
WAITING_MS = 4000
LIMIT_LATE_MILLIS = 250.0
LIMIT_OPEN_KIB = 64.0
LIMIT_STALLED_MIB = 50.0
LIMIT_WAITING_MIB = 120.0

_CHUNK = re.compile(rb"token number (\d+), sent at ([0-9.]+)")


def run() -> Report:
    return uvloop.run(_run())


async def _run() -> Report:
    async with stream_platform() as platform:
        client = HttpClient(idle_seconds=60, connect_seconds=30, max_idle_per_target=2 * STREAMS)
        callers = _Callers(platform, client)
        await callers.honest(2)
        waiting = await _waiting_calls(platform, callers)
        curve = [(count, await _slow_streams(platform, callers, count, SMALLER_SECONDS)) for count in SMALLER]
        slow = await _slow_streams(platform, callers, STREAMS, SECONDS)
        curve.append((STREAMS, slow))
        stalled = await _stalled_readers(platform, callers)
        await client.close()
    rows: list[Mapping[str, Figure]] = [
        {"what": name, "value": f"{value:.1f}"} for name, value in (waiting | slow | stalled).items()
    ]
    targets = {
        f"{WAITING_CALLS} waiting calls: the Router takes at most {LIMIT_WAITING_MIB:.0f} MiB": waiting[_WAITING]
        <= LIMIT_WAITING_MIB,
        "no chunk is lost or out of order": slow[_WRONG] == 0,
        f"the 99th percentile comes at most {LIMIT_LATE_MILLIS:.0f} ms late": slow[_LATE_99] <= LIMIT_LATE_MILLIS,
        f"an open stream takes at most {LIMIT_OPEN_KIB:.0f} KiB of the Router": slow[_PER_STREAM] <= LIMIT_OPEN_KIB,
        f"{STALLED} stalled readers cost the Router at most {LIMIT_STALLED_MIB:.0f} MiB": stalled[_RISE]
        <= LIMIT_STALLED_MIB,
    }
    unit = f"{STREAMS} streams for {SECONDS} s, {STALLED} stalled readers"
    return Report("open_streams", unit, rows, targets, _plots(curve))


_WAITING = f"Router with {WAITING_CALLS} waiting calls, MiB"
_AFTERWARDS = "Router after them, MiB"
_WRONG = "chunks lost or out of order"
_LATE_99 = "lateness of a chunk, 99th percentile, ms"
_LATE_50 = "lateness of a chunk, median, ms"
_PER_STREAM = "Router, KiB per open stream"
_CHUNK_CPU = {"Gateway": "Gateway, µs CPU per chunk", "Router": "Router, µs CPU per chunk"}
_RISE = "rise of the Router beside stalled readers, MiB"


class _Callers:
    def __init__(self, platform: StreamPlatform, client: HttpClient) -> None:
        self._platform = platform
        self._client = client

    async def call(self, content: Mapping[str, object]) -> float:
        """Milliseconds of one JSON call."""
        wanted = {"agentId": AGENT, "capability": CAPABILITY, "input": content, "stream": False}
        headers = (*self._platform.headers[:2], (b"accept", b"application/json"))
        begun = time.perf_counter()
        answer = await self._client.request(
            self._platform.gateway,
            "POST",
            self._platform.path,
            headers=headers,
            body=json.dumps(wanted).encode(),
            deadline=asyncio.get_running_loop().time() + 60,
            max_body=1 << 20,
        )
        assert answer.status == 200, answer.body
        return (time.perf_counter() - begun) * 1000

    async def honest(self, seconds: float) -> list[float]:
        """Milliseconds of the calls of a few callers, one after another each."""
        until = time.perf_counter() + seconds
        taken: list[float] = []

        async def caller() -> None:
            while time.perf_counter() < until:
                taken.append(await self.call({"text": "honest"}))

        await asyncio.gather(*(caller() for _ in range(HONEST_CALLERS)))
        return taken

    async def stream(self, chunks: int, late: list[float]) -> int:
        """Reads a stream to its end; how many of its chunks were missing or not in their place."""
        platform, expected, wrong = self._platform, 0, 0
        async with self._client.stream(
            platform.gateway,
            "POST",
            platform.path,
            headers=platform.headers,
            body=platform.request(chunks, 1000),
            deadline=asyncio.get_running_loop().time() + chunks + 60,
            max_body=1 << 30,
        ) as answer:
            assert answer.status == 200
            async for piece in answer:
                now = time.time()
                for number, sent in _CHUNK.findall(piece):
                    wrong += int(number) != expected
                    expected += 1
                    late.append((now - float(sent)) * 1000)
        return wrong + abs(chunks - expected)


async def _waiting_calls(platform: StreamPlatform, callers: _Callers) -> dict[str, float]:
    calls = [asyncio.create_task(callers.call({"pauseMs": WAITING_MS})) for _ in range(WAITING_CALLS)]
    await asyncio.sleep(WAITING_MS / 1000 * 0.75)
    during = resident_kib(platform.router_pid) / 1024
    await asyncio.gather(*calls)
    await asyncio.sleep(1)
    return {_WAITING: during, _AFTERWARDS: resident_kib(platform.router_pid) / 1024}


async def _slow_streams(platform: StreamPlatform, callers: _Callers, streams: int, seconds: int) -> dict[str, float]:
    """A chunk per second each."""
    pids = {"Gateway": platform.gateway_pid, "Router": platform.router_pid}
    before, late = resident_kib(platform.router_pid), list[float]()
    readers, opening = [], min(10, seconds / 2)
    for _ in range(streams):  # opened one by one, so that their chunks are spread over the second
        readers.append(asyncio.create_task(callers.stream(seconds, late)))
        await asyncio.sleep(opening / streams)
    spent, seen = {unit: cpu_nanos(pid) for unit, pid in pids.items()}, len(late)
    await asyncio.sleep((seconds - opening) / 2)
    during, seen = resident_kib(platform.router_pid), len(late) - seen
    chunk = {_CHUNK_CPU[unit]: (cpu_nanos(pid) - spent[unit]) / 1000 / seen for unit, pid in pids.items()}
    wrong = sum(await asyncio.gather(*readers))
    late.sort()
    return {
        _WRONG: wrong,
        **chunk,
        _LATE_50: statistics.median(late),
        _LATE_99: late[len(late) * 99 // 100],
        "lateness of a chunk, greatest, ms": late[-1],
        _PER_STREAM: (during - before) / streams,
    }


def _plots(curve: Sequence[tuple[int, Mapping[str, float]]]) -> list[Plot]:
    def lines(names: Mapping[str, str]) -> list[Series]:
        return [Series(name, [(float(count), found[key]) for count, found in curve]) for name, key in names.items()]

    def over_streams(name: str, title: str, y: str, series: Sequence[Series]) -> Plot:
        return Plot(name, title, "open streams, a chunk per second each", y, series, logarithmic_x=True)

    lateness = lines({"median": _LATE_50, "99th percentile": _LATE_99})
    return [
        over_streams("lateness", "Lateness of a chunk by open streams", "ms", lateness),
        over_streams("cost", "CPU per chunk by open streams, each chunk alone", "µs", lines(_CHUNK_CPU)),
    ]


async def _stalled_readers(platform: StreamPlatform, callers: _Callers) -> dict[str, float]:
    """Readers who ask for as much as there is and take nothing of it."""
    alone = sorted(await callers.honest(STALLED_SECONDS / 4))
    before = resident_kib(platform.router_pid)
    with ExitStack() as opened:
        for _ in range(STALLED):
            opened.enter_context(_stalled(platform))
            await asyncio.sleep(0.005)
        beside = sorted(await callers.honest(STALLED_SECONDS))
        rise = (resident_kib(platform.router_pid) - before) / 1024
    return {
        "an honest call alone, 99th percentile, ms": alone[len(alone) * 99 // 100],
        "an honest call beside stalled readers, 99th percentile, ms": beside[len(beside) * 99 // 100],
        _RISE: rise,
    }


def _stalled(platform: StreamPlatform) -> socket.socket:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect((platform.gateway.address, platform.gateway.port))
    body = platform.request(1_000_000, 0)
    head = [f"POST {platform.path} HTTP/1.1".encode(), b"host: " + platform.gateway.authority]
    head += [b": ".join(line) for line in platform.headers]
    sock.sendall(b"\r\n".join([*head, b"content-length: %d" % len(body), b"", body]))
    return sock
