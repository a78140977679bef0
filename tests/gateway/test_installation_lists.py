"""Lists of Installations: their order, their pages, and what each item tells of its Agent."""

import pytest

from aop.contracts.publication import ReleaseState
from tests.support.cards import a_card, a_skill, some_permissions
from tests.support.catalog import Catalog
from tests.support.errors import require_error
from tests.support.workspaces import Owner, Rows, a_release, taken

COPIED_AGENTS = (
    "INSERT INTO registry.agent (agent_id, owner_id, public_agent_id)"
    " SELECT 'a' || n, owner_id, 'agt_' || lpad(to_hex(n), 32, '0')"
    " FROM registry.agent, generate_series(1, {count}) AS n",
    "INSERT INTO registry.card (agent_id, version, document, digest, owner_id, precedence, folded_name, folded_text,"
    " skill_ids, status, registered_at)"
    " SELECT 'a' || n, version, document, digest, owner_id, precedence, folded_name, folded_text, skill_ids,"
    " 'draft', registered_at FROM registry.card, generate_series(1, {count}) AS n",
    "INSERT INTO workspace.installation (installation_id, workspace_id, agent_id, version_constraint,"
    " installed_version, installed_release_id, installed_card_digest, accepted_permissions, installed_at, updated_at)"
    " SELECT 'inst_' || lpad(to_hex(n), 32, '0'), 'space', 'a' || n, '*', version, 'rel_' || repeat('0', 32), digest,"
    " {accepted}, '2030-01-01Z', '2030-01-01Z'"
    " FROM registry.card, generate_series({count}, 1, -1) AS n WHERE card.agent_id = 'a' || n",
)
"""The one Agent that there is under more ids, `a1` and so on, all installed at one moment."""


async def copies(rows: Rows, count: int, accepted: str = "'{}'") -> None:
    await rows.execute(*(statement.format(count=count, accepted=accepted) for statement in COPIED_AGENTS))


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


async def test_records_of_one_moment_are_listed_by_id(owner: Owner, catalog: Catalog, rows: Rows) -> None:
    await catalog.register(a_card())
    await copies(rows, 20)
    pages = await owner.pages("/space/installations", 3)
    assert [item["agentId"] for page in pages for item in page] == [f"a{n}" for n in range(1, 21)]


@pytest.mark.rows("WS-20")
async def test_a_list_tells_of_each_agent_its_name_its_limits_and_which_skills_are_permitted(
    owner: Owner, catalog: Catalog
) -> None:
    skills = [
        a_skill("needs-both", requiredPermissions=["a", "b"]),
        a_skill("free", name="Free of charge", requiredPermissions=[]),
        a_skill("needs-one", requiredPermissions=["b"]),
    ]
    card, _ = await a_release(catalog, name="Ärger & Söhne", permissions=some_permissions("a", "b"), skills=skills)
    installed = await owner.install(accepted=["b"])
    told = {
        "agentName": "Ärger & Söhne",
        "limits": card["limits"],
        "skills": [
            {"id": "needs-both", "name": skills[0]["name"], "permissionsAccepted": False},
            {"id": "free", "name": "Free of charge", "permissionsAccepted": True},
            {"id": "needs-one", "name": skills[2]["name"], "permissionsAccepted": True},
        ],
    }
    await catalog.disable(card)
    for _ in range(2):  # read from the store, then from memory
        assert (await owner.page("/space/installations"))["items"] == [
            installed | told | {"refusedWith": "AGENT_DISABLED"}
        ]
    ended = taken(await owner.uninstall(installed["installationId"]), 200, "installation/2")
    assert (await owner.page("/space/installations"))["items"] == [ended | told]


async def test_a_list_tells_which_versions_are_refused_and_which_have_a_newer_one(
    owner: Owner, catalog: Catalog, rows: Rows
) -> None:
    for version in ("1.0.0", "1.1.0", "2.0.0-rc.1"):
        await a_release(catalog, version)
    await catalog.register(a_card(version="3.0.0"))
    await a_release(catalog, "2.0.0", ReleaseState.SUSPENDED)
    newer_than = {"1.0.0": "1.1.0", "1.1.0": None, "2.0.0-rc.1": None}
    for version, newer in newer_than.items():
        installed = await owner.install(constraint=version)
        (told,) = [each for each in (await owner.page("/space/installations"))["items"] if each["status"] == "enabled"]
        assert (told.get("newerVersion"), "refusedWith" in told) == (newer, False)
        await owner.uninstall(installed["installationId"])
    assert all("newerVersion" not in each for each in (await owner.page("/space/installations"))["items"])
    await owner.install(constraint="1.0.0")
    await rows.execute(
        "INSERT INTO registry.card (agent_id, version, document, digest, owner_id, precedence, folded_name,"
        " folded_text, skill_ids, status, registered_at)"
        " SELECT agent_id, '9.0.' || n, document, digest, owner_id, '9' || n, folded_name,"
        " folded_text, skill_ids, 'draft', registered_at"
        " FROM registry.card, generate_series(1, 200) AS n WHERE version = '1.0.0'"
    )
    (told,) = [each for each in (await owner.page("/space/installations"))["items"] if each["status"] == "enabled"]
    assert "newerVersion" not in told, "however many versions there are, only the highest are looked at"


@pytest.mark.rows("SAFE-10")
async def test_a_list_tells_which_agents_resemble_those_of_others(owner: Owner, catalog: Catalog, rows: Rows) -> None:
    await a_release(catalog)
    installed = await owner.install()
    assert "resembles" not in (await owner.page("/space/installations"))["items"][0]
    await rows.execute(
        "INSERT INTO registry.agent (agent_id, owner_id, public_agent_id)"
        " VALUES ('first:one', 'somebody', 'agt_' || repeat('f', 32))",
        "INSERT INTO registry.published_name (part, skeleton, agent_id, owner_id, text, first_at)"
        " SELECT part, skeleton, 'first:one', 'somebody', text, first_at - interval '1 day'"
        " FROM registry.published_name WHERE text = 'Summarizer'",
    )
    resembled = [{"part": "name", "text": "Summarizer", "ownerId": "somebody", "agentId": "first:one"}]
    (told,) = (await owner.page("/space/installations"))["items"]
    assert told["resembles"] == resembled
    await owner.uninstall(installed["installationId"])
    assert "resembles" not in (await owner.page("/space/installations"))["items"][0]


@pytest.mark.rows("WS-21")
async def test_a_list_whose_card_is_another_one_is_a_failure_and_not_a_shorter_list(
    owner: Owner, catalog: Catalog, rows: Rows
) -> None:
    await a_release(catalog)
    installed = await owner.install()
    await rows.tamper("workspace.installation", "installed_card_digest = repeat('0', 64)")
    require_error(await owner.ask("GET", "/space/installations"), 503, "DEPENDENCY_ERROR", "3")
    taken(await owner.uninstall(installed["installationId"]), 200, "installation/2")


async def test_the_size_of_the_cards_counts_in_a_page(owner: Owner, catalog: Catalog, rows: Rows) -> None:
    long = [{"id": f"p{number}", "description": "x" * 1000} for number in range(850)]
    await catalog.register(a_card(permissions=long, skills=[a_skill()]))
    await copies(rows, 12)
    assert [len(page) for page in await owner.pages("/space/installations", 100)] == [5, 5, 2]


async def test_a_page_stops_early_once_it_passes_four_mebibytes(owner: Owner, catalog: Catalog, rows: Rows) -> None:
    await catalog.register(a_card())
    await copies(rows, 12, "ARRAY(SELECT lpad(p::text, 100, 'p') FROM generate_series(1, 9000) AS p)")
    first = await owner.ask("GET", "/space/installations")
    assert (len(first.json["items"]), 4 * 1024**2 < len(first.body) < 6 * 1024**2) == (5, True)
    assert [len(page) for page in await owner.pages("/space/installations", 100)] == [5, 5, 2]
