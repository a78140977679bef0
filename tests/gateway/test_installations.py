"""Installations: what an owner accepts, what is pinned, and that no Agent hears of it."""

import asyncio
from typing import Any

import pytest

from tests.support.at_once import all_answered
from tests.support.cards import a_skill, some_permissions
from tests.support.catalog import Catalog
from tests.support.errors import require_error
from tests.support.workspaces import AGENT, Owner, Rows, a_release, taken


@pytest.mark.rows("WS-12")
async def test_a_published_release_is_installed_enabled_and_pinned(owner: Owner, catalog: Catalog) -> None:
    _, release = await a_release(catalog, "1.2.3")
    installed = await owner.install(constraint="^1.0.0 || 7.x")
    assert installed == {
        "installationId": installed["installationId"],
        "workspaceId": "space",
        "agentId": AGENT,
        "versionConstraint": "^1.0.0 || 7.x",
        "installedVersion": "1.2.3",
        "installedReleaseId": release.release_id,
        "acceptedPermissions": ["documents.read"],
        "status": "enabled",
        "installedAt": installed["installedAt"],
        "updatedAt": installed["installedAt"],
    }
    assert await owner.installation(installed["installationId"]) == installed


@pytest.mark.rows("WS-05")
async def test_an_installation_is_not_found_through_another_workspace(owner: Owner, catalog: Catalog) -> None:
    await a_release(catalog)
    await owner.workspace("second")
    installed = await owner.install()
    path = f"/second/installations/{installed['installationId']}"
    for method, body in (("GET", None), ("PATCH", {"status": "disabled"}), ("DELETE", None)):
        require_error(await owner.ask(method, path, body), 404, "NOT_FOUND", "3")
    assert await owner.installation(installed["installationId"]) == installed
    assert (await owner.page("/second/installations")) == {"items": []}


@pytest.mark.rows("WS-06")
@pytest.mark.parametrize(
    ("members", "violations"),
    [
        ({"acceptedPermissions": None}, [("/acceptedPermissions", "type")]),
        ({"acceptedPermissions": ["b", "b"]}, [("/acceptedPermissions", "uniqueItems")]),
        ({"acceptedPermissions": ["b", ""]}, [("/acceptedPermissions/1", "pattern")]),
        ({"acceptedPermissions": ["x", "b", "y"]}, [
            ("/acceptedPermissions/0", "permission_undeclared"), ("/acceptedPermissions/2", "permission_undeclared")
        ]),
        ({"acceptedPermissions": [f"x{n}" for n in range(30)]}, [
            (f"/acceptedPermissions/{n}", "permission_undeclared") for n in range(20)
        ]),
        ({"agentId": None}, [("/agentId", "type")]),
        ({"versionConstraint": "1.0.0\0"}, [("/versionConstraint", "pattern")]),
        ({"versionConstraint": "1" * 257}, [("/versionConstraint", "maxLength")]),
        ({"status": "enabled"}, [("", "additional_member")]),
    ],
)  # fmt: skip
async def test_a_request_that_breaks_the_contract_installs_nothing(
    owner: Owner, catalog: Catalog, rows: Rows, members: dict[str, Any], violations: list[tuple[str, str]]
) -> None:
    await a_release(catalog, permissions=some_permissions("a", "b"), skills=[a_skill("s")])
    body = {"agentId": AGENT, "versionConstraint": "*", "acceptedPermissions": [], **members}
    reply = await owner.ask("POST", "/space/installations", body)
    require_error(reply, 400, "VALIDATION_ERROR", "3")
    assert [(item["pointer"], item["rule"]) for item in reply.json["violations"]] == violations
    assert await rows.installations() == []


@pytest.mark.rows("WS-06")
async def test_every_member_of_the_request_is_required(owner: Owner) -> None:
    whole = {"agentId": AGENT, "versionConstraint": "*", "acceptedPermissions": []}
    for missing in whole:
        body = {name: member for name, member in whole.items() if name != missing}
        reply = await owner.ask("POST", "/space/installations", body)
        require_error(reply, 400, "VALIDATION_ERROR", "3")
        assert reply.json["violations"] == [{"pointer": f"/{missing}", "rule": "required"}]


@pytest.mark.rows("WS-06")
@pytest.mark.parametrize(
    ("accepted", "recorded"), [([], []), (["b", "a", "Z", "a.1"], ["Z", "a", "a.1", "b"]), (["b"], ["b"])]
)
async def test_accepted_permissions_may_be_few_and_are_returned_sorted_bytewise(
    owner: Owner, catalog: Catalog, accepted: list[str], recorded: list[str]
) -> None:
    needy = a_skill("needy", requiredPermissions=["a", "b"])
    await a_release(catalog, permissions=some_permissions("a", "a.1", "b", "Z"), skills=[needy])
    assert (await owner.install(accepted=accepted))["acceptedPermissions"] == recorded


@pytest.mark.rows("WS-14")
async def test_a_current_installation_is_in_the_way_enabled_or_disabled(owner: Owner, catalog: Catalog) -> None:
    await a_release(catalog)
    installed = await owner.install()
    require_error(await owner.try_install(), 409, "CONFLICT", "3")
    taken(await owner.set_status(installed["installationId"], "disabled"), 200, "installation/2")
    require_error(await owner.try_install(), 409, "CONFLICT", "3")
    await owner.workspace("second")
    await owner.install(space="second")


@pytest.mark.rows("WS-14")
async def test_a_current_installation_is_told_before_the_version_is_chosen(owner: Owner, catalog: Catalog) -> None:
    await a_release(catalog)
    await owner.install()
    require_error(await owner.try_install(constraint="9.9.9"), 409, "CONFLICT", "3")
    require_error(await owner.try_install(accepted=["nothing.known"]), 409, "CONFLICT", "3")
    require_error(await owner.try_install(constraint="nonsense"), 400, "VALIDATION_ERROR", "3")


@pytest.mark.rows("WS-14")
async def test_of_a_hundred_installs_at_once_one_succeeds(owner: Owner, catalog: Catalog, rows: Rows) -> None:
    await a_release(catalog)
    replies = await all_answered([owner.try_install] * 100)
    assert sorted(reply.status for reply in replies) == [201] + [409] * 99
    assert len(await rows.installations()) == 1


@pytest.mark.rows("WS-15")
async def test_no_change_of_the_catalog_rewrites_an_installation(owner: Owner, catalog: Catalog) -> None:
    card, _ = await a_release(catalog)
    installed = await owner.install()
    newer, _ = await a_release(catalog, "2.0.0")
    assert await owner.installation(installed["installationId"]) == installed
    await catalog.disable(card)
    await catalog.disable(newer)
    assert await owner.installation(installed["installationId"]) == installed


@pytest.mark.rows("WS-22")
async def test_no_call_contacts_the_agent_and_a_refused_call_changes_nothing(
    owner: Owner, catalog: Catalog, rows: Rows, bob: str
) -> None:
    contacts: list[str] = []

    async def contacted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        contacts.append("contact")
        writer.close()

    agent = await asyncio.start_server(contacted, "127.0.0.1", 0)
    async with agent:
        port = agent.sockets[0].getsockname()[1]
        await a_release(catalog, endpoint=f"http://127.0.0.1:{port}/a2a")
        installation_id = (await owner.install())["installationId"]
        before = await rows.installations()
        stranger = Owner(owner.gateway, bob)
        refused = [
            await stranger.try_install(),
            await owner.try_install(),
            await owner.try_install(accepted=["x"]),
            await owner.try_install("acme:nobody"),
            await owner.set_status(installation_id, "enabled"),
            await stranger.set_status(installation_id, "disabled"),
            await owner.set_status(installation_id, "gone"),
            await stranger.uninstall(installation_id),
            await owner.uninstall("inst_unknown"),
        ]
        assert [reply.status for reply in refused] == [403, 409, 409, 404, 409, 403, 400, 403, 404]
        assert await rows.installations() == before
        await owner.set_status(installation_id, "disabled")
        await owner.set_status(installation_id, "enabled")
        await owner.page("/space/installations")
        await owner.uninstall(installation_id)
        await owner.install()
        assert contacts == []
