"""A store with a finished, a running and a streaming Invocation, for statements that attack it; a loop of fake time."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from aop.base.ids import new_hex_id
from aop.ledger.check import ledger_check
from aop.ledger.model import SUCCEEDED, Progress, progress_fact
from aop.local.state import DatabaseUrls
from tests.ledger.simulated.loop import SimulatedLoop
from tests.ledger.writing import ROUTER, a_context, an_acceptance, an_end, breaches, digits, new_epoch, writing
from tests.support.postgres import PostgresForTests

TABLES = ("epoch", "epoch_closed", "checkpoint", "invocation", "cancel_request", "event")


@dataclass
class Target:
    """A store with a finished, a running and a streaming Invocation, and the logins that attack it."""

    stores: DatabaseUrls
    superuser: str
    values: dict[str, str]

    async def attempts(self, url: str, statements: Mapping[str, str], first: str = "SELECT 1") -> dict[str, str]:
        """How each statement ends: with an SQLSTATE, or `done`."""
        connection = await asyncpg.connect(url)
        ends = {}
        try:
            await connection.execute(first)
            for name, statement in statements.items():
                attempt = connection.transaction()
                await attempt.start()
                try:
                    await connection.execute(statement.format(**self.values))
                    ends[name] = "done"
                except asyncpg.PostgresError as refused:
                    ends[name] = str(refused.sqlstate)
                await attempt.rollback()
        finally:
            await connection.close()
        return ends

    async def rows(self) -> dict[str, list[Any]]:
        connection = await asyncpg.connect(self.superuser)
        try:
            return {table: sorted(map(str, await connection.fetch(f"TABLE ledger.{table}"))) for table in TABLES}
        finally:
            await connection.close()


@pytest_asyncio.fixture
async def target(stores: DatabaseUrls, postgres: PostgresForTests) -> AsyncIterator[Target]:
    finished, running, streaming = a_context(), a_context(), a_context()
    await new_epoch(stores.router)
    async with writing(stores.router) as written:
        journal = written.journal
        await journal.end(an_end(await journal.accept(an_acceptance(finished)), SUCCEEDED))
        await journal.accept(an_acceptance(running))
        place = await journal.accept(an_acceptance(streaming))
        fact = progress_fact(place, new_hex_id(), place.created_at, Progress(3, 30))
        assert await journal.progress(fact)
        await journal.request_cancel(running.lineage.invocation)
    values = {
        "finished": digits(finished.lineage.invocation),
        "running": digits(running.lineage.invocation),
        "trace": running.lineage.trace,
        "root": digits(running.lineage.root_task),
        "streaming": digits(streaming.lineage.invocation),
        "epoch": str(written.epoch),
        "router": ROUTER,
    }
    superuser = postgres.url(stores.migration.rpartition("/")[2])
    target = Target(stores, superuser, values)
    before = await target.rows()
    yield target
    assert await target.rows() == before
    assert await breaches(stores.router) == []


@pytest.fixture
def loop() -> Iterator[SimulatedLoop]:
    with closing(SimulatedLoop()) as made:
        made.begin(1, max_seconds=1000)
        yield made


@pytest.fixture(autouse=True)
def check_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """`aop ledger check` waits for no sequencer: where one is at work, tests wait for it before."""
    monkeypatch.setattr(ledger_check, "_NUMBERED_MEANWHILE_SECONDS", 0.0)
