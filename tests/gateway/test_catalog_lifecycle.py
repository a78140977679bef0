"""Publishing and disabling Card versions: every state and trigger, rights, and what races leave behind."""

import asyncio
from collections import Counter
from functools import partial

import asyncpg
import pytest

from aop.contracts.documents import document
from aop.local.state import DatabaseUrls
from tests.support.at_once import Call, all_answered
from tests.support.cards import a_card, count_cards
from tests.support.errors import require_error
from tests.support.units import RunningUnit

VERSION = "/v1/agents/acme:summarizer/versions/1.0.0"


async def test_the_lifecycle_table_holds_for_every_state_and_trigger(gateway: RunningUnit, alice: str) -> None:
    reach: dict[str, tuple[str, ...]] = {"draft": (), "published": ("publish",), "disabled": ("disable",)}
    expected = {
        ("draft", "publish"): "published",
        ("draft", "disable"): "disabled",
        ("published", "publish"): None,
        ("published", "disable"): "disabled",
        ("disabled", "publish"): None,
        ("disabled", "disable"): "disabled",
    }
    for number, ((state, trigger), target) in enumerate(expected.items()):
        path = f"/v1/agents/acme:{number}/versions/1.0.0"
        await gateway.post("/v1/agents", a_card(agent_id=f"acme:{number}"), token=alice)
        for act in reach[state]:
            assert (await gateway.post(f"{path}/{act}", token=alice)).status == 200
        reply = await gateway.post(f"{path}/{trigger}", token=alice)
        if target is None:
            require_error(reply, 409, "CONFLICT", "2")
        else:
            assert (reply.status, reply.json["publicationStatus"]) == (200, target)
            assert document("catalog-entry/1").violations(reply.json) == ()
        found = await gateway.get(path, token=alice)
        assert found.header("x-platform-publication-status") == (target or state)


@pytest.mark.rows("CAT-17")
async def test_a_draft_is_published_once_by_its_owner_and_then_read_by_all(
    gateway: RunningUnit, alice: str, bob: str
) -> None:
    draft = (await gateway.post("/v1/agents", a_card(), token=alice)).json
    require_error(await gateway.post(f"{VERSION}/publish", token=bob), 403, "FORBIDDEN", "2")
    reply = await gateway.post(f"{VERSION}/publish", token=alice)
    assert (reply.status, reply.json["publicationStatus"]) == (200, "published")
    assert reply.json["publishedAt"] >= draft["registeredAt"] == reply.json["registeredAt"]
    assert (await gateway.get(VERSION, token=bob)).status == 200
    require_error(await gateway.post(f"{VERSION}/publish", token=alice), 409, "CONFLICT", "2")
    require_error(await gateway.post(f"{VERSION}/publish", token=bob), 403, "FORBIDDEN", "2")
    for token in (alice, bob):
        unknown = VERSION.replace("1.0.0", "9.9.9")
        require_error(await gateway.post(f"{unknown}/publish", token=token), 404, "NOT_FOUND", "2")
        require_error(await gateway.post(f"{unknown}/disable", token=token), 404, "NOT_FOUND", "2")


@pytest.mark.rows("CAT-18")
async def test_disabling_is_final_and_repeating_it_changes_nothing(gateway: RunningUnit, alice: str, bob: str) -> None:
    await gateway.post("/v1/agents", a_card(), token=alice)
    published = (await gateway.post(f"{VERSION}/publish", token=alice)).json
    require_error(await gateway.post(f"{VERSION}/disable", token=bob), 403, "FORBIDDEN", "2")
    first = await gateway.post(f"{VERSION}/disable", token=alice)
    second = await gateway.post(f"{VERSION}/disable", token=alice)
    assert (first.status, second.status) == (200, 200)
    assert first.json == second.json
    assert first.json["publishedAt"] == published["publishedAt"]
    assert first.json["publicationStatus"] == "disabled"
    require_error(await gateway.post(f"{VERSION}/publish", token=alice), 409, "CONFLICT", "2")


async def test_whatever_body_comes_with_publish_and_disable_is_ignored(gateway: RunningUnit, alice: str) -> None:
    await gateway.post("/v1/agents", a_card(), token=alice)
    headers = [(b"content-type", b"text/plain"), (b"content-encoding", b"gzip")]
    for act in ("publish", "disable"):
        reply = await gateway.post(f"{VERSION}/{act}", b"\x00 not json " * 10_000, token=alice, headers=headers)
        assert reply.status == 200


@pytest.mark.rows("CAT-13")
async def test_a_draft_and_a_disabled_version_are_for_their_owner_only(
    gateway: RunningUnit, alice: str, bob: str
) -> None:
    await gateway.post("/v1/agents", a_card(), token=alice)
    for state in ("draft", "disabled"):
        if state == "disabled":
            await gateway.post(f"{VERSION}/disable", token=alice)
        refused = await gateway.get(VERSION, token=bob)
        require_error(refused, 403, "FORBIDDEN", "2")
        assert refused.header("etag") is refused.header("x-platform-publication-status") is None
        own = await gateway.get(VERSION, token=alice)
        assert (own.status, own.header("x-platform-publication-status")) == (200, state)


@pytest.mark.rows("CAT-12")
async def test_of_many_identical_registrations_exactly_one_is_stored(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls
) -> None:
    statuses = await _at_once(*(lambda: gateway.post("/v1/agents", a_card(), token=alice) for _ in range(12)))
    assert statuses == {201: 1, 409: 11}
    statuses = await _at_once(
        *(lambda: gateway.post("/v1/agents", a_card(version="2.0.0"), token=alice) for _ in range(80))
    )
    assert statuses == {201: 1, 409: 79}
    assert await count_cards(stores) == (1, 2)


@pytest.mark.rows("CAT-12")
async def test_two_principals_racing_for_an_agent_leave_one_owner(
    gateway: RunningUnit, alice: str, bob: str, stores: DatabaseUrls
) -> None:
    """Everybody posts another version: the Agent goes to one of them, and all versions of the other are refused."""
    tokens = {"alice": alice, "bob": bob}

    async def post(number: int, owner: str) -> tuple[str, int]:
        card = a_card(version=f"{number}.0.0", owner=owner)
        return owner, (await gateway.post("/v1/agents", card, token=tokens[owner])).status

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(post(number, ("alice", "bob")[number % 2])) for number in range(60)]
    outcomes = Counter(task.result() for task in tasks)
    winner = "alice" if outcomes["alice", 201] else "bob"
    loser = "bob" if winner == "alice" else "alice"
    assert outcomes == {(winner, 201): 30, (loser, 403): 30}
    assert await count_cards(stores) == (1, 30)


@pytest.mark.rows("CAT-12")
async def test_of_many_publishes_exactly_one_wins(gateway: RunningUnit, alice: str) -> None:
    await gateway.post("/v1/agents", a_card(), token=alice)
    statuses = await _at_once(*(lambda: gateway.post(f"{VERSION}/publish", token=alice) for _ in range(60)))
    assert statuses == {200: 1, 409: 59}


@pytest.mark.rows("CAT-12")
async def test_publish_and_disable_racing_end_disabled(gateway: RunningUnit, alice: str) -> None:
    for number in range(8):
        path = f"/v1/agents/acme:summarizer/versions/{number}.0.0"
        await gateway.post("/v1/agents", a_card(version=f"{number}.0.0"), token=alice)
        acts = ["publish", "disable"] * 5
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(gateway.post(f"{path}/{act}", token=alice)) for act in acts]
        replies = [(act, task.result()) for act, task in zip(acts, tasks, strict=True)]
        published = [reply.json for act, reply in replies if act == "publish" and reply.status == 200]
        disabled = [reply.json for act, reply in replies if act == "disable"]
        assert len(published) <= 1
        assert {reply.status for act, reply in replies if act == "disable"} == {200}
        assert len({(entry["disabledAt"], entry.get("publishedAt")) for entry in disabled}) == 1
        assert disabled[0].get("publishedAt") == (published[0]["publishedAt"] if published else None)
        found = await gateway.get(path, token=alice)
        assert found.header("x-platform-publication-status") == "disabled"


async def test_publication_numbers_are_taken_once_each_under_concurrency(
    gateway: RunningUnit, alice: str, stores: DatabaseUrls
) -> None:
    paths = [f"/v1/agents/acme:{number}/versions/1.0.0" for number in range(50)]
    for number in range(50):
        await gateway.post("/v1/agents", a_card(agent_id=f"acme:{number}"), token=alice)
    assert await _at_once(*(partial(gateway.post, f"{path}/publish", token=alice) for path in paths)) == {200: 50}
    connection = await asyncpg.connect(stores.control_plane)
    try:
        numbers = await connection.fetch("SELECT publication FROM registry.card ORDER BY publication")
        counter = await connection.fetchval("SELECT value FROM registry.counter WHERE name = 'publication'")
    finally:
        await connection.close()
    assert [row["publication"] for row in numbers] == list(range(1, 51))
    assert counter == 50


async def _at_once(*calls: Call) -> Counter[int]:
    return Counter(reply.status for reply in await all_answered(calls))
