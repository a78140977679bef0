"""Skill schemas over HTTP: unusable ones are refused with CARD-6, and nothing is ever fetched for them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support.cards import a_card, a_skill, broken
from tests.support.units import RunningUnit


class Listener:
    """Counts who connects; nobody should."""

    def __init__(self) -> None:
        self.connections = 0
        self.port = 0

    def noticed(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.close()


@pytest_asyncio.fixture
async def listener() -> AsyncIterator[Listener]:
    listener = Listener()
    server = await asyncio.start_server(listener.noticed, "127.0.0.1", 0)
    listener.port = server.sockets[0].getsockname()[1]
    yield listener
    server.close()
    await server.wait_closed()


def unusable(remote: str) -> dict[str, dict[str, Any]]:
    chain: dict[str, Any] = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(40)}
    return {
        "invalid": {"type": "no such type"},
        "remote reference": {"$ref": remote},
        "remote dynamic reference": {"$dynamicRef": remote},
        "remote reference below": {"properties": {"a": {"items": {"$ref": f"{remote}#/$defs/x"}}}},
        "reference relative to a remote identity": {"$id": remote, "$ref": "other.json"},
        "remote dialect": {"$schema": remote},
        "over 64 KiB": {"const": "x" * 65_536},
        "look-around": {"pattern": "(?=a)"},
        "empty cycle": {"allOf": [{"$ref": "#"}]},
        "doubling chain": {"$ref": "#/$defs/a0", "$defs": {**chain, "a40": {}}},
    }


@pytest.mark.rows("CAT-09")
async def test_an_unusable_schema_is_refused_and_nothing_is_fetched(
    gateway: RunningUnit, alice: str, listener: Listener
) -> None:
    for name, schema in unusable(f"http://127.0.0.1:{listener.port}/schema.json").items():
        card = a_card(skills=[a_skill("fine"), a_skill("other", inputSchema=schema)])
        assert broken(await gateway.post("/v1/agents", card, token=alice)) == [("/skills/1/inputSchema", "CARD-6")], (
            name
        )
        card = a_card(skills=[a_skill("other", outputSchema=schema)])
        assert broken(await gateway.post("/v1/agents", card, token=alice)) == [("/skills/0/outputSchema", "CARD-6")], (
            name
        )
    assert listener.connections == 0


@pytest.mark.rows("CAT-09")
async def test_a_usable_schema_or_card_that_only_names_an_address_makes_no_connection(
    gateway: RunningUnit, alice: str, listener: Listener
) -> None:
    remote = f"http://127.0.0.1:{listener.port}/schema.json"
    schema = {"$id": remote, "$ref": "#/$defs/t", "$defs": {"t": {"type": "object"}}, "examples": [{"$ref": remote}]}
    card = a_card(endpoint=remote, skills=[a_skill(inputSchema=schema)])
    assert (await gateway.post("/v1/agents", card, token=alice)).status == 201
    assert (await gateway.post("/v1/agents/acme:summarizer/versions/1.0.0/publish", token=alice)).status == 200
    assert listener.connections == 0
