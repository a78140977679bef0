"""What a managed, durable JSON invocation costs: CPU of Gateway, Router and PostgreSQL, and the latency it adds."""

import asyncio
import json
import statistics
import time
from collections.abc import Mapping

import uvloop

from aop.base.http import HttpClient, Target
from benchmarks._stream_platform import AGENT, CAPABILITY, StreamPlatform, stream_platform
from benchmarks.measure import Figure, Report, cpu_micros_of, store_cpu_nanos

CALLERS = 64
CALLS = 1920
ROUNDS = 5
LONE_CALLS = 400
LIMIT_CPU_MICROS = 700.0
LIMIT_ADDED_MILLIS = 2.5

_TEXT = "a request of about a kilobyte " * 32


def run() -> Report:
    return uvloop.run(_run())


async def _run() -> Report:
    async with stream_platform() as platform:
        client = HttpClient(idle_seconds=60, connect_seconds=5)
        calls = _Calls(platform, client)
        await calls.many()
        rounds = [await _round(platform, calls) for _ in range(ROUNDS)]
        added = await _added_millis(calls)
        await client.close()
    costs = {name: statistics.median(found[name] for found in rounds) for name in rounds[0]}
    total = costs["Gateway"] + costs["Router"] + costs["PostgreSQL"]
    rows: list[Mapping[str, Figure]] = [
        {"what": f"{name}, µs CPU per invocation", "value": costs[name]} for name in ("Gateway", "Router", "PostgreSQL")
    ]
    rows += [
        {"what": "together, µs CPU per invocation", "value": total},
        {"what": "invocations per second, everything on this machine", "value": costs["per second"]},
        *({"what": f"added at one caller, {name}, ms", "value": f"{value:.2f}"} for name, value in added.items()),
    ]
    targets = {
        f"an invocation costs at most {LIMIT_CPU_MICROS:.0f} µs of CPU": total <= LIMIT_CPU_MICROS,
        f"one caller waits at most {LIMIT_ADDED_MILLIS} ms longer": added["median"] <= LIMIT_ADDED_MILLIS,
    }
    return Report("invocations", f"1 kB JSON, {CALLERS} callers, durable Ledger", rows, targets)


class _Calls:
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

    async def many(self) -> None:
        async def caller() -> None:
            for _ in range(CALLS // CALLERS):
                await self.managed()

        await asyncio.gather(*(caller() for _ in range(CALLERS)))

    async def _ask(self, target: Target, path: str, body: bytes) -> None:
        deadline = asyncio.get_running_loop().time() + 30
        answer = await self._client.request(
            target, "POST", path, headers=self._headers, body=body, deadline=deadline, max_body=1 << 20
        )
        assert answer.status == 200, answer.body


async def _round(platform: StreamPlatform, calls: _Calls) -> dict[str, float]:
    """CPU of all three at once, so that they share the same moments of the machine."""
    cost: dict[str, float] = {}

    async def gateway() -> None:
        cost["Router"] = await cpu_micros_of(platform.router_pid, calls.many, CALLS)

    store, begun = store_cpu_nanos(platform.store_pid), time.perf_counter()
    cost["Gateway"] = await cpu_micros_of(platform.gateway_pid, gateway, CALLS)
    cost["PostgreSQL"] = (store_cpu_nanos(platform.store_pid) - store) / 1000 / CALLS
    cost["per second"] = CALLS / (time.perf_counter() - begun)
    return cost


async def _added_millis(calls: _Calls) -> dict[str, float]:
    """One caller, the managed and the direct call by turns."""
    managed, direct = [], []
    for _ in range(LONE_CALLS):
        for call, times in ((calls.managed, managed), (calls.direct, direct)):
            begun = time.perf_counter()
            await call()
            times.append((time.perf_counter() - begun) * 1000)
    hundredth = -(LONE_CALLS // 100)
    return {
        "median": statistics.median(managed) - statistics.median(direct),
        "99th percentile": sorted(managed)[hundredth] - sorted(direct)[hundredth],
    }
