"""Parameters and cursors of the Catalog's lists: whatever is not exactly right is refused, never quietly ignored."""

import hashlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from aop.base.canonical import from_base64url, to_base64url
from aop.local.state import DatabaseUrls
from tests.support.cards import broken
from tests.support.publication import Scene, publication_scene

AGENT = "/v1/agents/acme:agent"
AGENTS = "/v1/providers/acme/agents"
BINDINGS = "/v1/providers/acme/endpoint-bindings"
RELEASES = "/v1/providers/acme/releases"
LISTS = (AGENT, AGENTS, BINDINGS, RELEASES)


@pytest_asyncio.fixture
async def scene(stores: DatabaseUrls) -> AsyncIterator[Scene]:
    """Three versions, Bindings and Releases of one Agent."""
    async with publication_scene(stores) as scene:
        for number in range(3):
            binding = await scene.alice.new_binding(scene.agent.url, version=f"{number}.0.0")
            await scene.alice.new_release(binding)
        yield scene


@pytest.mark.rows("CAT-24")
async def test_an_unknown_repeated_empty_or_out_of_range_parameter_is_refused(scene: Scene) -> None:
    cases = {
        "unknown=1": ("", "query_unknown"),
        "LIMIT=1": ("", "query_unknown"),
        "limit=1&limit=1": ("/limit", "query_repeated"),
        "limit=0": ("/limit", "query_value"),
        "limit=101": ("/limit", "query_value"),
        "limit=-1": ("/limit", "query_value"),
        "limit=": ("/limit", "query_value"),
        "limit": ("/limit", "query_value"),
        "limit=01": ("/limit", "query_value"),
        "limit=1.0": ("/limit", "query_value"),
        "limit=+1": ("/limit", "query_value"),
        "limit=%31%30%31": ("/limit", "query_value"),
        "limit=%D9%A1": ("/limit", "query_value"),
        "cursor=": ("/cursor", "query_value"),
        "cursor=" + "a" * 1025: ("/cursor", "query_value"),
        "limit=%zz": ("", "query_value"),
        "limit=%": ("", "query_value"),
        "%ff=1": ("", "query_value"),
        "=1": ("", "query_unknown"),
        "&limit=1": ("", "query_unknown"),
    }
    for path in LISTS:
        for query, expected in cases.items():
            assert broken(await scene.alice.get(f"{path}?{query}")) == [expected], (path, query)


@pytest.mark.rows("CAT-24")
async def test_a_filter_is_known_only_where_it_belongs_and_must_be_an_identifier(scene: Scene) -> None:
    for path in (BINDINGS, RELEASES):
        for text in ("", "a%20b", ".a", "a" * 129, "a%00"):
            assert broken(await scene.alice.get(f"{path}?agentId={text}")) == [("/agentId", "query_value")]
        assert broken(await scene.alice.get(f"{path}?agentId=a&agentId=a")) == [("/agentId", "query_repeated")]
    for path in (AGENT, AGENTS, f"{AGENT}/versions/0.0.0", "/v1/releases/rel_1"):
        assert broken(await scene.alice.get(f"{path}?agentId=acme:agent")) == [("", "query_unknown")]


async def test_limits_at_both_ends_and_escaped_parameters_pass(scene: Scene) -> None:
    for path in LISTS:
        for query in ("limit=1", "limit=100", "%6cimit=%31", ""):
            assert (await scene.alice.get(f"{path}?{query}")).status == 200


@pytest.mark.rows("CAT-26")
async def test_a_cursor_belongs_to_one_list_its_path_filters_and_limit(scene: Scene) -> None:
    other = await scene.alice.new_binding(scene.agent.url, "acme:second")
    assert other["agentId"] == "acme:second"
    listed = [f"{path}?limit=1" for path in LISTS]
    listed += [f"{BINDINGS}?limit=1&agentId=acme:agent", f"{RELEASES}?limit=1&agentId=acme:agent", f"{AGENTS}?limit=2"]
    cursors = {path: (await scene.alice.get(path)).json["nextCursor"] for path in listed}
    strange = [f"{AGENT}-2?limit=1", f"{AGENT}?limit=2", "/v1/providers/other/agents?limit=1"]
    for origin, cursor in cursors.items():
        for path in (*listed, *strange):
            reply = await scene.alice.get(f"{path}&cursor={cursor}")
            if path == origin:
                assert reply.status == 200
            else:
                assert broken(reply) == [("/cursor", "cursor")], (origin, path)


@pytest.mark.rows("CAT-26")
async def test_an_altered_cursor_is_refused(scene: Scene) -> None:
    for path in LISTS:
        cursor: str = (await scene.alice.get(f"{path}?limit=1")).json["nextCursor"]
        position = len(cursor) // 2
        altered = [
            cursor[:-1],
            cursor + "A",
            cursor + "=",
            cursor[1:],
            cursor[::-1],
            cursor[:position] + ("A" if cursor[position] != "A" else "B") + cursor[position + 1 :],
            "AAAA",
            "%00",
            "%F0%9F%98%80",
        ]
        for text in altered:
            assert broken(await scene.alice.get(f"{path}?limit=1&cursor={text}")) == [("/cursor", "cursor")], text


@pytest.mark.rows("CAT-26")
async def test_a_cursor_made_up_with_a_right_seal_never_reaches_the_store_as_a_fault(scene: Scene) -> None:
    """The seal is unkeyed, so anyone can make one; the worst it may do is to begin somewhere else."""
    for path in LISTS:
        name, ids = _binding(path)
        cursor = (await scene.alice.get(f"{path}?limit=1")).json["nextCursor"]
        known = json.loads(from_base64url(cursor)[16:])
        assert _sealed(known, name, ids) == cursor
        for moment in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"):
            reply = await scene.alice.get(f"{path}?limit=1&cursor={_sealed([moment, *known[1:]], name, ids)}")
            assert reply.status == 200, (path, moment, reply.body)
        for moment in ("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00", "2026-01-01"):
            reply = await scene.alice.get(f"{path}?limit=1&cursor={_sealed([moment, *known[1:]], name, ids)}")
            assert broken(reply) == [("/cursor", "cursor")], (path, moment)
        for text in ("\0", "\udfff".encode("utf-8", "surrogatepass").decode("latin-1"), "", "x" * 500):
            reply = await scene.alice.get(
                f"{path}?limit=1&cursor={_sealed([known[0], *[text] * len(known[1:])], name, ids)}"
            )
            assert reply.status in {200, 400}, (path, text, reply.body)
        shapes: tuple[Any, ...] = ([], {}, [1, 2], known[:1], [*known, "x"], None, [known[0], None, None], known[::-1])
        for shape in shapes:
            reply = await scene.alice.get(f"{path}?limit=1&cursor={_sealed(shape, name, ids)}")
            assert broken(reply) == [("/cursor", "cursor")], (path, shape)


def _binding(path: str) -> tuple[str, list[list[str]]]:
    if path == AGENT:
        return "agent-overview", [["agentId", "acme:agent"]]
    names = {AGENTS: "provider-agents", BINDINGS: "provider-bindings", RELEASES: "provider-releases"}
    return names[path], [["providerId", "acme"]]


def _sealed(position: object, name: str, ids: list[list[str]]) -> str:
    encoded = json.dumps(position, separators=(",", ":"), ensure_ascii=False).encode()
    bound = json.dumps([name, ids, [], 1], separators=(",", ":")).encode()
    return to_base64url(hashlib.sha256(encoded + bound).digest()[:16] + encoded)
