"""A Control Plane and a scripted Agent in the test's loop around Routers that are processes of their own."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import asyncpg

from aop.base.http import HttpClient, HttpError
from aop.control_plane.app import build as build_control_plane
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.ledger.writing import breaches
from tests.support.agent import ScriptedAgent, credential_of, invocation_of, scripted_agent
from tests.support.catalog import opened_catalog
from tests.support.loop import CAPABILITY, SPACE, agent_card, allowed_hosts, published
from tests.support.settings import control_plane_environment, router_environment
from tests.support.units import Reply, RunningUnit, running
from tests.support.waiting import becomes_true
from tests.support.workspaces import Owner

ENDED = (
    "SELECT invocation.invocation_id, count(event.type) FILTER (WHERE event.type <> 'stream') AS terminals,"
    " max(event.type) FILTER (WHERE event.type <> 'stream') AS type, max(event.error_code) AS code"
    " FROM ledger.invocation LEFT JOIN ledger.event USING (invocation_id) GROUP BY 1"
)


@dataclass
class RouterProcess:
    """Started, killed and started again on one port with one id."""

    settings: dict[str, str]
    port: int
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "aop", "router"),
            env={**self.settings, "PATH": os.defpath},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        client = HttpClient(idle_seconds=0, connect_seconds=5)
        unit = RunningUnit(None, None, self.port, client)  # type: ignore[arg-type]

        async def ready() -> bool:
            with suppress(HttpError, OSError):
                return (await unit.get("/readyz")).status == 200
            return False

        try:
            await becomes_true(ready, 30)
        finally:
            await client.close()

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    async def ended(self, seconds: float = 10) -> tuple[int, str]:
        assert self.process is not None
        async with asyncio.timeout(seconds):
            _, said = await self.process.communicate()
        return self.process.returncode or 0, said.decode()

    async def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.send(signal.SIGKILL)
            await self.ended()


@dataclass(frozen=True)
class Scene:
    gateway: RunningUnit
    owner: Owner
    agent: ScriptedAgent
    router: RouterProcess
    stores: DatabaseUrls
    superuser: str
    agent_id: str
    others: list[RouterProcess] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    async def forget(self) -> None:
        """What was until now is no longer looked at."""
        self.known.update(await self.outcomes())
        self.agent.received.clear()

    async def invoke(self, **content: Any) -> Reply:
        body = {"agentId": self.agent_id, "capability": CAPABILITY, "input": content, "stream": False}
        return await self.owner.ask("POST", f"/{SPACE}/invocations", body)

    async def read(self, path: str) -> Reply:
        return await self.owner.ask("GET", f"/{SPACE}{path}")

    async def outcomes(self) -> dict[str, tuple[int, str | None, str | None]]:
        """Of every recorded Invocation: how many terminals, the terminal, its code."""
        connection = await asyncpg.connect(self.stores.router)
        try:
            rows = await connection.fetch(ENDED)
        finally:
            await connection.close()
        return {f"inv_{row['invocation_id'].hex}": (row["terminals"], row["type"], row["code"]) for row in rows}

    async def cancel_requested(self) -> None:
        """Waits until a cancel request is recorded of an Invocation that is looked at."""
        connection = await asyncpg.connect(self.stores.router)

        async def is_there() -> bool:
            rows = await connection.fetch("SELECT invocation_id FROM ledger.cancel_request")
            return not {f"inv_{row['invocation_id'].hex}" for row in rows} <= self.known

        try:
            await becomes_true(is_there)
        finally:
            await connection.close()

    async def waiting_writers(self, number: int) -> None:
        connection = await asyncpg.connect(self.superuser)

        async def enough() -> bool:
            waiting = (
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            return int(await connection.fetchval(waiting)) >= number

        try:
            await becomes_true(enough)
        finally:
            await connection.close()

    @asynccontextmanager
    async def locked(self, table: str) -> AsyncIterator[None]:
        """Nothing can be added to the table meanwhile."""
        connection = await asyncpg.connect(self.superuser)
        try:
            async with connection.transaction():
                await connection.execute(f"LOCK TABLE ledger.{table} IN SHARE MODE")
                yield
        finally:
            await connection.close()

    def successor(self) -> RouterProcess:
        """A Router of the same id on another port."""
        port = free_port()
        other = RouterProcess({**self.router.settings, "PLATFORM_ROUTER_LISTEN_ADDRESS": f"127.0.0.1:{port}"}, port)
        self.others.append(other)
        return other

    async def require_sound(self) -> dict[str, tuple[int, str | None, str | None]]:
        """What holds after every fault, once a Router is up again."""
        outcomes = {key: value for key, value in (await self.outcomes()).items() if key not in self.known}
        assert {terminals for terminals, _, _ in outcomes.values()} <= {1}
        assert await breaches(self.stores.router) == []
        sent = [invocation_of(call) for call in self.agent.calls("message/send")]
        assert len(sent) == len(set(sent))
        assert set(sent) <= set(outcomes)
        canceled = [invocation_of(call) for call in self.agent.calls("tasks/cancel")]
        assert len(canceled) == len(set(canceled))
        tokens = [credential_of(call).claims["jti"] for call in self.agent.received]
        assert len(tokens) == len(set(tokens))
        return outcomes


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def scene(stores: DatabaseUrls, superuser: str, **router: str) -> AsyncIterator[Scene]:
    """With a Router that is ready."""
    token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    port = free_port()
    async with scripted_agent() as agent, opened_catalog(stores) as catalog:
        card = agent_card(agent)
        await published(catalog, card)
        allowed = allowed_hosts(agent)
        settings = control_plane_environment(
            PLATFORM_DATABASE_URL=stores.control_plane,
            PLATFORM_ROUTER_INTERNAL_ORIGIN=f"http://127.0.0.1:{port}",
            PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON=allowed,
        )
        async with running(lambda: build_control_plane(read_control_plane_settings(settings))) as gateway:
            process = RouterProcess(
                router_environment(
                    PLATFORM_ROUTER_DATABASE_URL=stores.router,
                    PLATFORM_ROUTER_LISTEN_ADDRESS=f"127.0.0.1:{port}",
                    PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN=gateway.origin,
                    PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON=allowed,
                    **router,
                ),
                port,
            )
            owner = Owner(gateway, token)
            await owner.workspace(SPACE)
            await owner.install(card["agentId"], accepted=[])
            made = Scene(gateway, owner, agent, process, stores, superuser, card["agentId"])
            await process.start()
            try:
                yield made
            finally:
                for router_process in (process, *made.others):
                    await router_process.kill()


def same(one: Reply, other: Reply) -> bool:
    """Two reads tell the same."""
    return one.status == other.status == 200 and json.loads(one.body) == json.loads(other.body)
