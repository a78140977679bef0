"""A Workspace with one Installation, and the questions a Router asks about it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aop.base.ids import new_id, new_trace_id
from aop.contracts.publication import Release, ReleaseState
from aop.control_plane.dispatch.authorization import AccessRequest, Authorization
from aop.control_plane.workspace.installation_states import Permit
from tests.support.cards import Card, a_card, a_skill
from tests.support.catalog import Catalog
from tests.support.settings import ROUTER_TO_CONTROL_PLANE
from tests.support.units import Reply
from tests.support.workspaces import Owner, Rows

AGENT_PATH = "/internal/v1/resolve-agent"


@dataclass
class Scene:
    """One installed Agent in one Workspace, and the Router that asks for it."""

    owner: Owner
    catalog: Catalog
    rows: Rows
    card: Card
    release: Release
    installation_id: str
    space: str
    changes: dict[str, str] = field(default_factory=dict)

    def question(self, path: str = AGENT_PATH) -> dict[str, str]:
        named = {
            "invocationId": new_id("inv"),
            "rootTaskId": new_id("task"),
            "traceId": new_trace_id(),
            "workspaceId": self.space,
            "agentId": self.card["agentId"],
            "version": self.card["version"],
            "capability": "summarize",
        } | self.changes
        return named if path == AGENT_PATH else {name: text for name, text in named.items() if name != "version"}

    async def resolve(self, path: str = AGENT_PATH, **members: str) -> Reply:
        body = self.question(path) | members
        reply = await self.owner.gateway.post(path, body, token=ROUTER_TO_CONTROL_PLANE)
        assert reply.header("x-platform-trace-id") == body["traceId"]
        return reply

    async def move(self, state: ReleaseState) -> None:
        await self.catalog.move("alice", self.release, state)


@asynccontextmanager
async def a_scene(owner: Owner, catalog: Catalog, rows: Rows, name: str = "one") -> AsyncIterator[Scene]:
    skills = [a_skill("summarize", requiredPermissions=["documents.read"]), a_skill("greet")]
    skills.append(a_skill("send", requiredPermissions=["documents.read", "mail.send"]))
    permissions = [{"id": item, "description": "Something."} for item in ("documents.read", "mail.send")]
    card = a_card(agent_id=f"acme:{name}", version="1.2.0", skills=skills, permissions=permissions)
    await catalog.register(card)
    release = await catalog.release(card)
    await owner.workspace(name)
    installed = await owner.install(card["agentId"], space=name)
    yield Scene(owner, catalog, rows, card, release, installed["installationId"], name)


async def decided(authorization: Authorization, caller: str, access: AccessRequest) -> Permit:
    """As the Gateway does it for a call."""
    return await authorization.for_caller(access, authorization.begin(caller, access))
