"""Calls of the benchmarks, the ways they can go, and what the processes on a way spend on each."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from aop.net.http import HttpClient, Target
from benchmarks._proxy import Proxy
from benchmarks._reference import Reference
from benchmarks._stream_platform import AGENT, CAPABILITY, StreamPlatform
from benchmarks.measure import cpu_nanos, store_cpu_nanos

CALLERS = 64
CALLS = 1920
UNITS = ("Gateway", "Router", "PostgreSQL")

_TEXT = "a request of about a kilobyte " * 32

Call = Callable[[], Awaitable[None]]


class Processes(Protocol):
    """Those that a call passes: of the platform, or of the reference."""

    @property
    def gateway_pid(self) -> int: ...

    @property
    def router_pid(self) -> int: ...

    @property
    def store_pid(self) -> int: ...


class Calls:
    def __init__(self, platform: StreamPlatform, client: HttpClient) -> None:
        self._client = client
        self._platform = platform
        self._headers = (*platform.headers[:2], (b"accept", b"application/json"))
        content = {"text": _TEXT}
        wanted = {"agentId": AGENT, "capability": CAPABILITY, "input": content, "stream": False}
        self._managed = json.dumps(wanted).encode()
        part = {"kind": "data", "data": content}
        params = {"message": {"kind": "message", "messageId": "m", "role": "user", "parts": [part]}}
        self._direct = json.dumps({"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": params}).encode()

    async def managed(self) -> None:
        await self._ask(self._platform.gateway, self._platform.path, self._managed)

    async def direct(self) -> None:
        await self._ask(self._platform.agent, "/a2a", self._direct)

    def to_reference(self, reference: Reference) -> Call:
        return lambda: self._ask(reference.gateway, "/", self._managed)

    def through(self, proxy: Proxy) -> Call:
        return lambda: self._ask(proxy.target, "/a2a", self._direct)

    async def _ask(self, target: Target, path: str, body: bytes) -> None:
        deadline = asyncio.get_running_loop().time() + 30
        answer = await self._client.request(
            target, "POST", path, headers=self._headers, body=body, deadline=deadline, max_body=1 << 20
        )
        assert answer.status == 200, answer.body


async def many(call: Call, callers: int, count: int) -> None:
    async def caller() -> None:
        for _ in range(count // callers):
            await call()

    await asyncio.gather(*(caller() for _ in range(callers)))


async def costs_of(processes: Processes, call: Call, callers: int, max_calls: int = CALLS) -> dict[str, float]:
    """CPU of all three at once, so that they share the same moments of the machine."""
    count = max(callers * 8, min(max_calls, callers * 120))
    await many(call, callers, callers * 4)

    def spent() -> dict[str, int]:
        pids = {"Gateway": processes.gateway_pid, "Router": processes.router_pid}
        return {
            **{unit: cpu_nanos(pid) for unit, pid in pids.items()},
            "PostgreSQL": store_cpu_nanos(processes.store_pid),
        }

    before, begun = spent(), time.perf_counter()
    await many(call, callers, count)
    seconds, after = time.perf_counter() - begun, spent()
    return {**{unit: (after[unit] - before[unit]) / 1000 / count for unit in UNITS}, "per second": count / seconds}
