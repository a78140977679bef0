"""Names that imitate others: never refused, and said of the Agent to everyone who reads it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import asyncpg
import pytest

from aop.base import assets
from aop.contracts.documents import document
from aop.contracts.text import skeleton
from aop.local.state import DatabaseUrls
from tests.support.cards import ENDPOINT, a_card
from tests.support.units import RunningUnit

pytestmark = [pytest.mark.rows("SAFE-10"), pytest.mark.second_ring]

Json = Any


async def publish(gateway: RunningUnit, token: str, agent_id: str, name: str, version: str = "1.0.0") -> None:
    owner = (await gateway.get("/v1/workspaces", token=token)).json["items"][0]["ownerId"]
    card = a_card(agent_id=agent_id, owner=owner, name=name, version=version)
    assert (await gateway.post("/v1/agents", card, token=token)).status == 201
    assert (await gateway.post(f"/v1/agents/{agent_id}/versions/{version}/publish", token=token)).status == 200


async def resembles(gateway: RunningUnit, token: str, agent_id: str) -> Sequence[Json]:
    answer = await gateway.get(f"/v1/agents/{agent_id}", token=token)
    assert document("agent-overview/2").violations(answer.json) == ()
    found: Sequence[Json] = answer.json.get("resembles", [])
    return found


@pytest.fixture(autouse=True)
async def workspaces(gateway: RunningUnit, alice: str, bob: str) -> None:
    for token, name in ((alice, "of-alice"), (bob, "of-bob")):
        assert (await gateway.post("/v1/workspaces", {"workspaceId": name}, token=token)).status == 201


async def test_a_prefix_and_a_look_alike_name_of_another_owner_are_told(
    gateway: RunningUnit, alice: str, bob: str
) -> None:
    await publish(gateway, alice, "aop:summarizer", "Summarizer")
    await publish(gateway, bob, "aop:summarizer-pro", "Summ\u0430rizer")
    for reader in (alice, bob):
        assert await resembles(gateway, reader, "aop:summarizer-pro") == [
            {"part": "prefix", "text": "aop", "ownerId": "alice", "agentId": "aop:summarizer"},
            {"part": "name", "text": "Summ\u0430rizer", "ownerId": "alice", "agentId": "aop:summarizer"},
        ]
        assert await resembles(gateway, reader, "aop:summarizer") == []


@pytest.mark.parametrize(
    ("agent_id", "name", "found"),
    [
        ("a0p:brief", "Other", ["a0p"]),
        ("bob:x", "aop:meeting-brief", ["aop:meeting-brief"]),
        ("bob:x", "M\u0435eting\u200b Brief", ["M\u0435eting\u200b Brief"]),
        ("bob:x", "\uff2deeting\u2011Brief", ["\uff2deeting\u2011Brief"]),
        ("aop.meeting-brief", "Other", []),
        ("bob:x", "Meeting Briefs", []),
    ],
)
async def test_what_looks_alike_is_found_and_what_does_not_is_not(
    gateway: RunningUnit, alice: str, bob: str, agent_id: str, name: str, found: list[str]
) -> None:
    await publish(gateway, alice, "aop:meeting-brief", "Meeting Brief")
    await publish(gateway, bob, agent_id, name)
    assert [one["text"] for one in await resembles(gateway, alice, agent_id)] == found


async def test_an_owner_does_not_imitate_themselves_and_a_draft_is_imitated_by_nobody(
    gateway: RunningUnit, alice: str, bob: str
) -> None:
    hidden = a_card(agent_id="aop:hidden", name="Hidden")
    assert (await gateway.post("/v1/agents", hidden, token=alice)).status == 201
    await publish(gateway, bob, "aop:shown", "Hidden")
    await publish(gateway, bob, "aop:shown-too", "Hidden")
    assert await resembles(gateway, bob, "aop:shown") == []
    assert await resembles(gateway, bob, "aop:shown-too") == []


async def test_the_prefix_of_a_provider_that_is_not_yours_is_told(gateway: RunningUnit, alice: str, bob: str) -> None:
    assert (await gateway.post("/v1/agents", a_card(), token=alice)).status == 201
    binding = {"endpoint": ENDPOINT, "method": "http_well_known", "version": "1.0.0"}
    path = "/v1/providers/openai/agents/acme:summarizer/endpoint-bindings"
    assert (await gateway.post(path, binding, token=alice)).status == 201
    await publish(gateway, bob, "openai:agent", "Agent")
    assert await resembles(gateway, bob, "openai:agent") == [{"part": "prefix", "text": "openai", "ownerId": "alice"}]


async def test_a_name_of_any_version_counts_and_many_names_stay_few_warnings(
    gateway: RunningUnit, alice: str, bob: str
) -> None:
    names = [f"Name {'abcdefghjk'[number]}" for number in range(10)] + ["Name m"]
    for number, name in enumerate(names):
        await publish(gateway, alice, f"alice:{number}-first", name)
        await publish(gateway, bob, "bob:many", name, f"1.{number}.0")
    found = await resembles(gateway, alice, "bob:many")
    assert len(found) == 10
    assert {one["ownerId"] for one in found} == {"alice"}


async def test_names_that_grow_when_normalised_are_published_all_the_same(
    gateway: RunningUnit, alice: str, bob: str
) -> None:
    await publish(gateway, alice, "alice:long", "\ufdfa" * 120)
    await publish(gateway, bob, "bob:unseen", "\u200b" * 5)
    assert await resembles(gateway, alice, "bob:unseen") == []


async def test_of_two_that_publish_one_name_at_once_exactly_one_was_first(
    gateway: RunningUnit, alice: str, bob: str
) -> None:
    await asyncio.gather(publish(gateway, alice, "one:a", "Twin"), publish(gateway, bob, "two:b", "Tw1n"))
    told = [len(await resembles(gateway, alice, agent)) for agent in ("one:a", "two:b")]
    assert sorted(told) == [0, 1]


async def test_the_store_keeps_who_was_first(gateway: RunningUnit, stores: DatabaseUrls, alice: str) -> None:
    await publish(gateway, alice, "aop:kept", "Kept")
    connection = await asyncpg.connect(stores.control_plane)
    try:
        assert (
            await connection.fetchval(
                "SELECT owner_id FROM registry.published_name WHERE part = 'name' AND skeleton = $1", skeleton("Kept")
            )
            == "alice"
        )
        with pytest.raises(asyncpg.PostgresError):
            await connection.execute("UPDATE registry.published_name SET owner_id = 'bob'")
    finally:
        await connection.close()


async def test_an_upgraded_store_knows_who_published_before(
    gateway: RunningUnit, stores: DatabaseUrls, alice: str, bob: str
) -> None:
    for agent_id, name in (("aop:one", "\u0421lassic Agent 10"), ("a", "\uff21gent."), ("b:vv", "Modern \ufdfa")):
        await publish(gateway, alice, agent_id, name)
    await publish(gateway, bob, "bob:late", "Classic-Agent lo")
    upgrade = (assets.folder("migrations") / "registry" / "0007_published_names.sql").read_text("utf-8")
    connection = await asyncpg.connect(stores.migration)
    try:
        rows = "SELECT part, skeleton, agent_id, owner_id, text, first_at FROM registry.published_name ORDER BY 1, 2, 3"
        recorded = await connection.fetch(rows)
        await connection.execute(f"SET ROLE aop_owner; DROP TABLE registry.published_name; {upgrade}")
        assert await connection.fetch(rows) == recorded
    finally:
        await connection.close()
