"""What relaying a result stream costs: CPU per chunk and hop, time to the first chunk, memory of an open stream."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial

import uvloop

from aop.net.http import HttpClient, Target
from aop.net.http.client import AnswerStream
from benchmarks._stream_platform import StreamPlatform, resident_kib, stream_platform
from benchmarks.measure import Figure, Report, Round, cpu_micros_of, interleaved, machine_pace_micros

CALLERS = 16
STREAMS = 64
CHUNKS = 100
ROUNDS = 21
"""Of chunks that come together; seven said more about the moments of the machine than about a chunk."""
LONE_ROUNDS = 7
FIRST_CHUNKS = 60
OPEN_STREAMS = 400
PACE_MS = 5.0
LIMIT_CHUNK_MICROS = {"Router": 7.0, "Gateway": 4.5}
LIMIT_OPEN_KIB = 64.0

_FRAME_MARK = b'"type":"chunk"'
_EVENT_MARK = b'"artifact-update"'


def run() -> Report:
    return uvloop.run(_run())


async def _run() -> Report:
    async with stream_platform() as platform:
        client = HttpClient(idle_seconds=60, connect_seconds=5)
        caller = Caller(platform, client)
        pace: list[float] = []
        chunks = await _chunk_costs(platform, caller, pace)
        added, lone = await _added(platform, caller)
        memory = await _memory(platform, caller)
        await client.close()
    rows: list[Mapping[str, Figure]] = [
        {"what": f"{name}, µs CPU per chunk", "value": micros} for name, micros in chunks.items()
    ]
    rows.append({"what": "added to the first chunk, ms", "value": f"{added:.2f}"})
    rows.append({"what": "added to a lone call without a stream, ms", "value": f"{lone:.2f}"})
    fixed = f"{min(pace):.0f} to {max(pace):.0f}"
    rows.append({"what": "a fixed piece of work, least to most over the rounds, µs", "value": fixed})
    rows += [{"what": f"{unit}, KiB per open stream", "value": kib} for unit, kib in memory.items()]
    targets = {
        **{
            f"a chunk costs at most {limit} µs of CPU in the {unit}": chunks[unit] <= limit
            for unit, limit in LIMIT_CHUNK_MICROS.items()
        },
        "the first chunk comes no later than a lone call adds": added <= lone,
        f"an open stream takes at most {LIMIT_OPEN_KIB:.0f} KiB of the Router": memory["Router"] <= LIMIT_OPEN_KIB,
    }
    return Report("streams", f"{CHUNKS}-chunk streams, {CALLERS} callers", rows, targets)


class Caller:
    def __init__(self, platform: StreamPlatform, client: HttpClient) -> None:
        self._platform = platform
        self._client = client

    async def stream(self, chunks: int, pause_ms: float = 0.0) -> None:
        platform = self._platform
        seen = await self._read(platform.gateway, platform.path, platform.request(chunks, pause_ms), _FRAME_MARK)
        assert seen == chunks

    async def first_chunk(self, target: Target, path: str, body: bytes, mark: bytes) -> float:
        """Milliseconds until the first chunk."""
        begun = time.perf_counter()  # the loop's own clock counts milliseconds
        async with self._open(target, path, body) as answer:
            async for piece in answer:
                if mark in piece:
                    break
            seconds = time.perf_counter() - begun
            async for _ in answer:
                pass
        return seconds * 1000

    async def whole_call(self, target: Target, path: str, body: bytes) -> float:
        """Milliseconds until the answer of a call without a stream."""
        begun = time.perf_counter()
        deadline, headers = asyncio.get_running_loop().time() + 120, self._platform.json_headers
        answer = await self._client.request(
            target, "POST", path, headers=headers, body=body, deadline=deadline, max_body=1 << 20
        )
        seconds = time.perf_counter() - begun
        assert answer.status == 200
        return seconds * 1000

    async def hold(self, opened: AsyncExitStack) -> None:
        """Opens a stream that has had its first chunk and stays open for a minute."""
        platform = self._platform
        answer = await opened.enter_async_context(
            self._open(platform.gateway, platform.path, platform.request(2, 60_000))
        )
        async for piece in answer:
            if _FRAME_MARK in piece:
                return

    async def _read(self, target: Target, path: str, body: bytes, mark: bytes) -> int:
        async with self._open(target, path, body) as answer:
            assert answer.status == 200
            pieces = [piece async for piece in answer]
        return b"".join(pieces).count(mark)

    def _open(self, target: Target, path: str, body: bytes) -> AnswerStream:
        deadline = asyncio.get_running_loop().time() + 120
        return self._client.stream(
            target, "POST", path, headers=self._platform.headers, body=body, deadline=deadline, max_body=1 << 30
        )


async def _chunk_costs(platform: StreamPlatform, caller: Caller, pace: list[float]) -> dict[str, float]:
    """What one more chunk costs: streams of many chunks less those of one. `pace` gets how fast the machine was."""

    async def paced() -> float:
        pace.append(machine_pace_micros())
        return pace[-1]

    def measured(pid: int, chunks: int, pause_ms: float) -> Round:
        async def calls() -> None:
            for _ in range(STREAMS // CALLERS):
                await caller.stream(chunks, pause_ms)

        async def work() -> None:
            await asyncio.gather(*(calls() for _ in range(CALLERS)))

        return lambda: cpu_micros_of(pid, work, STREAMS)

    pids = {"Gateway": platform.gateway_pid, "Router": platform.router_pid}
    together: dict[str, Round] = {"pace": paced}
    alone = {}
    for unit, pid in pids.items():
        together[f"{unit} one"] = measured(pid, 1, 0)
        together[unit] = measured(pid, CHUNKS, 0)
        alone[f"{unit}, each chunk alone"] = measured(pid, CHUNKS, PACE_MS)
    median = {**await interleaved(together, ROUNDS), **await interleaved(alone, LONE_ROUNDS)}
    return {
        name: (median[name] - median[f"{unit} one"]) / (CHUNKS - 1)
        for unit in pids
        for name in (unit, f"{unit}, each chunk alone")
    }


async def _added(platform: StreamPlatform, caller: Caller) -> tuple[float, float]:
    """What the platform adds to the first chunk of a stream, and to a call without one, in turns."""
    gateway, agent, path = platform.gateway, platform.agent, platform.path
    request, to_agent = partial(platform.request, 2, 0), partial(platform.to_agent, 2, 0)
    ways: dict[str, Round] = {
        "first": lambda: caller.first_chunk(gateway, path, request(), _FRAME_MARK),
        "first, direct": lambda: caller.first_chunk(agent, "/a2a", to_agent(), _EVENT_MARK),
        "lone": lambda: caller.whole_call(gateway, path, request(stream=False)),
        "lone, direct": lambda: caller.whole_call(agent, "/a2a", to_agent(stream=False)),
    }
    median = await interleaved(ways, FIRST_CHUNKS)
    return median["first"] - median["first, direct"], median["lone"] - median["lone, direct"]


async def _memory(platform: StreamPlatform, caller: Caller) -> dict[str, float]:
    pids = {"Gateway": platform.gateway_pid, "Router": platform.router_pid}
    before = {unit: resident_kib(pid) for unit, pid in pids.items()}
    async with AsyncExitStack() as opened:
        for _ in range(OPEN_STREAMS):
            await caller.hold(opened)
        return {unit: (resident_kib(pid) - before[unit]) / OPEN_STREAMS for unit, pid in pids.items()}
