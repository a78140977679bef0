"""Discovery by words: the Agent one means comes first, mistakes are forgiven, and pages hold while others publish."""

import random
import string
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio

from aop.contracts.publication import ReleaseState
from aop.control_plane.app import build
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from tests.gateway.word_catalog import Listed, a_thousand, index_again, put
from tests.support.cards import a_card, a_skill
from tests.support.catalog import opened_catalog
from tests.support.postgres import PostgresForTests, session
from tests.support.settings import control_plane_environment
from tests.support.units import RunningUnit, running

pytestmark = pytest.mark.asyncio(loop_scope="module")

SAMPLE = 5
HOSTILE = (
    " ".join(string.ascii_lowercase + string.digits),
    " ".join(a + b for a in string.ascii_lowercase for b in "aeiou")[:256],
    " ".join(["acme", "limited", "translate", "invoices"] * 20)[:256],
    " ".join("".join(random.Random(n).choices("aeinrst", k=6)) for n in range(40))[:256],
    "e" * 256,
    "translaet" * 28,
    quote("要約" * 128),
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def store(postgres: PostgresForTests) -> AsyncIterator[DatabaseUrls]:
    urls = await postgres.new_platform()
    yield urls
    await postgres.drop(urls.migration.rpartition("/")[2])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def thousand(store: DatabaseUrls) -> list[Listed]:
    listed = a_thousand()
    await put(store, [one.card for one in listed])
    return listed


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def planes(store: DatabaseUrls, thousand: list[Listed]) -> AsyncIterator[list[RunningUnit]]:
    """Two Control Planes on one store, with all of them published."""
    assert thousand
    settings = read_control_plane_settings(
        control_plane_environment(
            PLATFORM_DATABASE_URL=store.control_plane, PLATFORM_ROUTER_INTERNAL_ORIGIN="http://127.0.0.1:1"
        )
    )
    async with running(lambda: build(settings)) as first, running(lambda: build(settings)) as second:
        yield [first, second]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def token(store: DatabaseUrls) -> str:
    return (await issue_token(store.control_plane, "reader")).token.reveal()


async def page(unit: RunningUnit, token: str, query: str) -> Any:
    reply = await unit.get(f"/v1/agents?{query}", token=token)
    assert reply.status == 200, reply.body
    return reply.json


async def agents(unit: RunningUnit, token: str, words: str, more: str = "") -> list[str]:
    return [item["agentId"] for item in (await page(unit, token, f"query={quote(words)}{more}"))["items"]]


@pytest.mark.rows("FIND-01")
async def test_among_a_thousand_agents_the_one_meant_is_among_the_first_three(
    thousand: list[Listed], planes: list[RunningUnit], token: str
) -> None:
    chance = random.Random(20)
    for one in chance.sample(thousand, SAMPLE):
        asked = {
            "Skill id": one.card["skills"][0]["id"],
            "agent id": one.agent_id,
            "agent id, other case": one.agent_id.upper(),
            "two words in the other order": f"{one.noun} {one.verb}",
            "one wrong letter": f"{one.verb} {_misspelt(one.noun, chance)}",
            "one wrong letter in each word": f"{_misspelt(one.noun, chance)} {_misspelt(one.verb, chance)}",
            "two wrong letters": f"{one.verb} {_misspelt(_misspelt(one.noun, chance), chance)}",
            "starts of words": f"{one.verb[:6]} {one.noun[:5]}",
            "owner id": one.card["owner"]["id"],
            "owner name": one.card["owner"]["displayName"],
        }
        for kind, words in asked.items():
            assert one.agent_id in (await agents(planes[0], token, words))[:3], (kind, words)


@pytest.mark.rows("FIND-02")
@pytest.mark.parametrize("more", ["", "&latest=true", "&order=newest"])
async def test_pages_by_relevance_hold_while_others_publish_and_are_the_same_on_two_control_planes(
    store: DatabaseUrls, planes: list[RunningUnit], token: str, more: str
) -> None:
    query = f"query=translate+now&limit=7{more}"
    before = [await _keys(unit, token, query) for unit in planes]
    assert before[0] == before[1]
    assert len(before[0]) == len(set(before[0])) >= 40
    first = await page(planes[0], token, query)
    seen, number = [_key(item) for item in first["items"]], len(more)
    async with opened_catalog(store) as catalog:
        await catalog.publish(
            a_card(agent_id=f"translate-now-{number}", name="Translate now"),
            a_card(agent_id=f"late-{number}", description="Can translate it now."),
            a_card(agent_id=f"other-{number}", name="Tranlsate noww later", owner="bob"),
        )
    cursor, turn = first["nextCursor"], 0
    while cursor is not None:
        turn += 1
        answer = await page(planes[turn % 2], token, f"{query}&cursor={cursor}")
        seen += [_key(item) for item in answer["items"]]
        cursor = answer.get("nextCursor")
    assert seen == before[0], "nothing twice, nothing lost, in the order of the first page"
    assert set(await _keys(planes[1], token, query)) > set(seen)


@pytest.mark.second_ring
async def test_a_better_match_in_a_better_place_comes_first(
    store: DatabaseUrls, planes: list[RunningUnit], token: str
) -> None:
    plain, skills = "Does one thing.", [a_skill("act", name="Act")]
    places: dict[str, dict[str, Any]] = {
        "in-description": {"description": "A zebra."},
        "in-owner": {"owner": {"id": "someone", "displayName": "Zebra Limited"}},
        "in-skill": {"skills": [a_skill("act", name="Zebra")]},
        "in-name": {"name": "Zebra"},
    }
    kinds = {"one-mistake": "zebrx", "start": "zebras"}
    async with opened_catalog(store) as catalog:
        for agent_id, member in places.items():
            card = a_card(agent_id=agent_id, name="Plain", description=plain, skills=skills, permissions=[])
            await catalog.publish({**card, **member})
        for agent_id, word in kinds.items():
            await catalog.publish(
                a_card(agent_id=agent_id, name=word, description=plain, skills=skills, permissions=[])
            )
        await catalog.publish(a_card(agent_id="zebra", name="Plain", description=plain, skills=skills, permissions=[]))
    best_first = ["zebra", "in-name", "in-skill", "in-owner", "in-description", "start", "one-mistake"]
    assert await agents(planes[0], token, "zebra") == best_first
    newest_first = ["zebra", "start", "one-mistake", *reversed([*places])]
    assert await agents(planes[0], token, "zebra", "&order=newest") == newest_first
    assert await agents(planes[0], token, "Zebras") == ["start", *best_first[:5], "one-mistake"]
    assert await agents(planes[0], token, "zeebrras") == ["start"]
    assert await agents(planes[0], token, "zebra", "&ownerId=zebra") == [], "filters are never widened"
    assert await agents(planes[0], token, "zebra", "&capability=zebra") == []
    assert await agents(planes[0], token, "zebra plain", "&latest=true") == ["zebra", *best_first[2:5]]


@pytest.mark.second_ring
async def test_what_was_ended_is_no_longer_found_and_leaves_nothing_in_the_index(
    store: DatabaseUrls, planes: list[RunningUnit], token: str
) -> None:
    cards = [a_card(agent_id="okapi", version=f"1.{number}.0") for number in range(4)]
    async with opened_catalog(store) as catalog:
        await catalog.publish(*cards)
        releases = [await catalog.release(card) for card in cards]
        assert await agents(planes[0], token, "okapi") == ["okapi"] * 4
        await catalog.disable(cards[0])
        await catalog.move("alice", releases[1], ReleaseState.SUSPENDED)
        await catalog.move("alice", releases[2], ReleaseState.REVOKED)
        assert [item["version"] for item in (await page(planes[0], token, "query=okapi"))["items"]] == ["1.3.0"]
        async with catalog.database.connection() as connection:
            left = await connection.fetch("SELECT version FROM registry.indexed_version WHERE agent_id = 'okapi'")
    assert [row["version"] for row in left] == ["1.3.0"]


@pytest.mark.second_ring
async def test_no_query_makes_the_store_work_without_end(planes: list[RunningUnit], token: str) -> None:
    """A statement that takes 2 s is ended and answered 503."""
    for words in HOSTILE:
        for more in ("", "&latest=true", "&limit=100"):
            await page(planes[0], token, f"query={words.replace(' ', '+')}{more}")


@pytest.mark.second_ring
async def test_what_a_publication_writes_has_a_limit(store: DatabaseUrls) -> None:
    chance = random.Random(9)
    skills = [a_skill(f"skill-{number}-{chance.randbytes(16).hex()}") for number in range(300)]
    long = " ".join(chance.randbytes(2).hex() for _ in range(790))
    async with opened_catalog(store) as catalog:
        await catalog.publish(a_card(agent_id="greedy", skills=skills, description=long))
        async with catalog.database.connection() as connection:
            uses = await connection.fetchval(
                "SELECT count(*) FROM registry.word_use JOIN registry.indexed_version USING (version_id)"
                " WHERE agent_id = 'greedy'"
            )
    assert uses == 1_000


@pytest.mark.second_ring
async def test_the_migration_indexes_what_was_published_before_as_a_publication_does(
    postgres: PostgresForTests,
) -> None:
    urls = await postgres.new_platform()
    async with opened_catalog(urls) as catalog:
        await catalog.publish(
            a_card(agent_id="Acme:Mixed-Case.1", name="Straße & Söhne", description="Ελλάδα, 会議の要約 ②: “quoted”…"),
            a_card(agent_id="plain", skills=[a_skill("read_it", name="Read it"), a_skill("two", name="Two")]),
        )
        await catalog.register(a_card(agent_id="draft"))
        await catalog.publish(disabled := a_card(agent_id="disabled"))
        await catalog.disable(disabled)
    written = await _indexed(postgres, urls)
    await index_again(urls)
    assert await _indexed(postgres, urls) == written
    assert {("plain", "=read_it", 32), ("plain", "read", 4)} <= written
    await postgres.drop(urls.migration.rpartition("/")[2])


async def _indexed(postgres: PostgresForTests, urls: DatabaseUrls) -> set[tuple[str, str, int]]:
    async with session(postgres.url(urls.migration.rpartition("/")[2])) as connection:
        rows = await connection.fetch(
            "SELECT agent_id, word, places, (SELECT string_agg(gram, ' ' ORDER BY gram) FROM registry.word_gram"
            " WHERE word_gram.word_id = word.word_id) AS grams FROM registry.word_use"
            " JOIN registry.word USING (word_id) JOIN registry.indexed_version USING (version_id)"
        )
    assert all(row["grams"] for row in rows if len(row["word"]) > 2 and row["word"].isalnum())
    return {(row["agent_id"], row["word"], row["places"]) for row in rows}


async def _keys(unit: RunningUnit, token: str, query: str) -> list[str]:
    seen: list[str] = []
    cursor = ""
    while True:
        answer = await page(unit, token, query + cursor)
        seen += [_key(item) for item in answer["items"]]
        if "nextCursor" not in answer:
            return seen
        cursor = f"&cursor={answer['nextCursor']}"


def _key(item: dict[str, Any]) -> str:
    return f"{item['agentId']} {item['version']}"


def _misspelt(word: str, chance: random.Random) -> str:
    """With one letter replaced, left out, added, or exchanged with the next one."""
    place, letter = chance.randrange(len(word) - 1), chance.choice(string.ascii_lowercase)
    forms = [
        word[:place] + letter + word[place + 1 :],
        word[:place] + word[place + 1 :],
        word[:place] + letter + word[place:],
        word[:place] + word[place + 1] + word[place] + word[place + 2 :],
    ]
    return chance.choice(forms)
