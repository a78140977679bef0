"""The three provider lists: own rows only, newest first, in pages that neither skip nor repeat."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from aop.base.clock import utc_now
from aop.contracts.documents import document
from aop.local.state import DatabaseUrls
from tests.support.cards import a_card
from tests.support.errors import require_error
from tests.support.publication import Json, Provider, Scene, document_of, publication_scene

LISTS = {"agents": "catalog-entry/1", "endpoint-bindings": "endpoint-binding/1", "releases": "release/2"}


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    async with publication_scene(stores) as scene:
        yield scene


async def page(provider: Provider, name: str, query: str = "") -> Json:
    reply = await provider.get(f"{provider.path}/{name}{query}")
    assert reply.status == 200, reply.body
    for item in reply.json["items"]:
        assert document(LISTS[name]).violations(item) == ()
    assert reply.json.keys() <= {"items", "nextCursor"}
    answer: Json = reply.json
    return answer


async def walked(provider: Provider, name: str, limit: int, query: str = "") -> list[Any]:
    """All items, page by page."""
    items: list[Any] = []
    following = f"?limit={limit}{query}"
    while True:
        answer = await page(provider, name, following)
        items += answer["items"]
        if "nextCursor" not in answer:
            return items
        assert len(answer["items"]) == limit
        following = f"?limit={limit}{query}&cursor={answer['nextCursor']}"


@pytest.mark.rows("PUB-30")
async def test_agents_are_the_callers_own_of_this_provider_or_of_none_yet(scene: Scene) -> None:
    alice, bob = scene.alice, scene.bob
    await alice.new_binding(scene.agent.url, "acme:bound")
    await alice.register(scene.agent.url, "acme:free")
    await bob.register(scene.agent.url, "globex:other")
    elsewhere = Provider(scene.unit, alice.token, "alice", "acme-two")
    bound = await elsewhere.new_binding(scene.agent.url, "acme:elsewhere")
    assert bound["providerId"] == "acme-two"
    assert [item["agentId"] for item in (await page(alice, "agents"))["items"]] == ["acme:free", "acme:bound"]
    assert [item["agentId"] for item in (await page(elsewhere, "agents"))["items"]] == ["acme:elsewhere", "acme:free"]
    unclaimed = Provider(scene.unit, alice.token, "alice", "nobody-yet")
    assert [item["agentId"] for item in (await page(unclaimed, "agents"))["items"]] == ["acme:free"]
    assert (await page(Provider(scene.unit, bob.token, "bob", "new"), "agents"))["items"][0][
        "agentId"
    ] == "globex:other"


@pytest.mark.rows("PUB-30")
async def test_bindings_and_releases_are_those_of_the_provider_and_narrowed_by_agent(scene: Scene) -> None:
    alice, bob = scene.alice, scene.bob
    first = await alice.new_verified_binding(scene.agent, "acme:a")
    second = document_of(await alice.bind(scene.agent.url, "acme:a"), 201, "endpoint-binding/1")
    third = await alice.new_binding(scene.agent.url, "acme:b")
    await bob.new_binding(scene.agent.url, "globex:c")
    releases = [await alice.new_release(binding) for binding in (first, third)]
    bindings = (await page(alice, "endpoint-bindings"))["items"]
    assert bindings == [third, second, first]
    assert (await page(alice, "endpoint-bindings", "?agentId=acme:a"))["items"] == [second, first]
    assert (await page(alice, "endpoint-bindings", "?agentId=globex:c"))["items"] == []
    assert (await page(alice, "releases"))["items"] == releases[::-1]
    assert (await page(alice, "releases", "?agentId=acme:a"))["items"] == releases[:1]
    assert (await page(alice, "releases", "?agentId=acme:none"))["items"] == []


@pytest.mark.rows("PUB-30")
async def test_others_are_refused_and_an_unclaimed_provider_has_no_bindings_or_releases(scene: Scene) -> None:
    await scene.alice.new_binding(scene.agent.url)
    for name in LISTS:
        require_error(await scene.bob.get(f"{scene.alice.path}/{name}"), 403, "FORBIDDEN", "2")
    assert (await page(scene.bob, "agents"))["items"] == []
    for name in ("endpoint-bindings", "releases"):
        require_error(await scene.bob.get(f"{scene.bob.path}/{name}"), 404, "NOT_FOUND", "2")


@pytest.mark.rows("PUB-30")
@pytest.mark.parametrize("still", [True, False], ids=["all at the same time", "one after the other"])
async def test_pages_are_newest_first_and_neither_skip_nor_repeat(scene: Scene, *, still: bool) -> None:
    if still:
        scene.clock.stop(utc_now())
    for number in range(7):
        binding = await scene.alice.new_binding(scene.agent.url, f"acme:{number % 3}", f"{number}.0.0")
        await scene.alice.new_release(binding)
    for name in LISTS:
        whole = (await page(scene.alice, name, "?limit=100"))["items"]
        assert len(whole) == 7
        assert whole == sorted(whole, key=_order)
        for limit in (1, 2, 3, 7):
            assert await walked(scene.alice, name, limit) == whole
    for name in ("endpoint-bindings", "releases"):
        found = await walked(scene.alice, name, 1, "&agentId=acme:1")
        assert {item["version"] for item in found} == {"1.0.0", "4.0.0"}


def _order(item: Json) -> tuple[Any, ...]:
    """Descending by time, then ascending by the rest."""
    moment = item.get("registeredAt") or item["createdAt"]
    identity = item.get("releaseId") or item.get("bindingId")
    rest = (item["agentId"], item["version"]) if identity is None else (identity,)
    return tuple(-ord(character) for character in moment), rest


async def test_a_page_of_heavy_cards_stops_early_and_goes_on(scene: Scene) -> None:
    heavy = [{"id": f"p{number}", "description": "x" * 1000} for number in range(800)]
    for number in range(7):
        card = a_card(version=f"{number}.0.0", permissions=heavy, skills=a_card()["skills"])
        card["skills"][0]["requiredPermissions"] = []
        assert (await scene.alice.post("/v1/agents", card)).status == 201
    for path, member in ((f"{scene.alice.path}/agents", "items"), ("/v1/agents/acme:summarizer", "versions")):
        first = (await scene.alice.get(path)).json
        assert len(first[member]) == 6
        rest = (await scene.alice.get(f"{path}?cursor={first['nextCursor']}")).json
        assert [item["version"] for item in first[member] + rest[member]] == [f"{n}.0.0" for n in range(6, -1, -1)]
        assert "nextCursor" not in rest
