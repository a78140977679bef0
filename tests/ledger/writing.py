"""A journal on a real store for tests: builders of acceptances and facts, and what the store then holds."""

import dataclasses
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

import asyncpg
import msgspec
from msgspec.structs import replace

from aop.base.clock import utc_now
from aop.base.ids import new_hex_id, new_id, new_opening_id
from aop.base.loops import Loops
from aop.contracts.identity import Caller, CallerType, InvocationContext, Lineage, Pin
from aop.contracts.lineage import InvocationOrder
from aop.ledger.check.ledger_check import LedgerCheck
from aop.ledger.check.span import Span
from aop.ledger.model import Acceptance, Fact, LastFact, Opening, Terminal, Writer, terminal_fact
from aop.ledger.read.reader import LedgerReader
from aop.ledger.read.record_filter import ListRead, RecordFilter
from aop.ledger.read.search import MAX_READ
from aop.ledger.write.epochs import open_epoch
from aop.ledger.write.group_commit import Connect
from aop.ledger.write.journal import Journal
from aop.store.database import Connection, connect
from tests.support.postgres import opened_database
from tests.support.waiting import PATIENCE_SECONDS

SPACE = "space"
ROUTER = "router-1"
DIGEST = bytes(range(32)).hex()
S = TypeVar("S", bound=msgspec.Struct)


def a_context(parent: InvocationContext | None = None, /, **changes: Any) -> InvocationContext:
    """A root, or a child of the parent; a change is of the lineage, the pin, or the context itself."""
    invocation = new_id("inv")
    if parent is None:
        lineage, caller = Lineage(invocation, new_id("task"), new_hex_id()), Caller(type=CallerType.USER, id="alice")
    else:
        above = parent.lineage
        lineage = Lineage(invocation, above.root_task, above.trace, above.invocation, above.depth + 1)
        caller = Caller(type=CallerType.AGENT, id=parent.pin.agent)
    pin = Pin(SPACE, "acme:agent", "1.0.0", new_id("rel"), DIGEST)
    context = InvocationContext(_changed(lineage, changes), _changed(pin, changes), caller, "work")
    return _changed(context, changes)


def _changed(value: S, changes: Mapping[str, Any]) -> S:
    return replace(value, **{name: changes[name] for name in changes if name in value.__struct_fields__})


def digits(identifier: str) -> str:
    """What a column of the store holds of an id."""
    return identifier.rpartition("_")[2]


def an_acceptance(
    context: InvocationContext | None = None, *, at: datetime | None = None, opening: Opening = Opening.STARTED
) -> Acceptance:
    moment = at or utc_now()
    return Acceptance(context or a_context(), opening, new_opening_id(), moment, moment + timedelta(seconds=60))


def an_end(place: LastFact, terminal: Terminal) -> Fact:
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
            "SELECT type, error_code FROM ledger.event WHERE invocation_id = $1 AND type <> 'stream'",
            digits(invocation),
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
    url: str, *, connect_by: Connect | None = None, seconds: float = PATIENCE_SECONDS, router_id: str = ROUTER
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
async def reading(url: str, *, max_read: int = MAX_READ) -> AsyncIterator[LedgerReader]:
    async with opened_database(url, size=3) as database:
        yield LedgerReader(database, max_read=max_read)


async def listed_ids(
    ledger: LedgerReader,
    filters: RecordFilter = RecordFilter(),  # noqa: B008
    order: InvocationOrder = InvocationOrder.NEWEST,
    *,
    limit: int,
) -> list[str]:
    """Of all pages, which must not repeat anything."""
    found: list[str] = []
    read = ListRead(SPACE, limit, filters, order)
    while True:
        page = await ledger.page(read)
        assert len(page.items) <= limit
        found += [record.invocation_id for record in page.items]
        if page.last is None:
            assert len(found) == len(set(found))
            return found
        read = dataclasses.replace(read, after=page.last)


async def breaches(url: str, span: Span = Span()) -> list[str]:  # noqa: B008
    """What `aop ledger check` finds."""
    return (await checked(url, span))[0]


async def checked(url: str, span: Span = Span()) -> tuple[list[str], LedgerCheck]:  # noqa: B008
    """What `aop ledger check` finds, and how much it looked at."""
    connection = await connect(url, application="test")
    try:
        return await checked_on(connection, span)
    finally:
        await connection.close()


async def checked_on(connection: Connection, span: Span) -> tuple[list[str], LedgerCheck]:
    reading = LedgerCheck(connection, span)
    return [f"{breach.about}: {breach.problem}" async for breach in reading.breaches()], reading
