"""A Control Plane in a process of its own, on an embedded PostgreSQL that nobody else uses."""

import asyncio
import hashlib
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import uvloop

from aop.control_plane.app import build
from aop.control_plane.settings import read_control_plane_settings
from aop.net.server import HttpServer, listening_socket
from benchmarks._store import migrated_store
from benchmarks.measure import peer_process


@dataclass(frozen=True)
class BenchedControlPlane:
    database_url: str
    pid: int
    port: int
    principal: str
    token: str

    def resident_megabytes(self) -> float:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def peak_megabytes(self) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024


@asynccontextmanager
async def control_plane(service_token: str) -> AsyncIterator[BenchedControlPlane]:
    """The service token is the one a Router would show."""
    async with migrated_store() as store:
        with peer_process(partial(_serve, store.url, service_token)) as (pid, port):
            yield BenchedControlPlane(store.url, pid, port, "benchmark", store.token)


def _serve(url: str, service_token: str, report: Connection) -> None:
    # The log of requests is part of what they cost; nobody reads it here.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    principal = {"id": "router", "tokenSha256": hashlib.sha256(service_token.encode()).hexdigest()}
    settings = read_control_plane_settings(
        {
            "PLATFORM_DATABASE_URL": url,
            "PLATFORM_ROUTER_INTERNAL_ORIGIN": "http://127.0.0.1:1",
            "PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN": service_token,
            "PLATFORM_INTERNAL_PRINCIPALS_JSON": json.dumps([principal]),
        }
    )

    async def serve() -> None:
        unit = await build(settings)
        listener = listening_socket("127.0.0.1", 0)
        await HttpServer(unit.application).start([listener])
        report.send(listener.getsockname()[1])
        await asyncio.Event().wait()

    uvloop.run(serve())
