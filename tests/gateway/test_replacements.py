"""An Installation is replaced in one step: the order of checks, races, and calls that were authorized before."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

from aop.base.clock import utc_now
from aop.base.ids import new_id, new_trace_id
from aop.contracts.publication import ReleaseState
from aop.control_plane.app import ControlPlaneEnvironment, build
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.support.at_once import all_answered
from tests.support.cards import a_skill
from tests.support.catalog import Catalog
from tests.support.errors import require_error
from tests.support.settings import ROUTER_TO_CONTROL_PLANE, control_plane_environment
from tests.support.units import Reply, running
from tests.support.workspaces import AGENT, Owner, Rows, a_release, taken

VERSIONS = ("1.0.0", "2.0.0", "3.0.0")


@dataclass
class Replacing:
    """Alice's Workspace with the first version, three published ones, and a clock that a test may move."""

    owner: Owner
    first: Any
    ahead: list[timedelta]

    async def resolve(self, version: str, capability: str = "summarize") -> Reply:
        body = {"invocationId": new_id("inv"), "rootTaskId": new_id("task"), "traceId": new_trace_id()}
        asked = {"workspaceId": "space", "agentId": AGENT, "version": version, "capability": capability}
        path = "/internal/v1/resolve-agent"
        return await self.owner.gateway.post(path, body | asked, token=ROUTER_TO_CONTROL_PLANE)

    async def resolved(self, version: str) -> Any:
        reply = await self.resolve(version)
        assert reply.status == 200, reply.body
        return reply.json["installation"]

    async def require_not_installed(self, version: str) -> None:
        require_error(await self.resolve(version), 404, "AGENT_NOT_INSTALLED", "3", "not_installed")


@pytest_asyncio.fixture
async def replacing(stores: DatabaseUrls, catalog: Catalog, alice: str) -> AsyncIterator[Replacing]:
    ahead = [timedelta()]
    environment = ControlPlaneEnvironment(clock=lambda: utc_now() + ahead[0])
    settings = read_control_plane_settings(
        control_plane_environment(
            PLATFORM_DATABASE_URL=stores.control_plane, PLATFORM_ROUTER_INTERNAL_ORIGIN="http://127.0.0.1:1"
        )
    )
    skills = [a_skill("summarize", requiredPermissions=["documents.read"])]
    for version in VERSIONS:
        await a_release(catalog, version, skills=skills)
    async with running(lambda: build(settings, environment)) as unit:
        owner = Owner(unit, alice)
        await owner.workspace()
        yield Replacing(owner, await owner.install(constraint="1.0.0"), ahead)


async def test_the_old_one_ends_and_the_new_one_begins_in_the_same_moment(replacing: Replacing) -> None:
    owner, first = replacing.owner, replacing.first
    second = await owner.replace(first["installationId"], "^2", accepted=())
    old = await owner.installation(first["installationId"])
    assert old == {
        **first,
        "status": "uninstalled",
        "updatedAt": second["installedAt"],
        "uninstalledAt": second["installedAt"],
        "replacedBy": second["installationId"],
    }
    assert (second["installedVersion"], second["status"], second["acceptedPermissions"]) == ("2.0.0", "enabled", [])
    items = (await owner.page("/space/installations"))["items"]
    assert [item.get("replacedBy") for item in items] == [second["installationId"], None]
    again = await owner.replace(second["installationId"], "2.0.0")  # the same version, with another permission
    assert (again["installedReleaseId"], again["acceptedPermissions"]) == (
        second["installedReleaseId"],
        ["documents.read"],
    )


async def test_what_may_not_replace_is_refused_in_the_order_of_checks(
    replacing: Replacing, alice: str, bob: str, catalog: Catalog
) -> None:
    owner, gateway = replacing.owner, replacing.owner.gateway
    await a_release(catalog, "1.0.0", agent_id="acme:other")
    await a_release(catalog, "4.0.0", ReleaseState.SUSPENDED)
    other = taken(await owner.try_install("acme:other"), 201, "installation/2")["installationId"]
    own = replacing.first["installationId"]
    await owner.workspace("elsewhere")
    foreign = (await owner.install(space="elsewhere", constraint="1.0.0"))["installationId"]
    undeclared = ("mail.send",)

    async def ask(token: str, space: str, replaces: str, constraint: str, accepted: tuple[str, ...] = ()) -> Reply:
        body = {"agentId": AGENT, "versionConstraint": constraint, "acceptedPermissions": accepted}
        path = f"/v1/workspaces/{space}/installations"
        return await gateway.post(path, {**body, "replaces": replaces}, token=token)

    # Each has the faults of all that follow it, too.
    await owner.set_status(own, "disabled")
    rows: list[tuple[Reply, int, str, str | None]] = [
        (await ask(bob, "nowhere", "inst_none", "4.0.0", undeclared), 404, "NOT_FOUND", "workspace_unknown"),
        (await ask(bob, "space", "inst_none", "4.0.0", undeclared), 403, "FORBIDDEN", "not_caller"),
        (await ask(alice, "space", "inst_none", "4.0.0", undeclared), 404, "NOT_FOUND", "installation_unknown"),
        (await ask(alice, "space", foreign, "4.0.0", undeclared), 404, "NOT_FOUND", "installation_unknown"),
        (await ask(alice, "space", other, "4.0.0", undeclared), 400, "VALIDATION_ERROR", None),
        (await ask(alice, "space", own, "4.0.0", undeclared), 409, "AGENT_RELEASE_SUSPENDED", None),
        (await ask(alice, "space", own, "9.0.0", undeclared), 404, "NOT_FOUND", "version_range_empty"),
        (await ask(alice, "space", own, "2.0.0", undeclared), 400, "VALIDATION_ERROR", None),
        (await ask(alice, "space", own, "2.0.0"), 409, "CONFLICT", "state_changed"),
    ]
    for reply, status, code, reason in rows:
        require_error(reply, status, code, "3", reason)
    assert [reply.json["violations"] for reply, status, *_ in rows if status == 400] == [
        [{"pointer": "/replaces", "rule": "replaces"}],
        [{"pointer": "/acceptedPermissions/0", "rule": "permission_undeclared"}],
    ]
    require_error(await owner.try_install(), 409, "CONFLICT", "3", "already_installed")
    assert (await owner.installation(own))["status"] == "disabled"


@pytest.mark.rows("REPL-02")
async def test_of_changes_at_once_one_succeeds_and_the_others_are_conflicts(replacing: Replacing, rows: Rows) -> None:
    owner, current = replacing.owner, replacing.first["installationId"]
    for number in range(12):
        acts: list[Callable[[], Awaitable[Reply]]] = [
            partial(owner.try_replace, current, "2.0.0"),
            partial(owner.try_replace, current, "3.0.0"),
        ]
        if number % 3:
            acts.append(partial(owner.uninstall, current))
        if number % 3 == 2:
            acts += [owner.try_install, partial(owner.set_status, current, "disabled")]
        replies = await all_answered(acts)
        ended = [reply for reply in replies[:3] if reply.status in {200, 201}]
        assert {reply.status for reply in replies} <= {200, 201, 409}
        for reply in replies:
            if reply.status == 409:
                require_error(reply, 409, "CONFLICT", "3", "state_changed", "installation_state", "already_installed")
        stored = {row["installation_id"]: row for row in await rows.installations()}
        assert sum(row["status"] != "uninstalled" for row in stored.values()) <= 1
        if number % 3 < 2:
            assert len(ended) == 1
            assert stored[current]["status"] == "uninstalled"
        successor = stored[current]["replaced_by"]
        assert (successor is None) == all(reply.status != 201 for reply in replies[:2])
        present = next((key for key, row in stored.items() if row["status"] != "uninstalled"), None)
        if present is not None:
            taken(await owner.uninstall(present), 200, "installation/2")
        current = (await owner.install(constraint="1.0.0"))["installationId"]


async def test_a_call_authorized_before_is_resolved_with_what_was_replaced_for_a_minute(replacing: Replacing) -> None:
    owner, first = replacing.owner, replacing.first
    second = await owner.replace(first["installationId"], "2.0.0", accepted=())
    old = await replacing.resolved("1.0.0")
    assert (old["installationId"], old["acceptedPermissions"], old["status"]) == (
        first["installationId"],
        ["documents.read"],
        "enabled",
    )
    assert old["installedReleaseId"] == first["installedReleaseId"]
    require_error(await replacing.resolve("2.0.0"), 403, "CAPABILITY_NOT_ALLOWED", "3", "permission_not_accepted")
    await replacing.require_not_installed("3.0.0")
    installed = {"workspaceId": "space", "agentId": AGENT, "capability": "summarize"}
    ids = {"invocationId": new_id("inv"), "rootTaskId": new_id("task"), "traceId": new_trace_id()}
    path = "/internal/v1/resolve-installed-version"  # a new authorization sees only the current one
    reply = await owner.gateway.post(path, ids | installed, token=ROUTER_TO_CONTROL_PLANE)
    require_error(reply, 403, "CAPABILITY_NOT_ALLOWED", "3")
    replacing.ahead[0] = timedelta(seconds=45)
    await replacing.resolved("1.0.0")
    replacing.ahead[0] = timedelta(seconds=60)
    await replacing.require_not_installed("1.0.0")
    assert (await owner.installation(second["installationId"]))["status"] == "enabled"


async def test_what_takes_the_successor_out_of_use_ends_the_minute(replacing: Replacing) -> None:
    owner = replacing.owner
    second = (await owner.replace(replacing.first["installationId"], "2.0.0"))["installationId"]
    await owner.set_status(second, "disabled")
    await replacing.require_not_installed("1.0.0")
    await owner.set_status(second, "enabled")
    await replacing.resolved("1.0.0")
    third = (await owner.replace(second, "3.0.0"))["installationId"]  # the one that stands there now counts
    assert (await replacing.resolved("1.0.0"))["installationId"] == replacing.first["installationId"]
    assert (await replacing.resolved("2.0.0"))["installationId"] == second
    fourth = (await owner.replace(third, "1.0.0"))["installationId"]
    assert (await replacing.resolved("1.0.0"))["installationId"] == fourth
    await replacing.resolved("3.0.0")
    await owner.uninstall(fourth)
    for version in VERSIONS:
        await replacing.require_not_installed(version)
    await owner.install(constraint="3.0.0")  # another one, which replaced nothing
    for version in VERSIONS[:2]:
        await replacing.require_not_installed(version)


async def test_a_release_that_is_suspended_or_revoked_runs_no_call_of_before(replacing: Replacing) -> None:
    owner, first = replacing.owner, replacing.first
    await owner.replace(first["installationId"], "2.0.0")
    for act, code in (("suspend", "AGENT_RELEASE_SUSPENDED"), ("revoke", "AGENT_RELEASE_REVOKED")):
        path = f"/v1/releases/{first['installedReleaseId']}/{act}"
        assert (await owner.gateway.post(path, None, token=owner.token)).status == 200
        require_error(await replacing.resolve("1.0.0"), 409, code, "3")
