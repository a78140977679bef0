"""Control Plane, Router and a streaming Agent in a process each, on an embedded PostgreSQL; the Agent is installed.

The Gateway reaches the Router by a unix socket, as in `aop up`.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import uvloop

from aop.contracts.signing import SigningKey
from aop.control_plane.app import build as build_control_plane
from aop.control_plane.settings import read_control_plane_settings
from aop.local.ports import any_free_port
from aop.net.http import Answer, HttpClient, Target
from aop.net.server import HttpServer, listening_socket
from aop.net.sockets import listening_path
from aop.router.app import build as build_router
from aop.router.settings import RouterSettings, read_router_settings
from aop.serving.unit.huge_pages import use_huge_pages
from aop.serving.unit.unit import Unit, tune_gc
from aop.serving.unit.unit_settings import ROUTER_SOCKET
from benchmarks._store import migrated_store
from benchmarks._streaming_agent import agent_peer
from benchmarks.measure import peer_process

WORKSPACE, PROVIDER, AGENT, CAPABILITY = "bench", "bench", "bench:stream", "stream"
_SERVICE_TOKEN = "benchmark-service-token"  # noqa: S105
_MAX_AT_ONCE = "4096"
BuildRouter = Callable[[RouterSettings], Awaitable[Unit]]
_PRINCIPALS = json.dumps([{"id": "peer", "tokenSha256": hashlib.sha256(_SERVICE_TOKEN.encode()).hexdigest()}])


@dataclass(frozen=True)
class StreamPlatform:
    gateway_pid: int
    router_pid: int
    store_pid: int
    agent_pid: int
    gateway: Target
    agent: Target
    token: str
    database_url: str

    @property
    def path(self) -> str:
        return f"/v1/workspaces/{WORKSPACE}/invocations"

    @property
    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        return (
            (b"authorization", f"Bearer {self.token}".encode()),
            (b"content-type", b"application/json"),
            (b"accept", b"text/event-stream"),
        )

    @property
    def json_headers(self) -> tuple[tuple[bytes, bytes], ...]:
        return *self.headers[:2], (b"accept", b"application/json")

    def request(self, chunks: int, pause_ms: float, *, stream: bool = True) -> bytes:
        wanted = {"agentId": AGENT, "capability": CAPABILITY, "input": _order(chunks, pause_ms), "stream": stream}
        return json.dumps(wanted).encode()

    def to_agent(self, chunks: int, pause_ms: float, *, stream: bool = True) -> bytes:
        """The same order as the Router would put it."""
        part = {"kind": "data", "data": _order(chunks, pause_ms)}
        method = "message/stream" if stream else "message/send"
        return json.dumps(
            {"jsonrpc": "2.0", "id": "1", "method": method, "params": {"message": {"parts": [part]}}}
        ).encode()


def resident_kib(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024


@asynccontextmanager
async def stream_platform(build: BuildRouter = build_router) -> AsyncIterator[StreamPlatform]:
    """`build` gives a Router that lacks something, to see what this part costs."""
    async with migrated_store() as store:
        url, router_port, path = store.url, any_free_port(), str(store.home / "router.sock")
        with (
            peer_process(agent_peer) as (agent_pid, agent_port),
            peer_process(partial(_control_plane_peer, url, router_port, agent_port, path)) as (
                gateway_pid,
                gateway_port,
            ),
            peer_process(partial(_router_peer, build, url, (router_port, gateway_port, agent_port), path)) as (
                router_pid,
                _,
            ),
        ):
            platform = StreamPlatform(
                gateway_pid=gateway_pid,
                router_pid=router_pid,
                store_pid=store.pid,
                agent_pid=agent_pid,
                gateway=_local(gateway_port),
                agent=_local(agent_port),
                token=store.token,
                database_url=url,
            )
            await install(platform)
            yield platform


def _local(port: int) -> Target:
    return Target("http", "127.0.0.1", port, "127.0.0.1")


def _order(chunks: int, pause_ms: float) -> dict[str, float]:
    return {"chunks": chunks, "pauseMs": pause_ms}


async def install(platform: StreamPlatform) -> None:
    client = HttpClient(idle_seconds=1, connect_seconds=5)

    async def send(target: Target, method: str, path: str, body: bytes) -> Answer:
        deadline = asyncio.get_running_loop().time() + 20
        headers = platform.headers[:2]
        return await client.request(
            target, method, path, headers=headers, body=body, deadline=deadline, max_body=1 << 20
        )

    async def post(path: str, body: object = None) -> Any:
        answer = await send(platform.gateway, "POST", path, b"" if body is None else json.dumps(body).encode())
        assert answer.status < 300, answer.body
        return json.loads(answer.body)

    endpoint = f"http://127.0.0.1:{platform.agent.port}/a2a"
    await post("/v1/agents", _card(endpoint))
    bindings = f"/v1/providers/{PROVIDER}/agents/{AGENT}/endpoint-bindings"
    wanted = {"version": "1.0.0", "endpoint": endpoint, "method": "http_well_known"}
    binding = await post(bindings, wanted)
    challenges = f"/v1/providers/{PROVIDER}/endpoint-bindings/{binding['bindingId']}/challenges"
    challenge = await post(challenges)
    proof = f"/.well-known/platform/challenges/{challenge['challengeId']}"
    await send(platform.agent, "PUT", proof, challenge["proof"].encode())
    await post(f"{challenges}/{challenge['challengeId']}/complete")
    release = await post(
        f"/v1/providers/{PROVIDER}/agents/{AGENT}/releases",
        {"version": "1.0.0", "endpointBindingId": binding["bindingId"]},
    )
    await post(f"/v1/releases/{release['releaseId']}/publish")
    await post("/v1/workspaces", {"workspaceId": WORKSPACE})
    installation = {"agentId": AGENT, "versionConstraint": "1.0.0", "acceptedPermissions": []}
    await post(f"/v1/workspaces/{WORKSPACE}/installations", installation)
    await asyncio.sleep(1)  # until the Router has heard of it
    await client.close()


def _card(endpoint: str) -> dict[str, Any]:
    answered = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
    skill = {
        "id": CAPABILITY,
        "name": "Stream",
        "description": "Streams tokens.",
        "inputSchema": {"type": "object"},
        "outputSchema": answered,
        "requiredPermissions": [],
    }
    return {
        "schemaVersion": "0.2",
        "agentId": AGENT,
        "version": "1.0.0",
        "name": "Stream",
        "description": "Streams tokens.",
        "owner": {"id": "benchmark", "displayName": "Benchmark"},
        "protocol": {"type": "a2a", "version": "0.3.0", "transport": "JSONRPC", "endpoint": endpoint},
        "skills": [skill],
        "permissions": [],
        "authentication": {"type": "http_bearer"},
        "limits": {
            "timeoutMs": 600_000,
            "maxInputBytes": 1 << 20,
            "maxOutputBytes": 1 << 30,
            "streaming": True,
        },
    }


def control_plane_environment(url: str, router_port: int, agent_port: int) -> dict[str, str]:
    return {
        "PLATFORM_DATABASE_URL": url,
        "PLATFORM_ROUTER_INTERNAL_ORIGIN": f"http://127.0.0.1:{router_port}",
        "PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN": _SERVICE_TOKEN,
        "PLATFORM_INTERNAL_PRINCIPALS_JSON": _PRINCIPALS,
        "PLATFORM_GATEWAY_MAX_IN_FLIGHT_INVOCATIONS": _MAX_AT_ONCE,
        "PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON": json.dumps([f"127.0.0.1:{agent_port}"]),
    }


def _control_plane_peer(url: str, router_port: int, agent_port: int, path: str, report: Connection) -> None:
    environment = control_plane_environment(url, router_port, agent_port)
    settings = read_control_plane_settings(environment | {ROUTER_SOCKET: f"unix:{path}"})
    serve_unit(lambda: build_control_plane(settings), 0, report)


def router_environment(url: str, port: int, control_plane_port: int, agent_port: int) -> dict[str, str]:
    return {
        "PLATFORM_ROUTER_ID": "router-1",
        "PLATFORM_ROUTER_DATABASE_URL": url,
        "PLATFORM_ROUTER_LISTEN_ADDRESS": f"127.0.0.1:{port}",
        "PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN": f"http://127.0.0.1:{control_plane_port}",
        "PLATFORM_CONTROL_PLANE_SERVICE_TOKEN": _SERVICE_TOKEN,
        "PLATFORM_ROUTER_SERVICE_PRINCIPALS_JSON": _PRINCIPALS,
        "PLATFORM_ROUTER_MAX_IN_FLIGHT_INVOCATIONS": _MAX_AT_ONCE,
        "PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL": SigningKey.generate().text,
        "PLATFORM_ROUTER_AGENT_RESPONSE_LIMIT_BYTES": str(1 << 30),
        "PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON": json.dumps([f"127.0.0.1:{agent_port}"]),
    }


def _router_peer(build: BuildRouter, url: str, ports: tuple[int, int, int], path: str, report: Connection) -> None:
    """`ports`: its own, and those of the Control Plane and the Agent."""
    settings = read_router_settings(router_environment(url, *ports))
    serve_unit(lambda: build(settings), ports[0], report, path)


def serve_unit(build: Callable[[], Awaitable[Unit]], port: int, report: Connection, path: str | None = None) -> None:
    # The log of requests is part of what they cost; nobody reads it here.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    async def serve() -> None:
        unit = await build()
        listener = listening_socket("127.0.0.1", port)
        by_path = [] if path is None else [listening_path(path)]
        await HttpServer(unit.application).start([listener, *by_path])
        tune_gc()
        use_huge_pages()
        report.send(listener.getsockname()[1])
        await asyncio.Event().wait()

    uvloop.run(serve())
