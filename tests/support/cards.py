"""Builds valid Agent Cards for tests, changeable one member at a time, and looks at what became of them."""

from typing import Any

import asyncpg

from aop.local.state import DatabaseUrls
from tests.support.errors import require_error
from tests.support.units import Reply

ENDPOINT = "https://agents.example.com/summarizer"

Card = dict[str, Any]


def a_card(
    *,
    agent_id: str = "acme:summarizer",
    version: str = "1.0.0",
    owner: str = "alice",
    endpoint: str = ENDPOINT,
    **members: Any,
) -> Card:
    """A Card its owner can register. `members` replaces whole members by their wire name: `skills=[a_skill("x")]`."""
    card: Card = {
        "schemaVersion": "0.2",
        "agentId": agent_id,
        "name": "Summarizer",
        "description": "Shortens long texts and keeps their meaning.",
        "owner": {"id": owner, "displayName": "Acme Research"},
        "version": version,
        "protocol": {"type": "a2a", "version": "0.3.0", "transport": "JSONRPC", "endpoint": endpoint},
        "skills": [a_skill("summarize", requiredPermissions=["documents.read"])],
        "authentication": {"type": "http_bearer"},
        "permissions": [{"id": "documents.read", "description": "Read the documents given to the Agent."}],
        "limits": some_limits(),
    }
    return {**card, **members}


def a_skill(skill_id: str = "summarize", **members: Any) -> dict[str, Any]:
    skill: dict[str, Any] = {
        "id": skill_id,
        "name": "Summarize",
        "description": "Gives a short form of a text.",
        "inputSchema": {
            "type": "object",
            "required": ["text"],
            "additionalProperties": False,
            "properties": {"text": {"type": "string", "minLength": 1}},
        },
        "outputSchema": {"type": "object", "required": ["summary"], "properties": {"summary": {"type": "string"}}},
        "requiredPermissions": [],
    }
    return {**skill, **members}


def some_permissions(*ids: str) -> list[dict[str, str]]:
    return [{"id": item, "description": "Something."} for item in ids]


def some_limits(**members: Any) -> dict[str, Any]:
    limits: dict[str, Any] = {
        "timeoutMs": 60_000,
        "maxInputBytes": 1_048_576,
        "maxOutputBytes": 1_048_576,
        "streaming": True,
    }
    return {**limits, **members}


def broken(reply: Reply) -> list[tuple[str, str]]:
    """Pointer and rule of every violation of a refused request."""
    require_error(reply, 400, "VALIDATION_ERROR", "2")
    return [(item["pointer"], item["rule"]) for item in reply.json["violations"]]


async def count_cards(stores: DatabaseUrls) -> tuple[int, int]:
    """How many Agents and Card versions are stored."""
    connection = await asyncpg.connect(stores.control_plane)
    try:
        agents = await connection.fetchval("SELECT count(*) FROM registry.agent")
        cards = await connection.fetchval("SELECT count(*) FROM registry.card")
    finally:
        await connection.close()
    return agents, cards
