"""Discovery against a plain reading of its rules: every combination of filters, and what lies behind many versions."""

import re
from dataclasses import dataclass
from functools import cache
from itertools import product
from urllib.parse import urlencode

import pytest

from aop.base.semver import Version
from aop.contracts.publication import ReleaseState
from aop.local.state import DatabaseUrls
from tests.support.cards import Card, a_card, a_skill
from tests.support.catalog import Catalog
from tests.support.postgres import PostgresForTests
from tests.support.units import RunningUnit

pytestmark = pytest.mark.second_ring

AGENTS = "/v1/agents"
NAMES = ("Alpha", "ALPHA beta", "Beta", "Gamma")
SKILLS = (["read"], ["write"], ["read", "write"])
STATES = (None, ReleaseState.PUBLISHED, ReleaseState.PUBLISHED, ReleaseState.SUSPENDED, ReleaseState.VERIFIED)


@dataclass(frozen=True)
class Listed:
    """An eligible version as the model knows it, in the order of publication."""

    card: Card
    installable: bool

    @property
    def key(self) -> str:
        return f"{self.card['agentId']} {self.card['version']}"

    def fits(self, filters: dict[str, str]) -> bool:
        card = self.card
        return (
            all(any(_alike(asked, word) for word in _words(card)) for asked in filters.get("query", "").lower().split())
            and filters.get("capability") in {None, *(skill["id"] for skill in card["skills"])}
            and filters.get("ownerId") in {None, card["owner"]["id"]}
            and filters.get("installable") in {None, "true" if self.installable else "false"}
        )


def _words(card: Card) -> set[str]:
    texts = [card["name"], card["description"], card["agentId"], *card["owner"].values()]
    texts += [text for skill in card["skills"] for text in (skill["id"], skill["name"])]
    return set(re.findall("[a-z0-9]+", " ".join(texts).lower()))


def _alike(typed: str, word: str) -> bool:
    return word.startswith(typed) or _distance(typed, word) <= (0 if len(typed) < 4 else 1 if len(typed) < 6 else 2)


@cache
def _distance(one: str, other: str) -> int:
    if not one or not other:
        return max(len(one), len(other))
    ends = [_distance(one[1:], other) + 1, _distance(one, other[1:]) + 1]
    ends.append(_distance(one[1:], other[1:]) + (one[0] != other[0]))
    if one[:2] == other[1::-1] and len(one) > 1 and len(other) > 1:
        ends.append(_distance(one[2:], other[2:]) + 1)
    return min(ends)


def expected(catalog: list[Listed], filters: dict[str, str]) -> list[str]:
    fitting = [item for item in reversed(catalog) if item.fits(filters)]
    if filters.get("latest") == "true":
        ranks = {item.key: Version.parse(item.card["version"]).rank for item in fitting}
        fitting = [
            item
            for item in fitting
            if all(ranks[item.key] >= ranks[o.key] for o in fitting if o.card["agentId"] == item.card["agentId"])
        ]
    return [item.key for item in fitting]


async def pages(gateway: RunningUnit, token: str, filters: dict[str, str], limit: int) -> list[str]:
    seen: list[str] = []
    query = {**filters, "limit": str(limit)}
    while True:
        reply = await gateway.get(f"{AGENTS}?{urlencode(query)}", token=token)
        assert reply.status == 200, reply.body
        seen += [f"{item['agentId']} {item['version']}" for item in reply.json["items"]]
        if "nextCursor" not in reply.json:
            return seen
        query["cursor"] = reply.json["nextCursor"]


@pytest.mark.long
@pytest.mark.rows("CAT-19", "CAT-21", "CAT-23")
async def test_every_combination_of_filters_gives_what_the_rules_say(
    catalog: Catalog, gateway: RunningUnit, bob: str
) -> None:
    model: list[Listed] = []
    versions = ("1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1", "1.10.0+x")
    for number, (version, agent) in enumerate(product(versions, range(6))):
        card = a_card(
            agent_id=f"agent-{agent}",
            version=version,
            owner="alice" if agent % 2 else "bob",
            name=NAMES[(number * 7) % 4],
            description="betamax" if number % 5 == 0 else "plain",
            skills=[a_skill(skill) for skill in SKILLS[(number * 5) % 3]],
            permissions=[],
        )
        await catalog.publish(card)
        state = STATES[(number * 3) % 5]
        if state is not None:
            await catalog.release(card, state)
        if state in {None, ReleaseState.PUBLISHED}:
            model.append(Listed(card, state is not None))
    choices: dict[str, tuple[str | None, ...]] = {
        "query": (None, "ALPHA", "beta read", "a", "gamna"),
        "capability": (None, "write"),
        "ownerId": (None, "alice"),
        "latest": (None, "true"),
        "installable": (None, "true", "false"),
    }
    for number, values in enumerate(product(*choices.values())):
        filters = {name: value for name, value in zip(choices, values, strict=True) if value is not None}
        found = await pages(gateway, bob, {**filters, "order": "newest"}, (3, 100)[number % 2])
        assert found == expected(model, filters), filters
        if "query" in filters and number % 4 == 0:
            ranked = await pages(gateway, bob, filters, (100, 3)[number % 2])
            assert sorted(ranked) == sorted(found), filters


@pytest.mark.parametrize("crowd", [None, ReleaseState.PUBLISHED, ReleaseState.REVOKED])
async def test_what_lies_behind_thousands_of_other_versions_is_found_in_time_and_in_order(
    catalog: Catalog,
    gateway: RunningUnit,
    bob: str,
    stores: DatabaseUrls,
    postgres: PostgresForTests,
    crowd: ReleaseState | None,
) -> None:
    rare = [a_card(agent_id="rare", version=f"1.{n}.0", name="Zebra", skills=[a_skill("gallop")]) for n in range(3)]
    for card in rare:
        await catalog.publish(card)
        if crowd is not ReleaseState.PUBLISHED:
            await catalog.release(card)
    await catalog.publish(first := a_card(agent_id="crowd"))
    if crowd is not None:
        await catalog.release(first, crowd)
    await postgres.execute(CROWD, stores.migration.rpartition("/")[2])
    newest_first = ["rare 1.2.0", "rare 1.1.0", "rare 1.0.0"]
    kind = {"installable": "false" if crowd is ReleaseState.PUBLISHED else "true"}
    for filters in ({"query": "zebra"}, {"query": "zeb"}, {"query": "zebar"}, {"capability": "gallop"}, kind):
        for limit in (1, 25):
            assert await pages(gateway, bob, filters, limit) == newest_first, filters
        assert await pages(gateway, bob, {**filters, "latest": "true"}, 25) == newest_first[:1], filters
    every = {"query": "zebra", "capability": "gallop", "ownerId": "alice", **kind}
    assert await pages(gateway, bob, every, 2) == newest_first
    shown = [] if crowd is ReleaseState.REVOKED else ["crowd 1.0.2500"]
    for filters in ({}, {"query": "alice texts", "order": "newest"}, {"ownerId": "alice"}):
        assert await pages(gateway, bob, {**filters, "latest": "true"}, 1) == [*shown, "rare 1.2.0"], filters


CROWD = """
INSERT INTO registry.card
SELECT agent_id, '1.0.' || number, document, digest, owner_id, '00110010' || lpad(length(number::text)::text, 3, '0')
       || number || '~', folded_name, folded_text, skill_ids, status, registered_at,
       published_at + number * interval '1 second', NULL, publication
  FROM registry.card, generate_series(1, 2500) AS number WHERE agent_id = 'crowd';
INSERT INTO registry.release
SELECT 'rel_' || lpad(number::text, 32, '0'), provider_id, agent_id, '1.0.' || number, card_digest, binding_id,
       endpoint_origin, endpoint_path, method, evidence_digest, state, created_at, updated_at, verified_at,
       published_at, suspended_at, revoked_at
  FROM registry.release, generate_series(1, 2500) AS number WHERE agent_id = 'crowd';
INSERT INTO registry.indexed_version (agent_id, version, published_at, publication)
SELECT agent_id, version, published_at, publication FROM registry.eligible_version
 WHERE agent_id = 'crowd' AND version <> '1.0.0' ORDER BY published_at;
INSERT INTO registry.word_use
SELECT version.version_id, word_id, places FROM registry.indexed_version AS version, registry.word_use
  JOIN registry.indexed_version AS first USING (version_id)
 WHERE version.agent_id = 'crowd' AND first.agent_id = 'crowd' AND version.version <> '1.0.0';
ANALYZE;
"""
