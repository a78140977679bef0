"""Owners of Workspaces as the Gateway sees them: every answer they take is checked against its document."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg

from aop.contracts.documents import document
from aop.contracts.publication import Release, ReleaseState
from aop.local.state import DatabaseUrls
from tests.support.cards import Card, a_card
from tests.support.catalog import Catalog
from tests.support.postgres import PostgresForTests
from tests.support.units import Reply, RunningUnit

AGENT = "acme:summarizer"
ALL = ("documents.read",)
_LISTS = {
    "workspaces": "workspace-item/1",
    "installations": "installation-item/2",
    "callers": "workspace-caller/1",
    "invocations": "invocation-record/2",
}


@dataclass(frozen=True)
class Owner:
    gateway: RunningUnit
    token: str

    async def ask(self, method: str, path: str, body: object = None) -> Reply:
        return await self.gateway.ask(method, f"/v1/workspaces{path}", body, token=self.token)

    async def workspace(self, workspace_id: str = "space") -> Any:
        return taken(await self.ask("POST", "", {"workspaceId": workspace_id}), 201, "workspace/1")

    async def try_install(
        self, agent_id: str = AGENT, constraint: str = "*", accepted: Sequence[str] = ALL, space: str = "space"
    ) -> Reply:
        body = {"agentId": agent_id, "versionConstraint": constraint, "acceptedPermissions": list(accepted)}
        return await self.ask("POST", f"/{space}/installations", body)

    async def try_replace(
        self, installation_id: str, constraint: str, accepted: Sequence[str] = ALL, agent_id: str = AGENT
    ) -> Reply:
        body = {"agentId": agent_id, "versionConstraint": constraint, "acceptedPermissions": list(accepted)}
        return await self.ask("POST", "/space/installations", {**body, "replaces": installation_id})

    async def replace(self, installation_id: str, constraint: str, accepted: Sequence[str] = ALL) -> Any:
        return taken(await self.try_replace(installation_id, constraint, accepted), 201, "installation/2")

    async def install(
        self, agent_id: str = AGENT, constraint: str = "*", accepted: Sequence[str] = ALL, space: str = "space"
    ) -> Any:
        return taken(await self.try_install(agent_id, constraint, accepted, space), 201, "installation/2")

    async def installation(self, installation_id: str, space: str = "space") -> Any:
        return taken(await self.ask("GET", f"/{space}/installations/{installation_id}"), 200, "installation/2")

    async def set_status(self, installation_id: str, status: str, space: str = "space") -> Reply:
        return await self.ask("PATCH", f"/{space}/installations/{installation_id}", {"status": status})

    async def uninstall(self, installation_id: str, space: str = "space") -> Reply:
        return await self.ask("DELETE", f"/{space}/installations/{installation_id}")

    async def add_caller(self, principal_id: str, space: str = "space") -> Any:
        reply = await self.ask("PUT", f"/{space}/callers/{principal_id}")
        return taken(reply, 201, "workspace-caller/1")

    async def remove_caller(self, principal_id: str, space: str = "space") -> Any:
        reply = await self.ask("DELETE", f"/{space}/callers/{principal_id}")
        return taken(reply, 200, "workspace-caller/1")

    async def page(self, path: str, query: str = "") -> Any:
        """One page of `` (the caller's Workspaces), `/:workspaceId/installations` or `/:workspaceId/callers`."""
        reply = await self.ask("GET", path + query)
        name = path.rpartition("/")[2] or "workspaces"
        assert reply.status == 200, reply.body
        assert all(document(_LISTS[name]).violations(item) == () for item in reply.json["items"])
        assert set(reply.json) <= {"items", "nextCursor"}
        return reply.json

    async def pages(self, path: str, limit: int, filters: str = "") -> list[list[Any]]:
        """`filters` begin with an ampersand."""
        page = await self.page(path, f"?limit={limit}{filters}")
        pages = [page["items"]]
        while "nextCursor" in page:
            page = await self.page(path, f"?limit={limit}{filters}&cursor={page['nextCursor']}")
            pages.append(page["items"])
        return pages


def taken(reply: Reply, status: int, name: str) -> Any:
    """The body of a good answer, which its document accepts."""
    assert reply.status == status, reply.body
    assert document(name).violations(reply.json) == ()
    assert (reply.header("content-type"), reply.header("cache-control")) == ("application/json", "no-store")
    return reply.json


def crowd_of_callers(space: str, count: int) -> str:
    """A statement that makes that many principals callers of the Workspace, all at one moment."""
    return (
        "INSERT INTO workspace.caller (workspace_id, principal_id, added_at, added_by, workspace_created_at)"
        " SELECT workspace_id, 'crowd-' || lpad(n::text, 4, '0'), created_at, owner_id, created_at"
        f" FROM workspace.workspace, generate_series(1, {count}) AS n WHERE workspace_id = '{space}'"
    )


async def a_release(
    catalog: Catalog, version: str = "1.0.0", state: ReleaseState = ReleaseState.PUBLISHED, **members: Any
) -> tuple[Card, Release]:
    """A registered Card of Alice's with a Release in that state."""
    card = a_card(version=version, **members)
    await catalog.register(card)
    return card, await catalog.release(card, state)


@dataclass(frozen=True)
class Rows:
    """The store beneath a test, as its superuser sees it."""

    postgres: PostgresForTests
    stores: DatabaseUrls

    async def execute(self, *statements: str) -> None:
        for statement in statements:
            await self.postgres.execute(statement, self.stores.migration.rpartition("/")[2])

    async def tamper(self, table: str, change: str) -> None:
        """Changes facts that never change, past triggers and constraints."""
        await self.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER", f"UPDATE {table} SET {change}")

    async def installations(self) -> list[dict[str, Any]]:
        connection = await asyncpg.connect(self.stores.control_plane)
        try:
            rows = await connection.fetch("SELECT * FROM workspace.installation ORDER BY installation_id")
        finally:
            await connection.close()
        return [dict(row) for row in rows]
