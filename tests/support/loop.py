"""The whole platform for tests: Control Plane and Router on real sockets around an installed, scripted Agent."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import asyncpg

from aop.contracts.documents import document
from aop.contracts.publication import Release, ReleaseState
from aop.control_plane.app import build as build_control_plane
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import ControlPlaneSettings, read_control_plane_settings
from aop.local.state import DatabaseUrls
from aop.net.server import listening_socket
from aop.router.app import RouterEnvironment
from aop.router.app import build as build_router
from aop.router.settings import read_router_settings
from tests.support.agent import ScriptedAgent, scripted_agent
from tests.support.callers import asking
from tests.support.cards import Card, a_card, a_skill
from tests.support.catalog import Catalog, opened_catalog
from tests.support.errors import require_error
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, control_plane_environment, router_environment
from tests.support.units import Headers, Reply, RunningUnit, running
from tests.support.waiting import PATIENCE_SECONDS, becomes_true
from tests.support.watch_proxy import WatchProxy
from tests.support.workspaces import Owner

SPACE = "space"
CAPABILITY = "work"
SILENT_HOST = "127.0.0.9"
"""May be contacted, but nothing listens there."""
STATUS = "/internal/v1/topology/status"
TERMINALS = {"succeeded", "failed", "canceled", "timed_out"}


def open_skill(skill_id: str = CAPABILITY, **members: Any) -> dict[str, Any]:
    """A Skill that takes any object and gives anything."""
    return a_skill(skill_id, **{"inputSchema": {"type": "object"}, "outputSchema": {}, **members})


@dataclass(frozen=True)
class Platform:
    gateway: RunningUnit
    router: RunningUnit
    """In front of a scripted Router this is the Gateway again; nobody asks it anything."""
    agent: ScriptedAgent
    catalog: Catalog
    owner: Owner
    stores: DatabaseUrls
    card: Card
    release: Release
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    async def installed(self, **members: Any) -> tuple[Card, Release, str]:
        """Another Agent behind the same endpoint, published and installed: Card, Release, installationId."""
        card = agent_card(self.agent, agent_id=f"acme:agent-{next(self._numbers)}", **members)
        release = await published(self.catalog, card)
        permissions = [permission["id"] for permission in card["permissions"]]
        installation = await self.owner.install(card["agentId"], accepted=permissions)
        await self.sees(release, "published")
        return card, release, installation["installationId"]

    async def move(self, release: Release, state: ReleaseState) -> None:
        await self.catalog.move("alice", release, state)

    async def sees(self, release: Release, state: str) -> None:
        """Waits until the Router has learned that state of the Release."""

        async def is_known() -> bool:
            seen = (await self.router.get(STATUS, token=CONTROL_PLANE_TO_ROUTER)).json["observations"]
            return any((item["releaseId"], item["state"]) == (release.release_id, state) for item in seen)

        await becomes_true(is_known)

    def request(self, content: bytes = b"{}", **members: Any) -> bytes:
        """The body of an invocation; `content` is the input as it is to be written."""
        wanted = {"agentId": self.card["agentId"], "capability": CAPABILITY, "stream": False, **members}
        return json.dumps(wanted).encode()[:-1] + b', "input": ' + content + b"}"

    async def invoke(self, content: bytes = b"{}", *, headers: Headers = (), **members: Any) -> Reply:
        path = f"/v1/workspaces/{SPACE}/invocations"
        return await self.gateway.ask("POST", path, self.request(content, **members), token=self.token, headers=headers)

    @property
    def token(self) -> str:
        return self.owner.token

    async def read(self, path: str) -> Any:
        reply = await self.gateway.get(f"/v1/workspaces/{SPACE}{path}", token=self.token)
        assert reply.status == 200, reply.body
        return reply.json

    async def detail(self, invocation_id: str) -> Any:
        """The record and events of an Invocation, which must form one sound chain."""
        found = await self.read(f"/invocations/{invocation_id}")
        assert document("invocation-detail/2").violations(found) == ()
        types = [event["type"] for event in found["events"]]
        assert [event["sequence"] for event in found["events"]] == list(range(len(types)))
        assert not TERMINALS & set(types[:-1])
        assert found["invocation"]["status"] == found["events"][-1]["status"]
        return found

    async def types(self, invocation_id: str) -> list[str]:
        return [event["type"] for event in (await self.detail(invocation_id))["events"]]

    async def ended(self, invocation_id: str, seconds: float = PATIENCE_SECONDS) -> Any:
        """The detail, once there is a terminal."""

        async def has_ended() -> bool:
            return bool(TERMINALS & set(await self.types(invocation_id)))

        await becomes_true(has_ended, seconds)
        return await self.detail(invocation_id)

    async def recorded(self) -> int:
        """How many Invocations the Ledger holds."""
        connection = await asyncpg.connect(self.stores.router)
        try:
            number: int = await connection.fetchval("SELECT count(*) FROM ledger.invocation")
        finally:
            await connection.close()
        return number

    async def require_failed(self, reply: Reply, status: int, code: str, *types: str) -> Any:
        """A correlated error of five members, perhaps with a reason, which the Ledger tells too; gives its detail."""
        require_error(reply, status, code, "4")
        assert set(reply.json) - {"reason"} == {"code", "message", "traceId", "invocationId", "rootTaskId"}
        detail = await self.detail(reply.json["invocationId"])
        last = detail["events"][-1]
        assert last["error"] == reply.json
        shown = detail["invocation"]
        assert (shown["errorCode"], shown.get("reason")) == (code, reply.json.get("reason"))
        expected = {"TIMEOUT": "timed_out", "CANCELED": "canceled"}.get(code, "failed")
        assert [event["type"] for event in detail["events"]] == [
            *(types or ("created", "routing", "started")),
            expected,
        ]
        return detail

    async def require_refused(self, reply: Reply, status: int, code: str, recorded: int) -> None:
        """An error before acceptance: no id, nothing new in the Ledger."""
        require_error(reply, status, code, "4")
        allowed = {"code", "message", "traceId"} | ({"violations"} if code == "VALIDATION_ERROR" else set())
        assert set(reply.json) - {"reason"} == allowed
        assert await self.recorded() == recorded


def agent_card(agent: ScriptedAgent, *, agent_id: str = "acme:agent", **members: Any) -> Card:
    usual: dict[str, Any] = {"skills": [open_skill()], "permissions": []}
    return a_card(agent_id=agent_id, endpoint=agent.url, **{**usual, **members})


async def published(catalog: Catalog, card: Card) -> Release:
    await catalog.register(card)
    return await catalog.release(card)


@dataclass(frozen=True)
class Changes:
    """What a test wants otherwise: settings of the units, the world around the Router, members of the Card."""

    control_plane: Mapping[str, str] = field(default_factory=dict)
    router: Mapping[str, str] = field(default_factory=dict)
    environment: RouterEnvironment | None = None
    card: Mapping[str, Any] = field(default_factory=dict)
    agent_name: str = "127.0.0.1"
    adjust: Callable[[ControlPlaneSettings], ControlPlaneSettings] = lambda settings: settings
    """For what no environment can say."""
    line: WatchProxy | None = None
    """Between the Router and the Control Plane."""


@asynccontextmanager
async def running_platform(stores: DatabaseUrls, changes: Changes = Changes()) -> AsyncIterator[Platform]:  # noqa: B008
    token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    async with scripted_agent(changes.agent_name) as agent, opened_catalog(stores) as catalog:
        card = agent_card(agent, **changes.card)
        release = await published(catalog, card)
        listener = listening_socket("127.0.0.1", 0)
        async with (
            _control_plane(stores, agent, listener.getsockname()[1], changes) as gateway,
            _router(stores, agent, listener, changes, gateway) as router,
        ):
            owner = Owner(gateway, token)
            await owner.workspace(SPACE)
            await owner.install(card["agentId"], accepted=[item["id"] for item in card["permissions"]])
            platform = Platform(gateway, router, agent, catalog, owner, stores, card, release)
            await platform.sees(release, "published")
            yield platform


@asynccontextmanager
async def gateway_alone(
    stores: DatabaseUrls,
    router_port: int,
    changes: Changes = Changes(),  # noqa: B008
) -> AsyncIterator[Platform]:
    """The Control Plane with an installed Agent; the Router is whatever listens on that port."""
    token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    async with scripted_agent() as agent, opened_catalog(stores) as catalog:
        card = agent_card(agent, **changes.card)
        release = await published(catalog, card)
        async with _control_plane(stores, agent, router_port, changes) as gateway:
            owner = Owner(gateway, token)
            await owner.workspace(SPACE)
            await owner.install(card["agentId"], accepted=[])
            yield Platform(gateway, gateway, agent, catalog, owner, stores, card, release)


def allowed_hosts(agent: ScriptedAgent) -> str:
    return json.dumps([f"{agent.name}:{agent.port}", SILENT_HOST])


def _control_plane(
    stores: DatabaseUrls, agent: ScriptedAgent, router_port: int, changes: Changes
) -> AbstractAsyncContextManager[RunningUnit]:
    environment = control_plane_environment(
        PLATFORM_DATABASE_URL=stores.control_plane,
        PLATFORM_ROUTER_INTERNAL_ORIGIN=f"http://127.0.0.1:{router_port}",
        **{"PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON": allowed_hosts(agent), **changes.control_plane},
    )
    settings = changes.adjust(read_control_plane_settings(environment))
    return running(lambda: build_control_plane(settings))


def _router(
    stores: DatabaseUrls, agent: ScriptedAgent, listener: socket.socket, changes: Changes, gateway: RunningUnit
) -> AbstractAsyncContextManager[RunningUnit]:
    origin = gateway.origin
    if changes.line is not None:
        changes.line.target, origin = gateway.port, changes.line.origin
    environment = router_environment(
        PLATFORM_ROUTER_DATABASE_URL=stores.router,
        PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN=origin,
        **{"PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON": allowed_hosts(agent), **changes.router},
    )
    settings = read_router_settings(environment)
    return running(lambda: build_router(settings, changes.environment), listener)


@asynccontextmanager
async def invoking(platform: Platform, content: bytes = b"{}", **members: Any) -> AsyncIterator[asyncio.Task[int]]:
    """A caller of the Gateway who leaves at the end of the scope."""
    headers = ((b"authorization", f"Bearer {platform.token}".encode()),)
    path = f"/v1/workspaces/{SPACE}/invocations"
    async with asking(platform.gateway, path, platform.request(content, **members), headers) as task:
        yield task
