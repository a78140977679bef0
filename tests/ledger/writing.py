"""A journal on a real store for tests: builders of acceptances and facts, and what the store then holds."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import asyncpg
from msgspec.structs import replace

from aop.base.clock import utc_now
from aop.base.ids import new_hex_id, new_opening_id
from aop.base.loops import Loops
from aop.contracts.lineage import CallerType
from aop.ledger.check import LedgerCheck, Span
from aop.ledger.entries import Writer
from aop.ledger.epochs import open_epoch
from aop.ledger.journal import Journal
from aop.ledger.lineage import Lineage
from aop.ledger.model import Acceptance, Context, Fact, Opening, Place, Terminal, terminal_fact
from aop.ledger.writer_connection import Connect
from aop.store.database import Connection, Database, connect

SPACE = "space"
ROUTER = "router-1"
DIGEST = bytes(range(32))


def a_context(parent: Context | None = None, **changes: Any) -> Context:
    context = Context(
        invocation=new_hex_id(),
        root_task=new_hex_id() if parent is None else parent.root_task,
        trace=new_hex_id() if parent is None else parent.trace,
        parent=None if parent is None else parent.invocation,
        caller_type=CallerType.USER if parent is None else CallerType.AGENT,
        caller_id="alice" if parent is None else parent.target_agent_id,
        workspace_id=SPACE,
        target_agent_id="acme:agent",
        agent_card_version="1.0.0",
        release=new_hex_id(),
        card_digest=DIGEST,
        capability="work",
    )
    return replace(context, **changes)


def an_acceptance(
    context: Context | None = None, *, at: datetime | None = None, opening: Opening = Opening.STARTED
) -> Acceptance:
    moment = at or utc_now()
    return Acceptance(context or a_context(), opening, new_opening_id(), moment, moment + timedelta(seconds=60))


def an_end(place: Place, terminal: Terminal) -> Fact:
    return terminal_fact(place, new_hex_id(), utc_now(), terminal)


@dataclass
class Writing:
    """A journal and the store beneath it."""

    journal: Journal
    url: str
    epoch: int
    fenced: list[bool] = field(default_factory=list)

    async def rows(self, query: str, *values: Any) -> list[Any]:
        connection = await asyncpg.connect(self.url)
        try:
            return list(await connection.fetch(query, *values))
        finally:
            await connection.close()

    async def terminals(self, invocation: str) -> list[tuple[str, str | None]]:
        rows = await self.rows(
            "SELECT type, error_code FROM ledger.event WHERE invocation_id = $1 AND type <> 'stream'", invocation
        )
        return [(row["type"], row["error_code"]) for row in rows]


async def new_epoch(url: str, router_id: str = ROUTER) -> int:
    connection = await connect(url, application="test")
    try:
        return await open_epoch(connection, router_id)
    finally:
        await connection.close()


@asynccontextmanager
async def writing(
    url: str, *, connect_by: Connect | None = None, seconds: float = 5.0, router_id: str = ROUTER
) -> AsyncIterator[Writing]:
    """`url` is what tests look at; `connect_by` is how the journal gets its connections, if not by that."""

    async def connected() -> Connection:
        return await connect(url, application="test journal")

    epoch, fenced = await new_epoch(url, router_id), list[bool]()
    writer = Writer(router_id, epoch)
    journal = Journal(
        writer, connect_by or connected, utc_now, write_seconds=seconds, fenced=lambda: fenced.append(True)
    )
    journal.start(Loops(lambda _: lambda _: None))
    try:
        yield Writing(journal, url, epoch, fenced)
    finally:
        await journal.close()


@asynccontextmanager
async def reading(url: str) -> AsyncIterator[Lineage]:
    database = await Database.open(url, size=3, application="test")
    try:
        yield Lineage(database)
    finally:
        await database.close()


async def breaches(url: str, span: Span = Span()) -> list[str]:  # noqa: B008
    """What `aop ledger check` finds."""
    connection = await connect(url, application="test")
    try:
        return [f"{breach.about}: {breach.problem}" async for breach in LedgerCheck(connection, span).breaches()]
    finally:
        await connection.close()
