"""Pages of Discovery: their order, their boundary, their cursors and their weight."""

import base64
import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest

from aop.control_plane.discovery import store
from aop.control_plane.registry.store import cards as card_store
from tests.support.cards import Card, a_card, a_skill
from tests.support.catalog import Catalog
from tests.support.errors import require_error
from tests.support.units import RunningUnit

AGENTS = "/v1/agents"
FILTERS = ("", "&query=summar", "&capability=summarize", "&ownerId=alice", "&installable=false", "&query=s")


NOW = "2026-01-01T00:00:00Z"
IMPOSSIBLE: list[object] = [
    [1, 0, NOW, "a", "1.0.0", 5],
    [1, NOW, "a", "1.0.0"],
    [-1, 0, NOW, "a", "1.0.0"],
    [2**63, 0, NOW, "a", "1.0.0"],
    [1, -1, NOW, "a", "1.0.0"],
    [1, 2**31, NOW, "a", "1.0.0"],
    [1, 0, "10000-01-01T00:00:00Z", "a", "1.0.0"],
    [1, 0, "1970-01-01T00:00:00", "a", "1.0.0"],
    [1, 0, 10**18, "a", "1.0.0"],
    [1, 0, -1, "a", "1.0.0"],
    [1, 0, 2.5, "a", "1.0.0"],
    [1, 0, NOW, "a\0", "1.0.0"],
    [1, 0, NOW, "a", "\0"],
    [1, 0, NOW, "", ""],
    [1, 0, NOW, "a\n", "1.0.0"],
    [None, None, None, None, None],
    {},
    "text",
]


async def page(gateway: RunningUnit, token: str, query: str, cursor: str | None = None) -> Any:
    reply = await gateway.get(f"{AGENTS}?{query}" + (f"&cursor={cursor}" if cursor else ""), token=token)
    assert reply.status == 200, reply.body
    return reply.json


def keys(answer: Any) -> list[str]:
    return [f"{item['agentId']} {item['version']}" for item in answer["items"]]


@pytest.mark.second_ring
@pytest.mark.rows("CAT-25")
@pytest.mark.parametrize("filters", FILTERS)
async def test_a_traversal_keeps_to_what_was_published_when_it_began(
    catalog: Catalog, gateway: RunningUnit, bob: str, filters: str
) -> None:
    query = f"limit=2{filters}"
    listed = [a_card(agent_id=f"agent-{number}") for number in range(6)]
    await catalog.publish(*listed)
    await catalog.register(late := a_card(agent_id="late"))
    begun_earlier = catalog.now - timedelta(seconds=7)
    async with catalog.database.transaction() as connection:
        await card_store.set_published(connection, late["agentId"], late["version"], begun_earlier)
        first = await page(gateway, bob, query)
    assert keys(first) == ["agent-5 1.0.0", "agent-4 1.0.0"]
    await catalog.publish(a_card(agent_id="later"))
    await catalog.disable(listed[2])
    second = await page(gateway, bob, query, first["nextCursor"])
    assert keys(second) == ["agent-3 1.0.0", "agent-1 1.0.0"]
    third = await page(gateway, bob, query, second["nextCursor"])
    assert keys(third) == ["agent-0 1.0.0"]
    assert "nextCursor" not in third
    assert keys(await page(gateway, bob, "limit=3" + filters))[0] == "later 1.0.0"


@pytest.mark.rows("CAT-25")
async def test_a_release_published_in_the_meantime_takes_its_version_out_of_the_traversal(
    catalog: Catalog, gateway: RunningUnit, bob: str
) -> None:
    old = [a_card(agent_id=f"agent-{number}") for number in range(3)]
    await catalog.publish(*old)
    first = await page(gateway, bob, "limit=1")
    await catalog.release(old[1])
    assert keys(await page(gateway, bob, "limit=1", first["nextCursor"])) == ["agent-0 1.0.0"]
    assert keys(await page(gateway, bob, "limit=5")) == ["agent-2 1.0.0", "agent-1 1.0.0", "agent-0 1.0.0"]


@pytest.mark.second_ring
@pytest.mark.rows("CAT-25")
@pytest.mark.parametrize("filters", ["&latest=true", "&latest=true&query=summar"])
async def test_a_higher_version_published_later_hides_nothing_from_a_traversal(
    catalog: Catalog, gateway: RunningUnit, bob: str, filters: str
) -> None:
    await catalog.publish(*(a_card(agent_id=f"agent-{number}") for number in range(3)))
    first = await page(gateway, bob, "limit=1" + filters)
    await catalog.publish(a_card(agent_id="agent-1", version="2.0.0"))
    assert keys(await page(gateway, bob, "limit=1" + filters, first["nextCursor"])) == ["agent-1 1.0.0"]
    assert keys(await page(gateway, bob, "limit=9" + filters)) == ["agent-1 2.0.0", "agent-2 1.0.0", "agent-0 1.0.0"]


@pytest.mark.second_ring
@pytest.mark.rows("CAT-25")
@pytest.mark.parametrize("filters", FILTERS)
async def test_equal_times_are_ordered_by_agent_then_by_version_bytewise(
    catalog: Catalog, gateway: RunningUnit, bob: str, filters: str
) -> None:
    catalog.step = timedelta()
    order = ["A 1.0.0", "B 1.10.0", "B 1.9.0", "B 2.0.0+a", "B 2.0.0-a", "a 1.0.0", "a-b 1.0.0", "a:b 1.0.0"]
    published = [a_card(agent_id=name, version=version) for name, version in (key.split() for key in reversed(order))]
    await catalog.publish(*published)
    seen, cursor = [], None
    for _ in order:
        answer = await page(gateway, bob, "limit=1" + filters, cursor)
        seen += keys(answer)
        cursor = answer.get("nextCursor")
    assert (seen, cursor) == (order, None)


@pytest.mark.second_ring
@pytest.mark.rows("CAT-26")
@pytest.mark.parametrize(
    "changed",
    [
        "limit=3&query=summar",
        "limit=2",
        "query=summar",
        "limit=2&query=Summar",
        "limit=2&query=summar&latest=true",
        "limit=2&query=summar&ownerId=alice",
        "limit=2&query=summar&installable=false",
    ],
)
async def test_a_cursor_belongs_to_its_filters_and_limit(
    catalog: Catalog, gateway: RunningUnit, bob: str, changed: str
) -> None:
    await catalog.publish(*(a_card(agent_id=f"agent-{number}") for number in range(4)))
    cursor = (await page(gateway, bob, "limit=2&query=summar"))["nextCursor"]
    require_cursor_refused(await gateway.get(f"{AGENTS}?{changed}&cursor={cursor}", token=bob))
    assert keys(await page(gateway, bob, "limit=2&query=summar", cursor)) == ["agent-1 1.0.0", "agent-0 1.0.0"]


@pytest.mark.second_ring
@pytest.mark.rows("CAT-26")
async def test_a_cursor_belongs_to_its_list_and_does_not_survive_a_change(
    catalog: Catalog, gateway: RunningUnit, bob: str
) -> None:
    await catalog.publish(*(a_card(version=f"1.{number}.0") for number in range(4)))
    here = (await page(gateway, bob, "limit=2"))["nextCursor"]
    overview = f"{AGENTS}/acme:summarizer?limit=2"
    there = (await gateway.get(overview, token=bob)).json["nextCursor"]
    require_cursor_refused(await gateway.get(f"{overview}&cursor={here}", token=bob))
    require_cursor_refused(await gateway.get(f"{AGENTS}?limit=2&cursor={there}", token=bob))
    for position in range(0, len(here), 7):
        other = "A" if here[position] != "A" else "B"
        altered = here[:position] + other + here[position + 1 :]
        require_cursor_refused(await gateway.get(f"{AGENTS}?limit=2&cursor={altered}", token=bob))
    for altered in (here[:-1], here + "A", here + "=", here.upper()):
        require_cursor_refused(await gateway.get(f"{AGENTS}?limit=2&cursor={altered}", token=bob))


@pytest.mark.second_ring
@pytest.mark.rows("CAT-26")
async def test_a_position_that_no_page_gave_is_refused_even_when_it_is_sealed(gateway: RunningUnit, bob: str) -> None:
    for position in IMPOSSIBLE:
        encoded = json.dumps(position).encode()
        binding = json.dumps(["agents", [], [], 25], separators=(",", ":")).encode()
        sealed = hashlib.sha256(encoded + binding).digest()[:16] + encoded
        cursor = base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
        require_cursor_refused(await gateway.get(f"{AGENTS}?cursor={cursor}", token=bob))


@pytest.mark.second_ring
@pytest.mark.rows("CAT-25")
@pytest.mark.parametrize(("short", "long", "ways"), [(2, 4, "walk gather"), (4, 40, "walk walk"), (40, 400, "walk")])
async def test_a_page_is_the_same_whichever_way_it_is_found(
    catalog: Catalog, gateway: RunningUnit, bob: str, monkeypatch: pytest.MonkeyPatch, short: int, long: int, ways: str
) -> None:
    wanted, other = [a_skill("summarize")], [a_skill("translate")]
    cards = [
        a_card(agent_id=f"agent-{number:02}", skills=other if number % 3 else wanted, description="Sorts mail.")
        for number in range(30)
    ]
    await catalog.publish(*cards)
    monkeypatch.setattr(store, "SHORT_WALK", short)
    monkeypatch.setattr(store, "LONG_WALK", long)
    taken = []

    def noted(way: Any) -> Any:
        def find(*arguments: Any) -> Any:
            taken.append(way.__name__)
            return way(*arguments)

        return find

    for way in (store.walk, store.gather):
        monkeypatch.setattr(store, way.__name__, noted(way))
    query, seen, cursor = "limit=4&capability=summarize&query=.&latest=true", [], None
    for number in range(3):
        answer = await page(gateway, bob, query, cursor)
        seen += keys(answer)
        cursor = answer.get("nextCursor")
        assert number or " ".join(taken) == ways
    assert seen == [f"agent-{number:02} 1.0.0" for number in range(27, -1, -3)]
    assert cursor is None


@pytest.mark.second_ring
async def test_a_page_has_25_items_unless_another_limit_is_given(
    catalog: Catalog, gateway: RunningUnit, bob: str
) -> None:
    await catalog.publish(*(a_card(agent_id=f"agent-{number:03}") for number in range(102)))
    assert len((await page(gateway, bob, ""))["items"]) == 25
    largest = await page(gateway, bob, "limit=100")
    assert len(largest["items"]) == 100
    assert keys(await page(gateway, bob, "limit=100", largest["nextCursor"])) == ["agent-001 1.0.0", "agent-000 1.0.0"]
    for filters in FILTERS:
        assert len((await page(gateway, bob, f"limit=51{filters}"))["items"]) == 51


@pytest.mark.second_ring
@pytest.mark.parametrize("filters", FILTERS)
async def test_a_page_stops_once_its_items_pass_four_mebibytes(
    catalog: Catalog, gateway: RunningUnit, bob: str, filters: str
) -> None:
    await catalog.publish(*(a_heavy_card(f"agent-{number}") for number in range(7)))
    query = "limit=100" + filters
    first = await page(gateway, bob, query)
    assert keys(first) == [f"agent-{number} 1.0.0" for number in (6, 5, 4, 3, 2)]
    second = await page(gateway, bob, query, first["nextCursor"])
    assert keys(second) == ["agent-1 1.0.0", "agent-0 1.0.0"]
    assert "nextCursor" not in second


def a_heavy_card(agent_id: str) -> Card:
    """Some 950 kB: the fifth of them passes 4 MiB."""
    filled = {"description": "x" * 60_000}
    skills = [a_skill(f"s-{number}", inputSchema=filled) for number in range(15)]
    return a_card(agent_id=agent_id, skills=[a_skill("summarize"), *skills])


def require_cursor_refused(reply: Any) -> None:
    require_error(reply, 400, "VALIDATION_ERROR", "2")
    assert reply.json["violations"] == [{"pointer": "/cursor", "rule": "cursor"}]
