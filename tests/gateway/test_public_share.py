"""The public share: what anyone may read of an Agent, and nothing else."""

from contextlib import aclosing
from datetime import timedelta
from typing import Any

import pytest

from aop.base.clock import to_text
from aop.contracts.documents import document
from aop.contracts.errors import DependencyFailed
from aop.contracts.publication import ReleaseState
from aop.control_plane.discovery.public_agents import PublicAgents
from aop.local.state import DatabaseUrls
from aop.store.rows import PageSize
from tests.support.cards import ENDPOINT, a_card, a_skill
from tests.support.catalog import Catalog, member_names, provider_of
from tests.support.errors import require_error
from tests.support.postgres import PostgresForTests, opened_database
from tests.support.units import Reply, RunningUnit

PUBLIC = "/v1/public/agents"
NOBODY = "agt_" + "0" * 32


async def share(gateway: RunningUnit, public_agent_id: str, query: str = "") -> Any:
    reply = await gateway.get(f"{PUBLIC}/{public_agent_id}{query}")
    assert reply.status == 200, reply.body
    assert document("public-agent-share/1").violations(reply.json) == ()
    assert reply.header("cache-control") == "no-store"
    return reply.json


def nothing_shared(public_agent_id: str) -> dict[str, Any]:
    return {
        "schemaVersion": "1",
        "publicAgentId": public_agent_id,
        "publicUrl": f"http://127.0.0.1:8082/a/{public_agent_id}",
        "availability": "not_installable",
        "releases": [],
    }


@pytest.mark.rows("SHARE-01")
async def test_an_agent_without_a_published_release_shares_nothing_of_its_card(
    catalog: Catalog, gateway: RunningUnit
) -> None:
    public_id = (await catalog.register(a_card())).public_agent_id
    assert await share(gateway, public_id) == nothing_shared(public_id)
    await catalog.publish(a_card(version="2.0.0"))
    assert await share(gateway, public_id) == nothing_shared(public_id)
    await catalog.release(a_card(version="2.0.0"), ReleaseState.VERIFIED)
    await catalog.release(a_card(), ReleaseState.PENDING_VERIFICATION)
    assert await share(gateway, public_id) == nothing_shared(public_id)


@pytest.mark.rows("SHARE-02")
async def test_a_published_release_is_shared_without_endpoint_binding_evidence_or_provider(
    catalog: Catalog, gateway: RunningUnit
) -> None:
    card = a_card(skills=[a_skill("summarize", outputSchema={"minimum": 1e21, "title": "\u2028é"})])
    entry = await catalog.register(card)
    release = await catalog.release(card)
    found = await share(gateway, entry.public_agent_id)
    assert (found["availability"], found["publicUrl"]) == ("installable", entry.public_url)
    assert found["releases"] == [
        {
            "releaseId": release.release_id,
            "agentId": card["agentId"],
            "version": card["version"],
            "cardDigest": entry.card_digest,
            "publishedAt": release.published_at,
            **{name: card[name] for name in ("name", "description", "owner", "skills", "permissions", "limits")},
            "authenticationType": "http_bearer",
        }
    ]
    hidden = {"endpoint", "endpointOrigin", "endpointPath", "protocol", "card", "endpointBindingId", "providerId"}
    assert member_names(found).isdisjoint(hidden | {"verificationEvidenceDigest", "state", "registeredAt"})
    text = (await gateway.get(f"{PUBLIC}/{entry.public_agent_id}")).body.decode()
    hidden_values = (release.endpoint_binding_id, release.verification_evidence_digest, provider_of("alice"))
    for value in (ENDPOINT, "agents.example.com", *hidden_values):
        assert str(value) not in text


@pytest.mark.rows("SHARE-03")
@pytest.mark.parametrize("act", ["suspended", "revoked", "disabled"])
async def test_what_is_withdrawn_is_no_longer_shared(catalog: Catalog, gateway: RunningUnit, act: str) -> None:
    public_id = (await catalog.publish(card := a_card())).public_agent_id
    release = await catalog.release(card)
    assert (await share(gateway, public_id))["availability"] == "installable"
    if act == "disabled":
        await catalog.disable(card)
    else:
        await catalog.move("alice", release, ReleaseState(act))
    assert await share(gateway, public_id) == nothing_shared(public_id)


@pytest.mark.rows("SHARE-04")
@pytest.mark.parametrize(
    "malformed",
    ["agt_", "agt_" + "0" * 31, "agt_" + "A" * 32, "rel_" + "0" * 32, NOBODY + "0", NOBODY + "%0A", "a%2Fb"],
)
async def test_a_malformed_id_is_refused_and_an_unknown_one_not_found(gateway: RunningUnit, malformed: str) -> None:
    reply = await gateway.get(f"{PUBLIC}/{malformed}")
    require_error(reply, 400, "VALIDATION_ERROR", "2")
    assert reply.json["violations"] == [{"pointer": "/publicAgentId", "rule": "path_value"}]
    require_error(await gateway.get(f"{PUBLIC}/{NOBODY}"), 404, "NOT_FOUND", "2")
    require_error(await gateway.get(f"{PUBLIC}/{NOBODY}?limit=1"), 404, "NOT_FOUND", "2")


@pytest.mark.rows("SHARE-04")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE registry.release SET card_digest = repeat('0', 64)",
        "UPDATE registry.card SET digest = repeat('0', 64)",
        "UPDATE registry.card SET document = document || '\\x20'",
        "UPDATE registry.card SET digest = repeat('0', 64); UPDATE registry.release SET card_digest = repeat('0', 64)",
    ],
)
async def test_digests_that_disagree_are_a_dependency_error(
    catalog: Catalog, gateway: RunningUnit, stores: DatabaseUrls, postgres: PostgresForTests, damage: str
) -> None:
    public_id = (await catalog.publish(card := a_card())).public_agent_id
    await catalog.release(card)
    unguarded = (
        "ALTER TABLE registry.card DISABLE TRIGGER ALL; ALTER TABLE registry.release DISABLE TRIGGER ALL;"
        " ALTER TABLE registry.card DROP CONSTRAINT card_digest_of_document;"
    )
    await postgres.execute(unguarded + damage, stores.migration.rpartition("/")[2])
    require_dependency_error(await gateway.get(f"{PUBLIC}/{public_id}"))


@pytest.mark.rows("SHARE-04", "CAT-29")
async def test_a_dead_store_is_a_dependency_error_and_never_an_unknown_agent(
    gateway: RunningUnit, stores: DatabaseUrls, postgres: PostgresForTests
) -> None:
    await postgres.drop(stores.migration.rpartition("/")[2])
    require_dependency_error(await gateway.get(f"{PUBLIC}/{NOBODY}"))


@pytest.mark.rows("SHARE-05")
@pytest.mark.parametrize("header", [b"Bearer wrong", b"Bearer aop_" + b"0" * 43, b"Basic x", b""])
async def test_an_authorization_header_is_ignored(catalog: Catalog, gateway: RunningUnit, header: bytes) -> None:
    public_id = (await catalog.register(a_card())).public_agent_id
    sent = [(b"authorization", header), (b"authorization", header)]
    reply = await gateway.get(f"{PUBLIC}/{public_id}", headers=sent)
    assert (reply.status, reply.json) == (200, nothing_shared(public_id))


async def pages(gateway: RunningUnit, public_agent_id: str, limit: int | None = None) -> list[Any]:
    query = "" if limit is None else f"?limit={limit}"
    found = [await share(gateway, public_agent_id, query)]
    while (cursor := found[-1].get("nextCursor")) is not None:
        found.append(await share(gateway, public_agent_id, f"{query}{'&' if query else '?'}cursor={cursor}"))
    return found


async def released(catalog: Catalog, count: int, **card: Any) -> tuple[str, list[str]]:
    """The public id of an Agent and its published Releases, in the order in which they are listed."""
    published = []
    for number in range(count):
        await catalog.register(one := a_card(version=f"1.{number}.0", **card))
        catalog.step = timedelta(seconds=number // 50)
        published.append(await catalog.release(one))
    public_id = (await catalog.register(a_card(version="9.0.0"))).public_agent_id
    published.sort(key=lambda release: release.release_id)
    published.sort(key=lambda release: str(release.published_at), reverse=True)
    return public_id, [release.release_id for release in published]


async def test_every_release_is_reached_page_by_page_newest_first_then_by_id(
    catalog: Catalog, gateway: RunningUnit
) -> None:
    public_id, listed = await released(catalog, 103)
    await catalog.register(a_card(agent_id="other"))
    await catalog.release(a_card(agent_id="other"))
    for limit, sizes in ((None, [25, 25, 25, 25, 3]), (100, [100, 3])):
        found = await pages(gateway, public_id, limit)
        assert [len(page["releases"]) for page in found] == sizes
        assert [item["releaseId"] for page in found for item in page["releases"]] == listed
        assert {page["availability"] for page in found} == {"installable"}
    assert found[0]["releases"][0]["publishedAt"] <= to_text(catalog.now)


@pytest.mark.rows("SAFE-06")
async def test_a_page_stops_once_its_cards_pass_4_mib_and_a_large_one_is_written_while_it_is_read(
    catalog: Catalog, gateway: RunningUnit
) -> None:
    big = {"type": "object", "description": "\u2028x" * 12_000}
    skills = [a_skill(f"s{number}", inputSchema=big, outputSchema=big) for number in range(8)]
    public_id, listed = await released(catalog, 7, skills=skills)
    first = await gateway.get(f"{PUBLIC}/{public_id}?limit=100")
    assert (first.header("content-length"), first.header("transfer-encoding")) == (None, "chunked")
    found = await pages(gateway, public_id, 100)
    assert [item["releaseId"] for page in found for item in page["releases"]] == listed
    assert [len(page["releases"]) for page in found] == [6, 1]
    assert all(item["skills"] == skills for page in found for item in page["releases"])
    head = await gateway.ask("HEAD", f"{PUBLIC}/{public_id}")
    assert (head.status, head.body) == (200, b"")


@pytest.mark.rows("SHARE-03")
async def test_a_release_withdrawn_while_its_page_is_written_ends_the_answer_instead_of_missing(
    catalog: Catalog, stores: DatabaseUrls
) -> None:
    """The page has said how many there are: its rest without this one would look whole."""
    big = {"type": "object", "description": "x" * 50_000}
    skills = [a_skill(f"s{number}", inputSchema=big, outputSchema=big) for number in range(4)]
    cards = [a_card(version=f"1.{number}.0", skills=skills) for number in range(2)]
    public_id = (await catalog.publish(*cards)).public_agent_id
    both = {release.release_id: release for release in [await catalog.release(card) for card in cards]}
    async with opened_database(stores.control_plane) as database:
        agents = PublicAgents(database, "http://127.0.0.1:8082")
        page = await agents.page(public_id, PageSize(10, 1 << 30), None)
        async with aclosing(agents.content(page, None)) as content:
            written = await anext(content)
            assert page.releases[1].release_id.encode() not in written
            await catalog.move("alice", both[page.releases[1].release_id], ReleaseState.SUSPENDED)
            with pytest.raises(DependencyFailed, match="withdrawn"):
                _ = [piece async for piece in content]


async def test_availability_on_a_later_page_says_whether_any_release_exists(
    catalog: Catalog, gateway: RunningUnit
) -> None:
    await catalog.register(first := a_card(version="1.0.0"))
    older = await catalog.release(first)
    catalog.step = timedelta(seconds=1)
    entry = await catalog.register(second := a_card(version="2.0.0"))
    newer = await catalog.release(second)
    cursor = (await share(gateway, entry.public_agent_id, "?limit=1"))["nextCursor"]
    await catalog.move("alice", older, ReleaseState.SUSPENDED)
    later = await share(gateway, entry.public_agent_id, f"?limit=1&cursor={cursor}")
    assert (later["availability"], later["releases"], "nextCursor" in later) == ("installable", [], False)
    await catalog.move("alice", newer, ReleaseState.SUSPENDED)
    later = await share(gateway, entry.public_agent_id, f"?limit=1&cursor={cursor}")
    assert later == nothing_shared(entry.public_agent_id)


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "limit=", "cursor=", "cursor=AA", "limit=1&limit=1", "latest=true", "q=%zz"]
)
async def test_other_parameters_and_values_are_refused(catalog: Catalog, gateway: RunningUnit, query: str) -> None:
    public_id = (await catalog.register(a_card())).public_agent_id
    require_error(await gateway.get(f"{PUBLIC}/{public_id}?{query}"), 400, "VALIDATION_ERROR", "2")


async def test_a_cursor_belongs_to_its_agent_and_its_limit(catalog: Catalog, gateway: RunningUnit) -> None:
    public_id, _ = await released(catalog, 2)
    other = (await catalog.register(a_card(agent_id="other"))).public_agent_id
    cursor = (await share(gateway, public_id, "?limit=1"))["nextCursor"]
    for path in (f"{other}?limit=1&cursor={cursor}", f"{public_id}?limit=2&cursor={cursor}"):
        require_error(await gateway.get(f"{PUBLIC}/{path}"), 400, "VALIDATION_ERROR", "2")


def require_dependency_error(reply: Reply) -> None:
    require_error(reply, 503, "DEPENDENCY_ERROR", "2")
