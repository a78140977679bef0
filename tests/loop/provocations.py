"""How each reason of a refusal by the platform itself is provoked: with real calls, a real parent, a real store."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from aop.base.ids import new_hex_id, new_id
from aop.contracts.publication import Release, ReleaseState
from aop.control_plane.gateway.tokens import issue_token
from tests.loop.test_nested_refusals import forged
from tests.support.cards import some_limits
from tests.support.catalog import provider_of
from tests.support.errors import require_error
from tests.support.locks import waiting_for_a_lock
from tests.support.loop import SILENT_HOST, SPACE, Platform, agent_card, open_skill, published
from tests.support.nested import NESTED, nested_body, running_parent
from tests.support.postgres import PostgresForTests
from tests.support.publication import Provider
from tests.support.units import Reply
from tests.support.workspaces import crowd_of_callers


class Scene:
    """A platform, the provider of its Agents, and the store as its superuser sees it."""

    def __init__(self, platform: Platform, postgres: PostgresForTests) -> None:
        self.platform = platform
        self.postgres = postgres
        self.provider = Provider(platform.gateway, platform.token, "alice", provider_of("alice"))

    async def get(self, path: str) -> Reply:
        return await self.provider.get(path)

    async def in_space(self, path: str, space: str = SPACE) -> Reply:
        return await self.provider.get(f"/v1/workspaces/{space}{path}")

    async def registered(self, **members: Any) -> dict[str, Any]:
        card = agent_card(self.platform.agent, agent_id=f"acme:{new_id('agent')}", **members)
        await self.platform.catalog.register(card)
        return card

    async def released(self, state: ReleaseState) -> Release:
        return await self.platform.catalog.release(await self.registered(), state)

    def binding(self, release: Release) -> str:
        return f"{self.provider.path}/endpoint-bindings/{release.endpoint_binding_id}"

    async def execute(self, *statements: str) -> None:
        for statement in statements:
            await self.postgres.execute(statement, self._database)

    @asynccontextmanager
    async def row_changed_elsewhere(self, statement: str, key: str) -> AsyncIterator[None]:
        """Somebody else changes a row; it is committed when a statement of ours waits for it."""
        connection = await asyncpg.connect(self.postgres.url(self._database))
        try:
            async with connection.transaction():
                await connection.execute(statement, key)
                yield
                await waiting_for_a_lock(self.postgres, self.platform.stores)
        finally:
            await connection.close()

    @property
    def _database(self) -> str:
        return self.platform.stores.migration.rpartition("/")[2]


async def already_installed(scene: Scene) -> Reply:
    return await scene.platform.owner.try_install(scene.platform.card["agentId"], accepted=())


async def already_exists(scene: Scene) -> Reply:
    return await scene.platform.owner.ask("POST", "", {"workspaceId": SPACE})


async def state_changed(scene: Scene) -> Reply:
    _, _, installation_id = await scene.platform.installed()
    change = "UPDATE workspace.installation SET status = 'disabled', updated_at = now() WHERE installation_id = $1"
    async with scene.row_changed_elsewhere(change, installation_id):
        moving = asyncio.create_task(scene.platform.owner.set_status(installation_id, "disabled"))
    return await moving


async def installation_state(scene: Scene) -> Reply:
    _, _, installation_id = await scene.platform.installed()
    return await scene.platform.owner.set_status(installation_id, "enabled")


async def parent_not_running(scene: Scene) -> Reply:
    async with running_parent(scene.platform) as parent:
        body = nested_body(parent.target)
    await scene.platform.ended(parent.invocation_id)
    return await scene.platform.router.post(NESTED, body, token=parent.delegation)


async def not_numbered_yet(scene: Scene) -> Reply:
    async with running_parent(scene.platform) as parent:
        return await scene.in_space(f"/invocations/{parent.invocation_id}/bundle")


async def archived(scene: Scene) -> Reply:
    trace = new_hex_id()
    await scene.execute(f"INSERT INTO ledger.detached_trace VALUES ('{trace}', '{SPACE}')")
    return await scene.in_space(f"/traces/{trace}")


async def card_state(scene: Scene) -> Reply:
    card = scene.platform.card
    return await scene.provider.post(f"/v1/agents/{card['agentId']}/versions/{card['version']}/publish")


async def binding_verified(scene: Scene) -> Reply:
    return await scene.provider.post(f"{scene.binding(scene.platform.release)}/challenges")


async def binding_failed(scene: Scene) -> Reply:
    binding = await scene.provider.new_binding(f"http://{SILENT_HOST}:9/a2a", f"acme:{new_id('agent')}")
    assert (await scene.provider.complete(await scene.provider.challenge(binding))).status == 503
    return await scene.provider.request_release(binding)


async def binding_not_verified(scene: Scene) -> Reply:
    release = await scene.released(ReleaseState.PENDING_VERIFICATION)
    return await scene.provider.post(f"/v1/releases/{release.release_id}/verify")


async def binding_evidence_changed(scene: Scene) -> Reply:
    """No call can do this to a verified Binding; a restored or repaired store could."""
    release = await scene.released(ReleaseState.VERIFIED)
    await scene.execute(
        "ALTER TABLE registry.binding DISABLE TRIGGER USER",
        f"UPDATE registry.binding SET evidence_digest = repeat('b', 64)"
        f" WHERE binding_id = '{release.endpoint_binding_id}'",
        "ALTER TABLE registry.binding ENABLE TRIGGER USER",
    )
    return await scene.provider.post(f"/v1/releases/{release.release_id}/publish")


async def release_state(scene: Scene) -> Reply:
    return await scene.provider.post(f"/v1/releases/{scene.platform.release.release_id}/publish")


async def agent_of_other_provider(scene: Scene) -> Reply:
    other = Provider(scene.platform.gateway, scene.platform.token, "alice", "another-of-alice")
    return await other.bind(scene.platform.agent.url, scene.platform.card["agentId"])


async def version_range_empty(scene: Scene) -> Reply:
    card = await scene.registered()
    await scene.platform.catalog.release(card)
    return await scene.platform.owner.try_install(card["agentId"], "^9.0.0", accepted=())


async def agent_unknown(scene: Scene) -> Reply:
    replies = [
        await scene.get("/v1/agents/acme:nobody"),
        await scene.get("/v1/agents/acme:nobody/versions/1.0.0"),
        await scene.get(f"/v1/public/agents/agt_{'0' * 32}"),
        await scene.platform.owner.try_install("acme:nobody", accepted=()),
    ]
    assert {reply.json.get("reason") for reply in replies} == {"agent_unknown"}
    return replies[0]


async def challenge_unknown(scene: Scene) -> Reply:
    return await scene.provider.post(f"{scene.binding(scene.platform.release)}/challenges/{new_id('chal')}/complete")


async def permission_not_accepted(scene: Scene) -> Reply:
    permission = {"id": "notes.read", "description": "Reads notes."}
    card = agent_card(
        scene.platform.agent,
        agent_id=f"acme:{new_id('agent')}",
        skills=[open_skill(requiredPermissions=["notes.read"])],
        permissions=[permission],
    )
    await published(scene.platform.catalog, card)
    await scene.platform.owner.install(card["agentId"], accepted=())
    return await scene.platform.invoke(agentId=card["agentId"])


async def depth_limit(scene: Scene) -> Reply:
    async with running_parent(scene.platform) as parent:
        body = nested_body(parent.target)
        return await scene.platform.router.post(NESTED, body, token=forged(parent, depth=16))


async def not_owner(scene: Scene) -> Reply:
    card = agent_card(scene.platform.agent, agent_id="acme:of-bob")
    card["owner"]["id"] = "bob"
    return await scene.provider.post("/v1/agents", card)


async def not_caller(scene: Scene) -> Reply:
    stranger = (await issue_token(scene.platform.stores.control_plane, "mallory")).token.reveal()
    path = f"/v1/workspaces/{SPACE}/invocations"
    return await scene.platform.gateway.post(path, scene.platform.request(), token=stranger)


async def caller_is_owner(scene: Scene) -> Reply:
    return await scene.platform.owner.ask("PUT", f"/{SPACE}/callers/alice")


async def caller_unknown(scene: Scene) -> Reply:
    return await scene.platform.owner.ask("DELETE", f"/{SPACE}/callers/nobody")


async def caller_limit(scene: Scene) -> Reply:
    await scene.platform.owner.workspace("crowded")
    await scene.execute(crowd_of_callers("crowded", 1_000))
    return await scene.platform.owner.ask("PUT", "/crowded/callers/one-more")


async def input_size(scene: Scene) -> Reply:
    card, _, _ = await scene.platform.installed(limits=some_limits(maxInputBytes=10))
    return await scene.platform.invoke(b'{"text":"longer than ten bytes"}', agentId=card["agentId"])


async def store_unavailable(scene: Scene) -> Reply:
    """Before acceptance: the store refuses the Control Plane a read, then the Router its first write."""
    await scene.execute("REVOKE SELECT ON workspace.workspace FROM aop_control_plane")
    reply = await scene.in_space("")
    await scene.execute("GRANT SELECT ON workspace.workspace TO aop_control_plane")
    require_error(reply, 503, "DEPENDENCY_ERROR", "3", "store_unavailable")
    await scene.execute("REVOKE INSERT ON ledger.invocation FROM aop_router")
    reply = await scene.platform.invoke()
    await scene.execute("GRANT INSERT ON ledger.invocation TO aop_router")
    return reply


async def outcome_unknown(scene: Scene) -> Reply:
    """After acceptance: the terminal is not recorded before the store takes it again."""
    await scene.execute("REVOKE INSERT ON ledger.event FROM aop_router")
    reply = await scene.platform.invoke()
    await scene.execute("GRANT INSERT ON ledger.event TO aop_router")
    await scene.platform.ended(reply.json["invocationId"])
    await scene.platform.require_failed(reply, 503, "DEPENDENCY_ERROR")
    return reply
