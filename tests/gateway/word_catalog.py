"""A catalog of a thousand Agents, put there at once and indexed by the migration that indexes what is published."""

import random
from dataclasses import dataclass
from datetime import timedelta
from itertools import product

from aop.base import assets
from aop.base.canonical import canonical, digest
from aop.base.semver import Version
from aop.control_plane.registry.index_keys import folded, precedence_text
from aop.local.state import DatabaseUrls
from aop.store.database import connect
from tests.support.cards import Card, a_card, a_skill
from tests.support.catalog import START

VERBS = (
    *("translate", "summarize", "classify", "extract", "compare", "schedule", "forecast", "validate", "convert"),
    *("monitor", "transcribe", "negotiate", "recommend", "anonymize", "estimate", "reconcile", "illustrate", "rewrite"),
    *("annotate", "prioritize", "simulate", "visualize", "moderate", "archive", "calculate"),
)
NOUNS = (
    *("invoices", "contracts", "meetings", "articles", "tickets", "shipments", "passports", "receipts", "budgets"),
    *(
        "podcasts",
        "tournaments",
        "molecules",
        "playlists",
        "warranties",
        "blueprints",
        "surveys",
        "recipes",
        "lectures",
    ),
    *(
        "portfolios",
        "questionnaires",
        "landmarks",
        "subtitles",
        "inventories",
        "prescriptions",
        "itineraries",
        "payrolls",
    ),
    *("campaigns", "dashboards", "timesheets", "manuscripts", "newsletters", "auctions", "orchards", "vineyards"),
    *("satellites", "elevators", "aquariums", "turbines", "glaciers", "bakeries"),
)
_AGAIN = "DROP TABLE registry.word_use, registry.word_gram, registry.word, registry.indexed_version"


@dataclass(frozen=True)
class Listed:
    verb: str
    noun: str
    card: Card

    @property
    def agent_id(self) -> str:
        return str(self.card["agentId"])


def a_thousand() -> list[Listed]:
    return [_listed(number, verb, noun) for number, (verb, noun) in enumerate(product(VERBS, NOUNS))]


async def put(stores: DatabaseUrls, cards: list[Card]) -> None:
    connection = await connect(stores.migration, application="test")
    try:
        owners = [(card["agentId"], card["owner"]["id"], f"agt_{n:032x}") for n, card in enumerate(cards)]
        await connection.execute("SET ROLE aop_owner")
        await connection.executemany(
            "INSERT INTO registry.agent (agent_id, owner_id, public_agent_id) VALUES ($1, $2, $3)"
            " ON CONFLICT DO NOTHING",
            owners,
        )
        await connection.executemany(
            "INSERT INTO registry.card VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'published', $10, $10, NULL, $11)",
            [_row(card, number) for number, card in enumerate(cards, 1)],
        )
        await connection.execute("UPDATE registry.counter SET value = $1 WHERE name = 'publication'", len(cards))
        await index_again(stores)
    finally:
        await connection.close()


async def index_again(stores: DatabaseUrls) -> None:
    """What the migration would have written, had these versions been published before it."""
    connection = await connect(stores.migration, application="test")
    try:
        async with connection.transaction():
            await connection.execute("SET LOCAL ROLE aop_owner")
            await connection.execute(_AGAIN)
            await connection.execute((assets.folder("migrations") / "registry" / "0009_words.sql").read_text("utf-8"))
    finally:
        await connection.close()


def _listed(number: int, verb: str, noun: str) -> Listed:
    chance = random.Random(number)
    others = " ".join(chance.choices((*VERBS, *NOUNS), k=6))
    firm = f"{chance.choice(NOUNS)[:-1]}{number:03}".title()
    card = a_card(
        agent_id=f"acme:{verb}-{noun}",
        name=f"{verb.title()} {noun}",
        description=f"Helps people who {others}. Made with care and kept simple.",
        owner=f"firm-{number}",
        skills=[a_skill(f"{verb}-{noun}-now", name=f"{verb} now")],
        permissions=[],
    )
    return Listed(verb, noun, {**card, "owner": {"id": f"firm-{number}", "displayName": f"{firm} Limited"}})


def _row(card: Card, number: int) -> tuple[object, ...]:
    document = canonical(card)
    return (
        *(card["agentId"], card["version"], document, digest(document), card["owner"]["id"]),
        precedence_text(Version.parse(card["version"])),
        *(folded(card["name"]), folded(card["description"]), [skill["id"] for skill in card["skills"]]),
        *(START + timedelta(seconds=number), number),
    )
