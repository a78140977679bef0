"""Discovery: what is listed, what an item shows, and how the filters choose."""

from typing import Any
from urllib.parse import quote

import pytest

from aop.contracts.documents import document
from aop.contracts.publication import ReleaseState
from aop.local.state import DatabaseUrls
from tests.gateway.discovery_queries import FAULTY, FOUND, NAMES
from tests.support.cards import ENDPOINT, a_card, a_skill
from tests.support.catalog import Catalog, member_names
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests
from tests.support.units import RunningUnit

AGENTS = "/v1/agents"


class Discovery:
    """Asks the Gateway and checks every item against its contract document."""

    def __init__(self, gateway: RunningUnit, token: str) -> None:
        self._gateway = gateway
        self._token = token

    async def items(self, query: str = "") -> list[dict[str, Any]]:
        reply = await self._gateway.get(f"{AGENTS}?{query}" if query else AGENTS, token=self._token)
        assert reply.status == 200, reply.body
        assert reply.header("cache-control") == "no-store"
        items: list[dict[str, Any]] = reply.json["items"]
        for item in items:
            assert document("discovery-item/1").violations(item) == ()
        return items

    async def agents(self, query: str = "") -> list[str]:
        return [item["agentId"] for item in await self.items(query)]

    async def versions(self, query: str = "") -> list[str]:
        return [item["version"] for item in await self.items(query)]


@pytest.fixture
def discovery(gateway: RunningUnit, bob: str) -> Discovery:
    return Discovery(gateway, bob)


async def test_an_empty_catalog_is_an_empty_list(gateway: RunningUnit, alice: str) -> None:
    assert (await gateway.get(AGENTS, token=alice)).json == {"items": []}
    require_error(await gateway.get(AGENTS), 401, "UNAUTHENTICATED", "2")


@pytest.mark.rows("CAT-19")
async def test_filters_narrow_with_and(catalog: Catalog, discovery: Discovery) -> None:
    translate, review = a_skill("translate"), a_skill("review")
    await catalog.publish(
        a_card(agent_id="one", name="French", skills=[translate]),
        a_card(agent_id="two", name="German", skills=[review, translate]),
        a_card(agent_id="three", name="German", skills=[review]),
        a_card(agent_id="four", name="German", skills=[translate], owner="bob"),
    )
    assert await discovery.agents("capability=translate") == ["four", "two", "one"]
    assert await discovery.agents("capability=translate&query=german") == ["four", "two"]
    assert await discovery.agents("capability=translate&query=german&ownerId=alice") == ["two"]
    assert await discovery.agents("capability=Translate") == []
    assert await discovery.agents("capability=translat") == []
    assert await discovery.agents("ownerId=bob") == ["four"]
    assert await discovery.agents("ownerId=nobody") == []
    assert await discovery.agents("latest=false") == ["four", "three", "two", "one"]


@pytest.mark.rows("CAT-20")
async def test_a_query_is_words_or_without_letters_a_literal_part_whatever_the_case(
    catalog: Catalog, discovery: Discovery
) -> None:
    plain, skills = "Does one thing only", [a_skill("act", name="Act")]
    await catalog.publish(
        *(a_card(agent_id=f"x-{key}", name=name, description=plain, skills=skills) for key, name in NAMES.items())
    )
    described = "The Quick brown fox 🦊"
    await catalog.publish(a_card(agent_id="x-described", name="jumps", description=described, skills=skills))
    found = {query: await discovery.agents(f"query={quote(query)}") for query in FOUND}
    assert found == {query: [f"x-{agent_id}"] if agent_id else [] for query, agent_id in FOUND.items()}


@pytest.mark.rows("CAT-21")
async def test_only_published_cards_without_a_release_or_with_a_published_one_are_listed(
    catalog: Catalog, discovery: Discovery
) -> None:
    await catalog.register(a_card(agent_id="draft"))
    await catalog.publish(a_card(agent_id="bare"))
    for state in (s for s in ReleaseState if s is not ReleaseState.DRAFT):
        await catalog.publish(card := a_card(agent_id=state))
        await catalog.release(card, state)
    await catalog.publish(disabled := a_card(agent_id="disabled"))
    await catalog.release(disabled)
    await catalog.disable(disabled)
    items = {item["agentId"]: item for item in await discovery.items()}
    assert set(items) == {"bare", "published"}
    assert (items["bare"]["release"], items["bare"]["installable"]) == (None, False)
    assert (items["published"]["release"]["state"], items["published"]["installable"]) == ("published", True)
    for more in ("", "&query=summar", "&capability=summarize", "&latest=true", "&ownerId=alice"):
        assert await discovery.agents(f"installable=true{more}") == ["published"]
        assert await discovery.agents(f"installable=false{more}") == ["bare"]


@pytest.mark.rows("CAT-22")
async def test_an_item_shows_the_card_without_its_endpoint(catalog: Catalog, discovery: Discovery) -> None:
    odd = {
        "type": "object",
        "properties": {"a": {"minimum": 1e-7, "title": "\u2028é\\"}},
        "maxProperties": 9007199254740991,
    }
    card = a_card(skills=[a_skill("summarize", outputSchema=odd)])
    entry = await catalog.publish(card)
    release = await catalog.release(card)
    (item,) = await discovery.items()
    assert item == {
        "agentId": card["agentId"],
        "version": card["version"],
        "publicationStatus": "published",
        "cardDigest": entry.card_digest,
        "registeredAt": entry.registered_at,
        "publishedAt": entry.published_at,
        "publicAgentId": entry.public_agent_id,
        "publicUrl": f"http://127.0.0.1:8082/a/{entry.public_agent_id}",
        "release": {"releaseId": release.release_id, "state": "published"},
        "installable": True,
        **{name: card[name] for name in ("name", "description", "owner", "skills", "permissions", "limits")},
        "authenticationType": "http_bearer",
    }
    assert member_names(item).isdisjoint({"endpoint", "card", "protocol", "disabledAt", "provider", "providerId"})


@pytest.mark.rows("CAT-22")
async def test_the_schemas_of_a_skill_keep_their_bytes(catalog: Catalog, gateway: RunningUnit, bob: str) -> None:
    entry = await catalog.publish(a_card(skills=[a_skill(outputSchema={"z": 1, "minimum": 1e21, "a": "\u2028/"})]))
    skills = bytes(entry.card).split(b'"skills":')[1].split(b',"version"')[0]
    body = (await gateway.get(AGENTS, token=bob)).body
    assert b'"skills":' + skills in body
    assert ENDPOINT.encode() not in body


@pytest.mark.rows("CAT-23")
async def test_latest_keeps_the_highest_version_among_those_that_match_the_other_filters(
    catalog: Catalog, discovery: Discovery
) -> None:
    await catalog.publish(
        a_card(version="1.9.0", name="Old", skills=[a_skill("archive")]),
        a_card(version="2.0.0-rc.1"),
        a_card(version="1.10.0"),
        a_card(agent_id="other", version="0.1.0", skills=[a_skill("archive")]),
    )
    assert await discovery.versions("latest=true&ownerId=alice&capability=summarize") == ["2.0.0-rc.1"]
    assert await discovery.versions("latest=true") == ["0.1.0", "2.0.0-rc.1"]
    assert await discovery.versions("latest=true&query=old") == ["1.9.0"]
    assert await discovery.versions("latest=true&capability=archive") == ["0.1.0", "1.9.0"]
    assert await discovery.versions("latest=true&query=o&capability=archive") == ["0.1.0", "1.9.0"]


@pytest.mark.rows("CAT-23")
async def test_the_highest_version_is_by_precedence_then_by_bytes_and_must_be_eligible(
    catalog: Catalog, discovery: Discovery
) -> None:
    for version in ("1.0.0-alpha.9", "1.0.0-alpha.10", "1.0.0-alpha.beta", "1.0.0+b", "1.0.0", "1.0.0+a"):
        await catalog.publish(a_card(version=version))
    for filters in ("latest=true", "latest=true&query=summar"):
        assert await discovery.versions(filters) == ["1.0.0+b"]
    await catalog.disable(a_card(version="1.0.0+b"))
    assert await discovery.versions("latest=true") == ["1.0.0+a"]
    await catalog.release(a_card(version="1.0.0+a"), ReleaseState.SUSPENDED)
    await catalog.disable(a_card(version="1.0.0"))
    for filters in ("latest=true", "latest=true&capability=summarize"):
        assert await discovery.versions(filters) == ["1.0.0-alpha.beta"]
    await catalog.release(a_card(version="1.0.0-alpha.9"))
    assert await discovery.versions("latest=true&installable=true") == ["1.0.0-alpha.9"]


@pytest.mark.rows("CAT-24")
async def test_a_faulty_parameter_is_refused(gateway: RunningUnit, bob: str) -> None:
    for query, pointer, rule in FAULTY:
        reply = await gateway.get(f"{AGENTS}?{query}", token=bob)
        require_error(reply, 400, "VALIDATION_ERROR", "2")
        assert reply.json["violations"] == [{"pointer": pointer, "rule": rule}], query


async def test_the_longest_query_and_identifiers_pass(catalog: Catalog, discovery: Discovery) -> None:
    await catalog.publish(a_card(name="\U0001d518" * 120, description="ß" * 256, skills=[a_skill("s" * 128)]))
    assert await discovery.agents(f"query={quote('ß' * 256)}&capability={'s' * 128}") == ["acme:summarizer"]
    assert await discovery.agents(f"query={quote('ẞ' * 256)}") == ["acme:summarizer"]
    assert await discovery.agents("query=+s&limit=1") == ["acme:summarizer"]


@pytest.mark.rows("CAT-29")
@pytest.mark.parametrize("query", ["", "?query=summarizer", "?capability=summarize&latest=true"])
async def test_a_dead_store_is_a_dependency_error_and_never_an_empty_list(
    catalog: Catalog, gateway: RunningUnit, bob: str, stores: DatabaseUrls, postgres: PostgresForTests, query: str
) -> None:
    database = stores.migration.rpartition("/")[2]
    await catalog.publish(a_card())
    assert (await gateway.get(AGENTS, token=bob)).status == 200  # the caller is known from here on
    await postgres.execute("DROP VIEW registry.eligible_version CASCADE", database)
    require_error(await gateway.get(AGENTS + query, token=bob), 503, "DEPENDENCY_ERROR", "2")
    await postgres.drop(database)
    require_error(await gateway.get(AGENTS + query, token=bob), 503, "DEPENDENCY_ERROR", "2")
