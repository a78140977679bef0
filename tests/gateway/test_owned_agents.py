"""Every Agent that a principal owns: one complete item per Agent, whatever its provider and the states it is in."""

from typing import Any

import pytest

from aop.contracts.documents import document
from aop.contracts.publication import ReleaseState
from aop.local.state import DatabaseUrls
from tests.support.cards import a_card
from tests.support.catalog import Catalog, provider_of
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests
from tests.support.units import RunningUnit

MINE = "/v1/me/agents"
MANY = 1_010


async def pages(gateway: RunningUnit, token: str, limit: int) -> list[list[dict[str, Any]]]:
    found: list[list[dict[str, Any]]] = []
    path = f"{MINE}?limit={limit}"
    while True:
        reply = await gateway.get(path, token=token)
        assert reply.status == 200, reply.body
        assert document("owned-agent/1").violations(reply.json["items"][0]) == ()
        found.append(reply.json["items"])
        if "nextCursor" not in reply.json:
            return found
        path = f"{MINE}?limit={limit}&cursor={reply.json['nextCursor']}"


async def owned(gateway: RunningUnit, token: str, limit: int) -> list[dict[str, Any]]:
    return [item for page in await pages(gateway, token, limit) for item in page]


@pytest.mark.rows("FIND-05")
async def test_all_own_agents_are_listed_once_with_versions_states_provider_and_newest_release(
    catalog: Catalog, gateway: RunningUnit, alice: str, bob: str
) -> None:
    await catalog.register(a_card(agent_id="sketch", name="Sketch"))
    for version in ("1.0.0", "1.1.0", "2.0.0"):
        await catalog.publish(card := a_card(agent_id="writer", version=version, name=f"Writer {version}"))
        await catalog.release(card, ReleaseState.SUSPENDED if version == "2.0.0" else ReleaseState.PUBLISHED)
    await catalog.disable(a_card(agent_id="writer", version="1.0.0"))
    await catalog.register(a_card(agent_id="writer", version="1.2.0-rc.1", name="Writer next"))
    elsewhere = a_card(agent_id="elsewhere")
    await catalog.publish(elsewhere)
    await catalog.release(elsewhere, ReleaseState.PENDING_VERIFICATION, provider="second")
    await catalog.publish(a_card(agent_id="foreign", owner="bob"))
    whole = await owned(gateway, alice, 100)
    assert await owned(gateway, alice, 1) == whole
    assert [(item["agentId"], item["name"], item.get("providerId")) for item in whole] == [
        ("elsewhere", elsewhere["name"], "second"),
        ("sketch", "Sketch", None),
        ("writer", "Writer next", provider_of("alice")),
    ]
    assert [item["versionCounts"] for item in whole] == [
        {"draft": 0, "published": 1, "disabled": 0},
        {"draft": 1, "published": 0, "disabled": 0},
        {"draft": 1, "published": 2, "disabled": 1},
    ]
    assert [_states(item) for item in whole] == [
        [("1.0.0", "published", "pending_verification", False)],
        [("1.0.0", "draft", None, False)],
        [
            ("1.2.0-rc.1", "draft", None, False),
            ("2.0.0", "published", "suspended", False),
            ("1.1.0", "published", "published", True),
            ("1.0.0", "disabled", "published", False),
        ],
    ]
    newest = [item["newestRelease"] for item in whole]
    assert newest[1] is None
    assert (newest[0]["version"], newest[0]["state"], "publishedAt" in newest[0]) == (
        "1.0.0",
        "pending_verification",
        False,
    )
    assert (newest[2]["version"], newest[2]["state"]) == ("2.0.0", "suspended")
    assert newest[2]["releaseId"] == whole[2]["versions"][1]["release"]["releaseId"]
    assert [item["agentId"] for item in await owned(gateway, bob, 25)] == ["foreign"]


@pytest.mark.second_ring
@pytest.mark.rows("FIND-05")
async def test_an_agent_with_very_many_versions_shows_the_newest_and_counts_all(
    catalog: Catalog, gateway: RunningUnit, alice: str, stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    for number in range(16):
        await catalog.register(a_card(agent_id=f"agent-{number:02}"))
    await postgres.execute(_VERSIONS, stores.migration.rpartition("/")[2])
    found = await pages(gateway, alice, 100)
    assert len(found) == 2, "a page ends once it weighs 4 MiB"
    whole = [item for page in found for item in page]
    assert [item["agentId"] for item in whole] == [f"agent-{number:02}" for number in range(16)]
    for item in whole:
        assert item["versionCounts"] == {"draft": MANY + 1, "published": 0, "disabled": 0}
        assert [found["version"] for found in item["versions"]] == [f"1.0.{MANY - n}" for n in range(1_000)]


@pytest.mark.second_ring
async def test_an_empty_list_faulty_parameters_and_a_stranger(gateway: RunningUnit, alice: str) -> None:
    assert (await gateway.get(MINE, token=alice)).json == {"items": []}
    require_error(await gateway.get(MINE), 401, "UNAUTHENTICATED", "2")
    for query in ("limit=0", "ownerId=alice", "cursor=AAAA", "limit=1&limit=1"):
        require_error(await gateway.get(f"{MINE}?{query}", token=alice), 400, "VALIDATION_ERROR", "2")


def _states(item: dict[str, Any]) -> list[tuple[str, str, str | None, bool]]:
    return [
        (one["version"], one["publicationStatus"], (one["release"] or {}).get("state"), one["installable"])
        for one in item["versions"]
    ]


_VERSIONS = f"""
INSERT INTO registry.card
SELECT agent_id, '1.0.' || number, document, digest, owner_id, precedence, '', '', '{{}}',
       status, registered_at + number * interval '1 second', NULL, NULL, NULL
  FROM registry.card, generate_series(1, {MANY}) AS number
"""
