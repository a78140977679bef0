"""The whole loop through the client, on the running platform: publish, prove, release, install, invoke, inspect."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from aop.base.canonical import digest
from aop.client import Client, InvocationFailed, PlatformError, TokenNeeded
from aop.contracts.catalog import Availability, PublicationStatus
from aop.contracts.compatibility import Compatible
from aop.contracts.errors import ErrorCode, Violation
from aop.contracts.health import HealthStatus, RouterHealth
from aop.contracts.lineage import InvocationStatus
from aop.contracts.publication import ReleaseState, VerificationStatus
from aop.contracts.recovery import RecoveryOwner
from aop.contracts.topology import WatchedState
from aop.contracts.workspace import InstallationStatus
from tests.client.adder import AGENT, CAPABILITY
from tests.support.agent import a_message, data, rpc_error
from tests.support.cards import Card
from tests.support.loop import Platform, agent_card
from tests.support.peers import hold
from tests.support.waiting import becomes_true

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROVIDER = "acme"
ANSWER = {"number": 1.5, "text": "ä"}


def a_new_card(platform: Platform, name: str, version: str = "1.0.0") -> Card:
    return agent_card(platform.agent, agent_id=f"acme:{name}", version=version)


async def published(client: Client, platform: Platform, card: Card) -> str:
    """The id of its published Release."""
    agent_id, version = card["agentId"], card["version"]
    await client.register_agent_card(card)
    binding = await client.create_endpoint_binding(PROVIDER, agent_id, version, card["protocol"]["endpoint"])
    challenge = await client.create_challenge(PROVIDER, binding.binding_id)
    platform.agent.serve(challenge.challenge_id, challenge.proof)
    await client.complete_challenge(PROVIDER, binding.binding_id, challenge.challenge_id)
    release = await client.create_release(PROVIDER, agent_id, version, binding.binding_id)
    return (await client.publish_release(release.release_id)).release_id


async def test_an_agent_is_published_step_by_step(client: Client, platform: Platform) -> None:
    card = a_new_card(platform, "stepwise")
    entry = await client.register_agent_card(card)
    assert (entry.publication_status, entry.release, entry.installable) == (PublicationStatus.DRAFT, None, False)
    binding = await client.create_endpoint_binding(PROVIDER, "acme:stepwise", "1.0.0", platform.agent.url)
    release = await client.create_release(PROVIDER, "acme:stepwise", "1.0.0", binding.binding_id)
    assert release.state is ReleaseState.PENDING_VERIFICATION
    challenge = await client.create_challenge(PROVIDER, binding.binding_id)
    assert challenge.proof not in repr(challenge)
    platform.agent.serve(challenge.challenge_id, challenge.proof)
    verified = await client.complete_challenge(PROVIDER, binding.binding_id, challenge.challenge_id)
    assert verified.verification_status is VerificationStatus.VERIFIED
    assert await client.read_endpoint_binding(PROVIDER, binding.binding_id) == verified
    assert (await client.verify_release(release.release_id)).state is ReleaseState.VERIFIED
    assert (await client.publish_release(release.release_id)).state is ReleaseState.PUBLISHED
    (found,) = [entry async for entry in client.list_agent_versions("acme:stepwise")]
    assert found.installable
    overview = await client.read_agent_overview("acme:stepwise", limit=1)
    assert overview.versions == (found,)


async def test_what_a_provider_has_is_listed(client: Client, platform: Platform) -> None:
    release_id = await published(client, platform, a_new_card(platform, "listed"))
    releases = [release async for release in client.list_releases(PROVIDER, agent_id="acme:listed")]
    assert [release.release_id for release in releases] == [release_id]
    bindings = [binding async for binding in client.list_endpoint_bindings(PROVIDER, agent_id="acme:listed")]
    assert [binding.binding_id for binding in bindings] == [releases[0].endpoint_binding_id]
    mine = {agent.agent_id: agent.provider_id async for agent in client.list_my_agents()}
    assert mine["acme:listed"] == PROVIDER
    agents = [entry.agent_id async for entry in client.list_provider_agents(PROVIDER)]
    assert "acme:listed" in agents
    assert await client.read_release(release_id) == releases[0]


async def test_a_release_is_suspended_and_revoked_and_a_card_published_and_disabled(
    client: Client, platform: Platform
) -> None:
    release_id = await published(client, platform, a_new_card(platform, "ending"))
    reach = await client.read_release_reach(release_id)
    assert (reach.workspaces, reach.enabled_installations, reach.calls_last_day, reach.running) == (0, 0, 0, 0)
    assert (await client.suspend_release(release_id)).state is ReleaseState.SUSPENDED

    async def has_learned() -> bool:
        return (await client.read_release_observation(release_id)).state == WatchedState.SUSPENDED

    await becomes_true(has_learned)
    assert (await client.revoke_release(release_id)).state is ReleaseState.REVOKED
    await client.register_agent_card(a_new_card(platform, "ending", "1.1.0"))
    entry = await client.publish_agent_card("acme:ending", "1.1.0")
    assert entry.publication_status is PublicationStatus.PUBLISHED
    entry = await client.disable_agent_card("acme:ending", "1.1.0")
    assert entry.publication_status is PublicationStatus.DISABLED


async def test_a_card_is_read_by_its_exact_bytes_and_again_without_them(client: Client) -> None:
    exact = await client.read_agent_card(AGENT, "1.0.0")
    assert digest(exact.body) == exact.digest
    assert exact.card.agent_id == AGENT
    again = await client.read_agent_card(AGENT, "1.0.0", held=exact)
    assert again == exact
    assert again.body is exact.body


async def test_two_versions_are_compared(client: Client, platform: Platform) -> None:
    for version in ("1.0.0", "1.1.0"):
        await client.register_agent_card(a_new_card(platform, "compared", version))
    found = await client.read_agent_compatibility("acme:compared", "1.1.0", from_version="1.0.0")
    assert (found.agent_id, found.from_version, found.version) == ("acme:compared", "1.0.0", "1.1.0")
    assert found.skills
    assert {skill.inputs.compatible for skill in found.skills} == {Compatible.YES}


async def test_anyone_reads_the_public_share_without_a_token(client: Client, platform: Platform) -> None:
    (entry,) = [entry async for entry in client.list_agent_versions(AGENT)]
    async with Client(platform.gateway.origin) as anonymous:
        share = await anonymous.read_public_agent(entry.public_agent_id)
        assert share.availability is Availability.INSTALLABLE
        with pytest.raises(TokenNeeded, match="made without an access token"):
            await anonymous.read_platform_status()


async def test_lists_are_read_page_by_page_to_their_end(client: Client, platform: Platform) -> None:
    for number in range(3):
        await client.create_workspace(f"page-{number}")
    every = [workspace.workspace_id async for workspace in client.list_workspaces()]
    listing, found, cursor = client.list_workspaces(), list[str](), None
    while True:
        page = await listing.page(limit=2, cursor=cursor)
        assert len(page.items) <= 2
        found += [workspace.workspace_id for workspace in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == every
    assert {"demo", "page-0", "page-1", "page-2"} <= set(every)


async def test_discovery_takes_every_filter(client: Client) -> None:
    found = [
        item.agent_id
        async for item in client.discover_agents(
            "ad", order="newest", capability=CAPABILITY, owner_id="alice", latest=True, installable=True
        )
    ]
    assert found == [AGENT]
    assert [item async for item in client.discover_agents("100 %_ &=#ä")] == []


async def test_an_installation_is_disabled_enabled_and_uninstalled_and_its_history_stays(
    client: Client, platform: Platform
) -> None:
    await published(client, platform, a_new_card(platform, "moved"))
    made = await client.install_agent("demo", "acme:moved", "1.x", accepted_permissions=())
    where = ("demo", made.installation_id)
    assert (await client.update_installation(*where, "disabled")).status is InstallationStatus.DISABLED
    with pytest.raises(PlatformError) as refused:
        await client.invoke("demo", "acme:moved", "work", {})
    assert refused.value.code is ErrorCode.INSTALLATION_DISABLED
    assert refused.value.recovery.owner is RecoveryOwner.WORKSPACE_OWNER
    assert (refused.value.invocation_id, type(refused.value)) == (None, PlatformError)
    assert (await client.update_installation(*where, "enabled")).status is InstallationStatus.ENABLED
    new = await client.install_agent(
        "demo", "acme:moved", "1.x", accepted_permissions=(), replaces=made.installation_id
    )
    assert (await client.read_installation(*where)).replaced_by == new.installation_id
    made, where = new, ("demo", new.installation_id)
    gone = await client.uninstall_agent(*where)
    assert await client.read_installation(*where) == gone
    items = {item.installation_id: item async for item in client.list_installations("demo")}
    listed = items[made.installation_id]
    assert (listed.status, listed.uninstalled_at) == (InstallationStatus.UNINSTALLED, gone.uninstalled_at)
    assert [(skill.id, skill.permissions_accepted) for skill in listed.skills] == [("work", True)]


async def test_an_invocation_gives_its_result_and_its_lineage(client: Client, platform: Platform) -> None:
    platform.agent.script(a_message(data(ANSWER)))
    result = await client.invoke("demo", AGENT, CAPABILITY, b'{ "n" : 1.10 }')
    assert result.value == ANSWER
    detail = await client.read_invocation("demo", result.invocation_id)
    assert detail.invocation.status is InvocationStatus.SUCCEEDED
    trace = await client.read_trace("demo", result.trace_id)
    assert trace.invocations == (detail.invocation,)
    since = datetime.now(UTC) - timedelta(minutes=5)
    listed = client.list_invocations(
        "demo", status=InvocationStatus.SUCCEEDED, agent_id=AGENT, capability=CAPABILITY, since=since
    )
    assert detail.invocation in [record async for record in listed]
    until = client.list_invocations("demo", until=since)
    assert [record async for record in until] == []


async def test_an_invocation_that_failed_says_so_with_its_ids(client: Client, platform: Platform) -> None:
    platform.agent.script(rpc_error(-32000))
    with pytest.raises(InvocationFailed) as failed:
        await client.invoke("demo", AGENT, CAPABILITY, {})
    error = failed.value
    assert (error.code, error.status, error.recovery.owner) == (
        ErrorCode.AGENT_EXECUTION_FAILED,
        502,
        RecoveryOwner.PROVIDER,
    )
    assert error.invocation_id is not None
    detail = await client.read_invocation("demo", error.invocation_id)
    assert (detail.invocation.root_task_id, detail.invocation.trace_id) == (error.root_task_id, error.trace_id)


async def test_violations_say_where_the_request_is_wrong(client: Client) -> None:
    with pytest.raises(PlatformError) as refused:
        await client.create_workspace("not/safe")
    assert refused.value.violations == (Violation("/workspaceId", "pattern"),)
    assert "/workspaceId: pattern" in str(refused.value)


async def test_cancelling_the_call_cancels_the_invocation(client: Client, platform: Platform) -> None:
    platform.agent.script(hold)
    call = asyncio.create_task(client.invoke("demo", AGENT, CAPABILITY, {}))
    request = await platform.agent.arrival("message/send", len(platform.agent.calls("message/send")) + 1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    async def canceled() -> bool:
        detail = await client.read_invocation("demo", request.values("x-platform-invocation-id")[0])
        return detail.invocation.status is InvocationStatus.CANCELED

    await becomes_true(canceled)


async def test_the_platform_tells_its_status(client: Client) -> None:
    status = await client.read_platform_status()
    assert (status.control_plane, status.router) == (HealthStatus.OK, HealthStatus.OK)
    assert [(router.status, bool(router.topology)) for router in status.routers or ()] == [(RouterHealth.OK, True)]
