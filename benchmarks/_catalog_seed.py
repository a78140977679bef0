"""A large catalog for benchmarks: published versions with Cards of realistic size, written by COPY."""

import random
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

import asyncpg

from aop.base.canonical import canonical, digest
from aop.base.semver import Version
from aop.control_plane.registry.index_keys import folded, precedence_text
from benchmarks._catalog_words import fill_words

START = datetime(2026, 1, 1, tzinfo=UTC)
RARE_WORD = "zyxquartz"
_PLACE = b'"version":"0.0.0"'
_BATCH = 5_000
COMMON_WORDS = (
    *("the", "of", "and", "to", "in", "a", "for", "with", "that", "from", "by", "is", "on", "text", "data", "agent"),
    *("documents", "finds", "writes", "answers", "questions", "summary", "report", "customer", "invoice"),
    *("translate", "search", "code", "review", "calendar", "mail"),
)
_CHANCE = random.Random(4)
OTHER_WORDS = sorted({"".join(_CHANCE.choices(string.ascii_lowercase, k=_CHANCE.randint(4, 10))) for _ in range(6_000)})
"""The earlier ones are used more often."""
_CARD_COLUMNS = (
    *("agent_id", "version", "document", "digest", "owner_id", "precedence", "folded_name", "folded_text"),
    *("skill_ids", "status", "registered_at", "published_at", "publication"),
)
_RELEASE_COLUMNS = (
    *("release_id", "provider_id", "agent_id", "version", "card_digest", "binding_id", "endpoint_origin"),
    *("endpoint_path", "method", "evidence_digest", "state", "created_at", "updated_at", "verified_at"),
    *("published_at", "suspended_at", "suspended_by"),
)


@dataclass(frozen=True)
class Size:
    agents: int
    versions: int


class _Language:
    """Words with the uneven frequencies of real text: some in nearly every description, most in a few."""

    def __init__(self, chance: random.Random) -> None:
        self._words = [*COMMON_WORDS, *OTHER_WORDS]
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(len(self._words))))
        self._chance = chance

    def words(self, count: int) -> str:
        return " ".join(self._chance.choices(self._words, cum_weights=self._weights, k=count))


@dataclass(frozen=True)
class _Agent:
    agent_id: str
    owner_id: str
    document: bytes
    name: str
    description: str
    skill_ids: Sequence[str]


async def seed(url: str, size: Size) -> None:
    """As superuser. The inverted index is made anew afterwards, which is what makes it quick."""
    connection = await asyncpg.connect(url)
    try:
        index = await connection.fetchval("SELECT indexdef FROM pg_indexes WHERE indexname = 'card_by_skill'")
        await connection.execute("DROP INDEX registry.card_by_skill")
        await _fill(connection, size)
        await connection.execute(index)
        await connection.execute("VACUUM ANALYZE")
    finally:
        await connection.close()


async def _fill(connection: Any, size: Size) -> None:
    chance = random.Random(4)
    language = _Language(chance)
    agents = [_agent(number, language, chance) for number in range(size.agents)]
    rows = [(agent.agent_id, agent.owner_id, f"agt_{number:032x}") for number, agent in enumerate(agents)]
    await _copy(connection, "agent", ["agent_id", "owner_id", "public_agent_id"], rows)
    turns = [*range(size.agents), *chance.choices(range(size.agents), k=size.versions - size.agents)]
    chance.shuffle(turns)
    batch, seen = [], [0] * size.agents
    published: list[tuple[str, str, str]] = []
    for number, turn in enumerate(turns, 1):
        seen[turn] += 1
        row = _card(agents[turn], f"1.{seen[turn]}.0", number)
        batch.append(row)
        published.append((row[0], row[1], row[3]))
        if len(batch) == _BATCH or number == len(turns):
            await _copy(connection, "card", _CARD_COLUMNS, batch)
            batch = []
    await connection.execute("UPDATE registry.counter SET value = $1 WHERE name = 'publication'", size.versions)
    await _release(connection, published, chance)
    await fill_words(connection, (agent.document for agent in agents))


def _agent(number: int, language: _Language, chance: random.Random) -> _Agent:
    agent_id, owner_id = f"vendor-{number % 997}:agent-{number}", f"vendor-{number % 997}"
    name, description = language.words(3).title(), language.words(chance.randint(25, 70))
    if number % 2_500 == 7:
        description += f" {RARE_WORD}"
    skills = [f"skill-{min(int(chance.expovariate(0.02)), 400)}" for _ in range(chance.randint(1, 3))]
    card = {
        "schemaVersion": "0.2",
        "agentId": agent_id,
        "name": name,
        "description": description,
        "owner": {"id": owner_id, "displayName": owner_id.title()},
        "version": "0.0.0",
        "protocol": {"type": "a2a", "version": "0.3.0", "transport": "JSONRPC", "endpoint": "https://agents.example/a"},
        "skills": [_skill(skill, language) for skill in dict.fromkeys(skills)],
        "authentication": {"type": "http_bearer"},
        "permissions": [{"id": "documents.read", "description": language.words(12)}],
        "limits": {"timeoutMs": 60_000, "maxInputBytes": 1_048_576, "maxOutputBytes": 1_048_576, "streaming": True},
    }
    texts = folded(name), folded(description)
    return _Agent(agent_id, owner_id, canonical(card), *texts, list(dict.fromkeys(skills)))


def _skill(skill_id: str, language: _Language) -> dict[str, Any]:
    def schema(members: int) -> dict[str, Any]:
        properties = {
            f"member{index}": {"type": "string", "maxLength": 4000, "description": language.words(8)}
            for index in range(members)
        }
        return {"type": "object", "required": ["member0"], "additionalProperties": False, "properties": properties}

    return {
        "id": skill_id,
        "name": skill_id.title(),
        "description": language.words(20),
        "inputSchema": schema(4),
        "outputSchema": schema(3),
        "requiredPermissions": ["documents.read"],
    }


def _card(agent: _Agent, version: str, number: int) -> tuple[Any, ...]:
    document = agent.document.replace(_PLACE, f'"version":"{version}"'.encode())
    moment = START + timedelta(seconds=number)
    return (
        *(agent.agent_id, version, document, digest(document), agent.owner_id),
        *(precedence_text(Version.parse(version)), agent.name, agent.description, agent.skill_ids),
        *("published", moment, moment, number),
    )


async def _release(connection: Any, published: Sequence[tuple[str, str, str]], chance: random.Random) -> None:
    """Six versions of ten have a published Release, one of twenty a suspended one."""
    agent_id, version, _ = published[0]
    await connection.execute("INSERT INTO registry.provider VALUES ('provider', 'vendor-0', $1)", START)
    await connection.execute(
        "INSERT INTO registry.binding VALUES ('bind_seed', 'provider', $1, $2, 'https://agents.example', '/a',"
        " 'http_well_known', 'verified', NULL, 'digest', $3, $3, $3)",
        agent_id,
        version,
        START,
    )
    await _copy(connection, "release", _RELEASE_COLUMNS, list(_releases(published, chance)))


def _releases(published: Sequence[tuple[str, str, str]], chance: random.Random) -> Iterator[tuple[Any, ...]]:
    for number, (agent_id, version, card_digest) in enumerate(published):
        share = chance.random()
        if share < 0.65:
            suspended = share < 0.05
            yield (
                *(f"rel_{number:032x}", "provider", agent_id, version, card_digest, "bind_seed"),
                *("https://agents.example", "/a", "http_well_known", "digest"),
                *("suspended" if suspended else "published", START, START, START, START),
                *((START, "provider") if suspended else (None, None)),
            )


async def _copy(connection: Any, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    await connection.copy_records_to_table(table, schema_name="registry", columns=columns, records=rows)
