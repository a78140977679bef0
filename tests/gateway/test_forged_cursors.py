"""Cursors that a caller made up: whatever the text is, a list answers 200 or 400, and never blames a dependency."""

import hashlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import pytest_asyncio

from aop.base.canonical import to_base64url
from aop.serving.edge.paging import DEFAULT_LIMIT
from tests.support.loop import SPACE, Platform, running_platform
from tests.support.postgres import PostgresForTests
from tests.support.settings import CONTROL_PLANE_TO_ROUTER
from tests.support.waiting import becomes_true
from tools.contract_bundle import surface

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]


@dataclass(frozen=True)
class Listed:
    """A list: the name in its cursors, the parameters of its path, a position it would write itself."""

    name: str
    parameters: tuple[str, ...]
    position: tuple[Any, ...]
    filters: tuple[tuple[str, str], ...] = ()
    limit: int | None = 1
    """None if the list has pages of one size."""


NOW = "2026-01-01T00:00:00Z"
INVOCATIONS = Listed("invocations", ("workspaceId",), (NOW, "f" * 32))
SLOWEST = Listed("invocations", ("workspaceId",), (7, "0" * 32), (("order", "slowest"),))
TRACES = Listed("traces", ("workspaceId",), (NOW, "f" * 32))
TRACE = Listed("trace", ("workspaceId", "traceId"), (NOW, 0, "0" * 32), limit=None)
# One call with four events is in the Ledger, and the newest head is over all of them.
PROOF_OF_INVOCATION = Listed("proof", ("workspaceId", "invocationId"), (4, 0, 0), limit=None)
PROOF_OF_TRACE = Listed("proof", ("workspaceId", "traceId"), (4, 0, 0), limit=None)
LISTS = {
    "/v1/agents": Listed("agents", (), (1, 1, NOW, "acme:agent", "1.0.0")),
    "/v1/agents/{agentId}": Listed("agent-overview", ("agentId",), (NOW, "1.0.0")),
    "/v1/me/agents": Listed("my-agents", (), ("acme:agent",)),
    "/v1/me/tokens": Listed("tokens", (), (NOW, "tok_1")),
    "/v1/providers/{providerId}/agents": Listed("provider-agents", ("providerId",), (NOW, "acme:agent", "1.0.0")),
    "/v1/providers/{providerId}/endpoint-bindings": Listed("provider-bindings", ("providerId",), (NOW, "bnd_1")),
    "/v1/providers/{providerId}/releases": Listed("provider-releases", ("providerId",), (NOW, "rel_1")),
    "/v1/public/agents/{publicAgentId}": Listed("public-agent-share", ("publicAgentId",), (NOW, "rel_" + "f" * 32)),
    "/v1/workspaces": Listed("workspaces", (), (NOW, "space")),
    "/v1/workspaces/{workspaceId}/callers": Listed("callers", ("workspaceId",), (NOW, "bob")),
    "/v1/workspaces/{workspaceId}/installations": Listed("installations", ("workspaceId",), (NOW, "ins_1")),
    "/v1/workspaces/{workspaceId}/invocations": INVOCATIONS,
    "/v1/workspaces/{workspaceId}/invocations?order=slowest": SLOWEST,
    "/v1/workspaces/{workspaceId}/traces": TRACES,
    "/v1/workspaces/{workspaceId}/traces/{traceId}": TRACE,
    "/v1/workspaces/{workspaceId}/invocations/{invocationId}/bundle/pages": PROOF_OF_INVOCATION,
    "/v1/workspaces/{workspaceId}/traces/{traceId}/bundle/pages": PROOF_OF_TRACE,
    "/internal/v1/workspaces/{workspaceId}/invocations": INVOCATIONS,
    "/internal/v1/workspaces/{workspaceId}/traces": TRACES,
    "/internal/v1/workspaces/{workspaceId}/traces/{traceId}": TRACE,
    "/internal/v1/workspaces/{workspaceId}/invocations/{invocationId}/proof/pages": PROOF_OF_INVOCATION,
    "/internal/v1/workspaces/{workspaceId}/traces/{traceId}/proof/pages": PROOF_OF_TRACE,
}
PATH_VALUES = {"agentId": "acme:agent", "providerId": "provider-of-alice", "workspaceId": SPACE}
"""Besides the public id of the Agent and a Trace, which are new ones in each store."""
PARTS: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**31, 2**63 - 1, 2**63, 2**64, 10**30, 1.5, 1e308, -0.0, [], {}, [[]], "",
    "x", "not-hex", "a" * 128, "0" * 32, "f" * 32,
    "inv_" + "f" * 32, "1.0.0", "é", "00000000-0000-0000-0000-000000000000",
    "\0", "x\0", "f" * 31, "g" * 32, "F" * 32, "x" * 600, "\u202e", "{" + "f" * 32 + "}",
    "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00+14:00", "2026-01-01T00:00:00",
    "2026-01-01T00:00:00.0000001Z", "infinity", "-infinity", "now", "'; --", "%", "\u00a0",
)  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(postgres: PostgresForTests) -> AsyncIterator[Platform]:
    urls = await postgres.new_platform()
    async with running_platform(urls) as running:
        invoked = await running.invoke()
        assert invoked.status == 200
        PATH_VALUES["traceId"], PATH_VALUES["invocationId"] = invoked.json["traceId"], invoked.json["invocationId"]
        await becomes_true(partial(is_in_tree, running))
        overview = await running.gateway.get(f"/v1/agents/{running.card['agentId']}", token=running.token)
        PATH_VALUES["publicAgentId"] = overview.json["publicAgentId"]
        yield running
    await postgres.drop(urls.migration.rpartition("/")[2])


async def is_in_tree(running: Platform) -> bool:
    path = f"/v1/workspaces/{SPACE}/invocations/{PATH_VALUES['invocationId']}/bundle"
    return (await running.gateway.get(path, token=running.token)).status == 200


def sealed(listed: Listed, position: object) -> str:
    """As anybody can who reads our code: the seal has no key."""
    path = {name: PATH_VALUES[name] for name in listed.parameters}
    bound = [listed.name, sorted(path.items()), listed.filters, listed.limit or DEFAULT_LIMIT]
    binding = json.dumps(bound, separators=(",", ":"), ensure_ascii=False)
    encoded = json.dumps(position, ensure_ascii=False).encode()
    return to_base64url(hashlib.sha256(encoded + binding.encode()).digest()[:16] + encoded)


def positions(listed: Listed) -> Iterator[object]:
    """Each part replaced by each odd value, and whole positions of another shape."""
    usual = listed.position
    for place, part in product(range(len(usual)), PARTS):
        yield [*usual[:place], part, *usual[place + 1 :]]
    yield from ([], list(usual[:-1]), [*usual, "x"], None, "x", {"0": usual[0]}, [list(usual)])


def texts(listed: Listed) -> Iterator[str]:
    """Cursors that are no sealed position at all."""
    chance, whole = Random(listed.name), sealed(listed, listed.position)
    yield from (whole[:-1], whole + "=", whole[:20], "A" * 1024, "A" * 1025, "é", " ", "%00", "A", "..", "-_-_")
    for _ in range(10):
        yield to_base64url(chance.randbytes(chance.randrange(1, 200)))


async def ask(platform: Platform, path: str, cursor: str) -> tuple[int, Any]:
    internal = path.startswith("/internal")
    unit, token = (platform.router, CONTROL_PLANE_TO_ROUTER) if internal else (platform.gateway, platform.token)
    listed = LISTS[path]
    query = {**dict(listed.filters), **({} if listed.limit is None else {"limit": listed.limit}), "cursor": cursor}
    target = path.partition("?")[0].format(**PATH_VALUES)
    reply = await unit.get(f"{target}?{urlencode(query, quote_via=quote, safe='')}", token=token)
    return reply.status, reply.json


@pytest.mark.parametrize("path", LISTS)
async def test_every_cursor_text_is_a_page_or_a_bad_request(platform: Platform, path: str) -> None:
    listed = LISTS[path]
    status, page = await ask(platform, path, sealed(listed, listed.position))
    assert status == 200, page  # the forgery itself works, so what is refused below is refused for its parts
    for cursor in [sealed(listed, position) for position in positions(listed)] + list(texts(listed)):
        status, answer = await ask(platform, path, cursor)
        assert status in {200, 400}, (cursor, answer)
        if status == 400:
            assert (answer["code"], answer["violations"][0]["pointer"]) == ("VALIDATION_ERROR", "/cursor"), cursor


@pytest.mark.parametrize("second", ["not-hex", "", "x", "inv_" + "f" * 32])
async def test_an_id_that_is_none_is_refused_before_the_store_sees_it(platform: Platform, second: str) -> None:
    path = "/v1/workspaces/{workspaceId}/invocations"
    status, answer = await ask(platform, path, sealed(INVOCATIONS, [NOW, second]))
    assert (status, answer["code"]) == (400, "VALIDATION_ERROR")


async def test_the_table_above_holds_every_list_of_both_units() -> None:
    found = set()
    for name in ("gateway.v1", "router-internal.v1"):
        document = surface(name)
        found |= {path for path, item in document["paths"].items() if _takes_cursor(document, item.get("get", {}))}
    assert found == {path.partition("?")[0] for path in LISTS}


def _takes_cursor(document: Mapping[str, Any], operation: Mapping[str, Any]) -> bool:
    parameters = document["components"].get("parameters", {})
    return any(
        parameters[parameter["$ref"].rpartition("/")[2]]["name"] == "cursor"
        if "$ref" in parameter
        else parameter["name"] == "cursor"
        for parameter in operation.get("parameters", ())
    )
