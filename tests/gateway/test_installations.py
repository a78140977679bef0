"""Installations: what an owner accepts, what is pinned, what is listed, and that no Agent hears of it."""

import asyncio
from typing import Any

import pytest

from tests.support.cards import a_card, a_skill
from tests.support.catalog import Catalog
from tests.support.errors import require_error
from tests.support.workspaces import AGENT, Owner, Rows, a_release, taken

MANY = (
    "INSERT INTO workspace.installation (installation_id, workspace_id, agent_id, version_constraint,"
    " installed_version, installed_release_id, installed_card_digest, accepted_permissions, installed_at, updated_at)"
    " SELECT 'inst_' || lpad(to_hex(n), 32, '0'), 'space', 'a' || n, '*', '1.0.0', 'rel_' || repeat('0', 32),"
    " repeat('0', 64),"
)


def permissions(*ids: str) -> list[dict[str, str]]:
    return [{"id": item, "description": "Something."} for item in ids]


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
    await a_release(catalog, permissions=permissions("a", "b"), skills=[a_skill("s")])
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
    await a_release(catalog, permissions=permissions("a", "a.1", "b", "Z"), skills=[needy])
    assert (await owner.install(accepted=accepted))["acceptedPermissions"] == recorded


@pytest.mark.rows("WS-14")
async def test_a_current_installation_is_in_the_way_enabled_or_disabled(owner: Owner, catalog: Catalog) -> None:
    await a_release(catalog)
    installed = await owner.install()
    require_error(await owner.try_install(), 409, "CONFLICT", "3")
    taken(await owner.set_status(installed["installationId"], "disabled"), 200, "installation/1")
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
    replies = await asyncio.gather(*(owner.try_install() for _ in range(100)))
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


@pytest.mark.rows("WS-20")
async def test_all_records_are_listed_in_the_order_they_were_installed(
    owner: Owner, catalog: Catalog, rows: Rows
) -> None:
    assert await owner.page("/space/installations") == {"items": []}
    await a_release(catalog)
    for number in range(101):
        installation_id = (await owner.install())["installationId"]
        if number < 100:
            await owner.uninstall(installation_id)
    await owner.set_status(installation_id, "disabled")
    other = a_card(agent_id="acme:other")
    await catalog.register(other)
    await catalog.release(other)
    await owner.install("acme:other")
    made = [row["installation_id"] for row in await rows.installations()]
    for limit in (7, 25, 100):
        pages = await owner.pages("/space/installations", limit)
        assert [item["installationId"] for page in pages for item in page] == made
        assert all(len(page) == limit for page in pages[:-1])
    assert {item["status"] for page in pages for item in page} == {"enabled", "disabled", "uninstalled"}
    assert len((await owner.page("/space/installations"))["items"]) == 25


async def test_records_of_one_moment_are_listed_by_id(owner: Owner, rows: Rows) -> None:
    await rows.execute(f"{MANY} '{{}}', '2030-01-01Z', '2030-01-01Z' FROM generate_series(20, 1, -1) AS n")
    pages = await owner.pages("/space/installations", 3)
    assert [item["agentId"] for page in pages for item in page] == [f"a{n}" for n in range(1, 21)]


async def test_a_page_stops_early_once_it_passes_four_mebibytes(owner: Owner, rows: Rows) -> None:
    await rows.execute(
        f"{MANY} ARRAY(SELECT lpad(p::text, 100, 'p') FROM generate_series(1, 9000) AS p),"
        " '2030-01-01Z', '2030-01-01Z' FROM generate_series(1, 12) AS n"
    )
    first = await owner.ask("GET", "/space/installations")
    assert (len(first.json["items"]), 4 * 1024**2 < len(first.body) < 6 * 1024**2) == (5, True)
    assert [len(page) for page in await owner.pages("/space/installations", 100)] == [5, 5, 2]


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
