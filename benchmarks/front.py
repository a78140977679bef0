"""What `aop front` adds to a call: CPU of its process per 1 kB call and per streamed chunk, beside the direct call."""

import asyncio
import json
import os
import tempfile
from collections.abc import Mapping
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import uvloop

from aop.agent.server.call_log import log_to_stderr
from aop.agent.testing import SignedRouter
from aop.front.app import build
from aop.front.settings import read_front_settings
from aop.net.http import HttpClient, Target
from aop.net.server import HttpServer, listening_socket
from aop.serving.unit.unit import tune_gc
from benchmarks._front_floor import all_checks_micros, check_micros, floor_peer
from benchmarks._fronted_agent import agent_peer
from benchmarks.measure import Figure, Report, Round, cpu_micros_of, interleaved, peer_process

CALLERS = 16
CALLS = 800
STREAMS = 64
CHUNKS = 100
ROUNDS = 7
LIMIT_CALL_MICROS = 250.0
LIMIT_CHUNK_MICROS = 12.0

Process = tuple[int, int]
"""Its pid and its port."""

_DIRECT_CALL, _DIRECT_CHUNK = "Agent, direct call", "Agent, direct chunk"
_FLOOR = "floor: a server, a client and one check of a signature"
_SEED = bytes(range(32))
_TEXT = "an input of about a kilobyte " * 35
_AGENTS = {"a2a-0.3": "bench:old", "a2a-1.0": "bench:new"}


def run() -> Report:
    with tempfile.TemporaryDirectory() as folder, peer_process(agent_peer) as (agent_pid, agent_port):
        serve, pass_on = partial(_front_peer, folder, agent_port), partial(floor_peer, agent_port)
        with peer_process(serve) as front, peer_process(pass_on) as floor:
            median = uvloop.run(_measure((agent_pid, agent_port), front, floor))
    median["one check of a signature"] = check_micros()
    median["all checks of a credential"] = all_checks_micros()
    rows = _rows(median)
    calls = [micros for name, micros in median.items() if name.startswith("front, call")]
    chunks = [micros for name, micros in median.items() if name.startswith("front, chunk")]
    targets = {
        f"a 1 kB call costs at most {LIMIT_CALL_MICROS:.0f} µs of CPU in the front": max(calls) <= LIMIT_CALL_MICROS,
        f"a chunk costs at most {LIMIT_CHUNK_MICROS:.0f} µs of CPU in the front": max(chunks) <= LIMIT_CHUNK_MICROS,
    }
    return Report("front", f"1 kB calls and {CHUNKS}-chunk streams, {CALLERS} callers", rows, targets)


def _rows(median: Mapping[str, float]) -> list[Mapping[str, Figure]]:
    """Each beside the direct call or chunk, whichever it is one of, and beside the least that a front costs."""
    rows: list[Mapping[str, Figure]] = []
    for name, micros in median.items():
        direct = median[_DIRECT_CHUNK if "chunk" in name else _DIRECT_CALL]
        to_floor = micros / median[_FLOOR] if name.startswith("front, call") else ""
        rows.append({"what": name, "CPU µs": micros, "to the direct one": micros / direct, "to the floor": to_floor})
    return rows


async def _measure(agent: Process, front: Process, floor: Process) -> dict[str, float]:
    client = HttpClient(idle_seconds=60, connect_seconds=5)
    caller = Caller(client, agent[1], front[1])
    rounds: dict[str, Round] = {
        _DIRECT_CALL: caller.round(agent[0], CALLS, None, 0),
        _FLOOR: Caller(client, floor[1], front[1]).round(floor[0], CALLS, None, 0),
    }
    for speaks, agent_id in _AGENTS.items():
        rounds[f"front, call, {speaks}"] = caller.round(front[0], CALLS, f"{agent_id}-whole", 0)
        rounds[f"front, call followed by stream, {speaks}"] = caller.round(front[0], CALLS, f"{agent_id}-streamed", 1)
        rounds[f"one, {speaks}"] = caller.round(front[0], STREAMS, f"{agent_id}-streamed", 1, stream=True)
        rounds[f"many, {speaks}"] = caller.round(front[0], STREAMS, f"{agent_id}-streamed", CHUNKS, stream=True)
    rounds["Agent, direct stream of one"] = caller.round(agent[0], STREAMS, None, 1, stream=True)
    rounds["Agent, direct stream of many"] = caller.round(agent[0], STREAMS, None, CHUNKS, stream=True)
    median = await interleaved(rounds, ROUNDS)
    await client.close()
    for speaks in _AGENTS:
        one, many = median.pop(f"one, {speaks}"), median.pop(f"many, {speaks}")
        median[f"front, chunk, {speaks}"] = (many - one) / (CHUNKS - 1)
    one, many = median.pop("Agent, direct stream of one"), median.pop("Agent, direct stream of many")
    median[_DIRECT_CHUNK] = (many - one) / (CHUNKS - 1)
    return median


class Caller:
    """Signs each request as the Router does; the requests of a round are made before its clock starts."""

    def __init__(self, client: HttpClient, agent_port: int, front_port: int) -> None:
        self._client = client
        self._agent_port = agent_port
        self._front_port = front_port

    def round(self, pid: int, count: int, agent_id: str | None, chunks: int, *, stream: bool = False) -> Round:
        """`agent_id` names an Agent behind the front; None calls the Agent itself."""
        port = self._agent_port if agent_id is None else self._front_port
        router = SignedRouter.new(f"http://127.0.0.1:{port}", _SEED, agent_id=agent_id or "bench:direct")
        path = f"/{agent_id}/1.0.0" if agent_id else "/"
        part = {"kind": "data", "data": {"chunks": chunks, "text": _TEXT}}
        message = {"kind": "message", "messageId": "m-1", "role": "user", "parts": [part]}
        method = "message/stream" if stream else "message/send"
        body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": {"message": message}}

        async def measured() -> float:
            requests = [router.request(body, capability="ask", stream=stream) for _ in range(count)]

            async def call() -> None:
                while requests:
                    request = requests.pop()
                    answer = await self._client.request(
                        Target("http", "127.0.0.1", port, "127.0.0.1"),
                        "POST",
                        path,
                        headers=request.headers,
                        body=request.body,
                        deadline=asyncio.get_running_loop().time() + 60,
                        max_body=1 << 24,
                    )
                    assert answer.status == 200
                    assert b'"error"' not in answer.body

            async def work() -> None:
                await asyncio.gather(*(call() for _ in range(CALLERS)))

            return await cpu_micros_of(pid, work, count)

        return measured


def _front_peer(folder: str, agent_port: int, report: Connection) -> None:
    uvloop.run(_serve(Path(folder), agent_port, report))


async def _serve(folder: Path, agent_port: int, report: Connection) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the log of its calls is a part of what they cost
    log_to_stderr()
    listener = listening_socket("127.0.0.1", 0)
    port = listener.getsockname()[1]
    unit = await build(read_front_settings(_settings(folder, agent_port, port), {}))
    server = HttpServer(unit.application)
    await server.start([listener])
    tune_gc()  # as every unit does once it listens
    report.send(port)
    await asyncio.Event().wait()


def _settings(folder: Path, agent_port: int, port: int) -> Path:
    router = SignedRouter.new(f"http://127.0.0.1:{port}", _SEED)
    agents = []
    for speaks, name in _AGENTS.items():
        for kind, streaming in (("whole", False), ("streamed", True)):
            agent_id = f"{name}-{kind}"
            path = folder / f"{agent_id.replace(':', '-')}.json"
            path.write_text(json.dumps(_card(agent_id, router.audience, streaming=streaming)))
            agents.append({"card": path.name, "url": f"http://127.0.0.1:{agent_port}/", "speaks": speaks})
    trusted = {"issuer": router.issuer, "keyId": router.key_id, "publicKey": router.key.public_text}
    settings = folder / "front.json"
    (folder / ".proofs").mkdir(exist_ok=True)
    settings.write_text(json.dumps({"origin": router.audience, "router": trusted, "agents": agents}))
    return settings


def _card(agent_id: str, origin: str, *, streaming: bool) -> dict[str, Any]:
    skill = {"id": "ask", "name": "Ask", "description": "Ask.", "inputSchema": {}, "outputSchema": {}}
    return {
        "schemaVersion": "0.2",
        "agentId": agent_id,
        "name": "Benchmark",
        "description": "Answers at once.",
        "owner": {"id": "bench", "displayName": "Bench"},
        "version": "1.0.0",
        "protocol": {
            "type": "a2a",
            "version": "0.3.0",
            "transport": "JSONRPC",
            "endpoint": f"{origin}/{agent_id}/1.0.0",
        },
        "skills": [skill | {"requiredPermissions": []}],
        "authentication": {"type": "http_bearer"},
        "permissions": [],
        "limits": {"timeoutMs": 60000, "maxInputBytes": 65536, "maxOutputBytes": 1048576, "streaming": streaming},
    }
