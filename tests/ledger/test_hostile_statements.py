"""What the store itself refuses, whoever asks: the Router, the Control Plane, the owner, the superuser."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from aop.base.ids import new_hex_id
from aop.ledger.model import SUCCEEDED, Progress, progress_fact
from aop.local.state import DatabaseUrls
from tests.ledger.writing import ROUTER, a_context, an_acceptance, an_end, breaches, new_epoch, writing
from tests.support.postgres import PostgresForTests

TABLES = ("epoch", "epoch_closed", "checkpoint", "invocation", "cancel_request", "event")


@dataclass
class Target:
    """A store with a finished, a running and a streaming Invocation, and the logins that attack it."""

    stores: DatabaseUrls
    superuser: str
    values: dict[str, str]

    async def attempt(self, url: str, *statements: str) -> str:
        """The SQLSTATE with which the last statement is refused."""
        connection = await asyncpg.connect(url)
        try:
            for statement in statements[:-1]:
                await connection.execute(statement.format(**self.values))
            with pytest.raises(asyncpg.PostgresError) as refused:
                await connection.execute(statements[-1].format(**self.values))
            return str(refused.value.sqlstate)
        finally:
            await connection.close()

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
        await journal.request_cancel(running.invocation)
    values = {
        "finished": finished.invocation,
        "running": running.invocation,
        "trace": running.trace,
        "root": running.root_task,
        "streaming": streaming.invocation,
        "epoch": str(written.epoch),
        "router": ROUTER,
    }
    superuser = postgres.url(stores.migration.rpartition("/")[2])
    target = Target(stores, superuser, values)
    before = await target.rows()
    yield target
    assert await target.rows() == before
    assert await breaches(stores.router) == []


CHANGES = [f"UPDATE ledger.{table} SET {column} = {column}" for table, column in zip(
    TABLES, ("epoch", "epoch", "position", "capability", "epoch", "error_code"), strict=True)] + [
    statement.format(table=table)
    for table in TABLES
    for statement in ("DELETE FROM ledger.{table}", "TRUNCATE ledger.{table} CASCADE")
]  # fmt: skip


@pytest.mark.rows("LED-05", "OPS-08")
@pytest.mark.parametrize("statement", CHANGES)
async def test_no_login_changes_or_removes_a_row(target: Target, statement: str) -> None:
    stores = target.stores
    for url in (stores.router, stores.control_plane):
        assert await target.attempt(url, statement) == "42501"
    for url in (stores.migration, target.superuser):
        assert await target.attempt(url, "SET ROLE aop_owner", statement) == "P0001"
    for role in ("replica", "origin"):
        attack = (f"SET session_replication_role = {role}", statement)
        assert await target.attempt(target.superuser, *attack) == "P0001"


@pytest.mark.rows("OPS-08")
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM registry.card",
        "SELECT * FROM registry.release",
        "SELECT * FROM workspace.installation",
        "SELECT * FROM gateway.access_token",
        "INSERT INTO gateway.access_token DEFAULT VALUES",
        "CREATE TABLE ledger.more (a text)",
        "CREATE TABLE public.more (a text)",
        "CREATE TEMP TABLE more (a text)",
        "ALTER TABLE ledger.event DISABLE TRIGGER event_kept",
        "ALTER TABLE ledger.event DROP CONSTRAINT event_key",
        "DROP TRIGGER event_kept ON ledger.event",
        "DROP INDEX ledger.event_one_terminal",
        "DROP TABLE ledger.event",
        "CREATE OR REPLACE FUNCTION ledger.refuse() RETURNS trigger LANGUAGE sql AS 'SELECT NULL'",
        "SET session_replication_role = replica",
        "SET ROLE aop_owner",
        "SET ROLE aop_control_plane",
        "INSERT INTO ledger.schema_version VALUES (99, 'x', 'y')",
        "INSERT INTO ledger.epoch (router_id, epoch, opened_at) VALUES ('{router}', 99, now())",
        "INSERT INTO ledger.cancel_request (invocation_id, router_id, epoch, recorded_at)"
        " VALUES ('{running}', '{router}', {epoch}, now())",
        "SELECT pg_read_file('postgresql.conf')",
        "COPY ledger.event TO PROGRAM 'cat'",
        "ALTER ROLE CURRENT_USER CREATEROLE",
    ],
)
async def test_the_router_has_nothing_beyond_adding_to_the_ledger_and_reading_it(
    target: Target, statement: str
) -> None:

    assert await target.attempt(target.stores.router, statement) == "42501"


@pytest.mark.rows("OPS-08")
@pytest.mark.parametrize(
    "statement",
    [
        *(f"SELECT FROM ledger.{table}" for table in (*TABLES, "record", "schema_version")),
        "INSERT INTO ledger.epoch (router_id, epoch) VALUES ('{router}', 99)",
        "INSERT INTO ledger.cancel_request (invocation_id, router_id, epoch) VALUES ('{running}', '{router}', {epoch})",
        "SELECT ledger.open_epoch('{router}')",
        "SELECT ledger.require_epoch('{router}', {epoch})",
        "SELECT ledger.request_cancel('{router}', {epoch}, ARRAY['{running}']::uuid[])",
        "SET ROLE aop_router",
        "DROP SCHEMA ledger CASCADE",
    ],
)
async def test_the_control_plane_reaches_nothing_of_the_ledger(target: Target, statement: str) -> None:
    assert await target.attempt(target.stores.control_plane, statement) == "42501"


_EVENT = (
    "INSERT INTO ledger.event (invocation_id, sequence, event_id, occurred_at, type, previous_status, previous_sequence,"
    " previous_chunk_index, previous_at, opening, trace_id, root_task_id, workspace_id, created_at, chunk_index,"
    " chunk_count, chunk_bytes, latency_ms, error_code, router_id, epoch) SELECT {columns} FROM ledger.invocation"
    " LEFT JOIN ledger.event AS last ON last.invocation_id = invocation.invocation_id"
    " WHERE invocation.invocation_id = '{which}'"
)
_COLUMNS = {
    "invocation_id": "invocation.invocation_id",
    "sequence": "3",
    "event_id": "gen_random_uuid()",
    "occurred_at": "invocation.created_at",
    "type": "'succeeded'",
    "previous_status": "'running'",
    "previous_sequence": "NULL",
    "previous_chunk_index": "NULL",
    "previous_at": "NULL",
    "opening": "invocation.opening",
    "trace_id": "invocation.trace_id",
    "root_task_id": "invocation.root_task_id",
    "workspace_id": "invocation.workspace_id",
    "created_at": "invocation.created_at",
    "chunk_index": "NULL",
    "chunk_count": "NULL",
    "chunk_bytes": "NULL",
    "latency_ms": "0",
    "error_code": "NULL",
    "router_id": "'{router}'",
    "epoch": "{epoch}",
}
_PROGRESS = {"type": "'stream'", "latency_ms": "NULL", "chunk_index": "0", "chunk_count": "1", "chunk_bytes": "1"}
_BEHIND = {
    "sequence": "4",
    "previous_sequence": "3",
    "previous_chunk_index": "2",
    "previous_at": "last.occurred_at",
    "occurred_at": "last.occurred_at",
    "latency_ms": "floor(extract(epoch FROM last.occurred_at - invocation.created_at) * 1000)",
}
_BETWEEN = dict.fromkeys(("opening", "trace_id", "root_task_id", "workspace_id", "created_at"), "NULL")


def event(which: str, **changes: str) -> str:
    columns = {**_COLUMNS, **changes}
    return _EVENT.replace("{columns}", ", ".join(columns.values())).replace("{which}", f"{{{which}}}")


ILLEGAL = {
    "a second terminal": event("finished", type="'canceled'", error_code="'CANCELED'", sequence="4"),
    "a terminal of the same place": event("finished"),
    "progress behind a terminal": event(
        "finished", **{**_PROGRESS, "sequence": "4", "previous_sequence": "3", "previous_chunk_index": "0"}
    ),
    "success from routing": event("running", opening="'routing'", sequence="2", previous_status="'routing'"),
    "failed from pending": event(
        "running", type="'failed'", error_code="'INTERNAL_ERROR'", previous_status="'pending'", sequence="1"
    ),
    "a status before it that is not so": event("running", previous_status="'routing'"),
    "an unknown type": event("running", type="'paused'"),
    "a gap": event("running", sequence="4"),
    "another opening": event("running", opening="'created'", sequence="1", previous_status="'pending'"),
    "another trace": event("running", trace_id="gen_random_uuid()"),
    "another root task": event("running", root_task_id="gen_random_uuid()"),
    "another Workspace": event("running", workspace_id="'other'"),
    "another creation time": event("running", created_at="invocation.created_at - interval '1 s'", latency_ms="1000"),
    "no context": event("running", **_BETWEEN),
    "a time before it was created": event(
        "running", occurred_at="invocation.created_at - interval '1 ms'", latency_ms="-1"
    ),
    "progress before it was created": event(
        "running", **{**_PROGRESS, "occurred_at": "invocation.created_at - interval '1 ms'"}
    ),
    "a wrong latency": event("running", latency_ms="1"),
    "no latency": event("running", latency_ms="NULL"),
    "success with a code": event("running", error_code="'INTERNAL_ERROR'"),
    "failed without a code": event("running", type="'failed'"),
    "failed with TIMEOUT": event("running", type="'failed'", error_code="'TIMEOUT'"),
    "failed with an unknown code": event("running", type="'failed'", error_code="'the text of an input'"),
    "timed_out with CANCELED": event("running", type="'timed_out'", error_code="'CANCELED'"),
    "canceled without a code": event("running", type="'canceled'"),
    "chunks on a terminal": event("running", chunk_index="0", chunk_count="1", chunk_bytes="1"),
    "progress without chunks": event("running", **{**_PROGRESS, "chunk_count": "NULL"}),
    "progress of no chunk": event("running", **{**_PROGRESS, "chunk_index": "-1", "chunk_count": "0"}),
    "chunkCount mismatch": event("running", **{**_PROGRESS, "chunk_index": "5"}),
    "chunkCount mismatch behind progress": event(
        "streaming", **{**_BEHIND, **_PROGRESS, **_BETWEEN, "chunk_index": "4"}
    ),
    "progress that repeats a chunk": event("streaming", **{**_BEHIND, **_PROGRESS, **_BETWEEN, "chunk_index": "2"}),
    "a terminal that skips progress": event("streaming", sequence="4"),
    "a terminal beside progress": event("streaming"),
    "a terminal behind progress with another Workspace": event("streaming", **{**_BEHIND, "workspace_id": "'other'"}),
    "a terminal behind progress without context": event("streaming", **{**_BEHIND, **_BETWEEN}),
    "a terminal before the progress it follows": event(
        "streaming", **{**_BEHIND, "occurred_at": "last.occurred_at - interval '1 ms'"}
    ),
    "a terminal behind progress at another time": event(
        "streaming", **{**_BEHIND, "previous_at": "last.occurred_at - interval '1 ms'"}
    ),
    "a terminal behind a chunk nobody recorded": event("streaming", **{**_BEHIND, "previous_chunk_index": "7"}),
    "an event of no Invocation": event("running", invocation_id="gen_random_uuid()"),
    "an event of an older epoch": event("running", epoch="{epoch} - 1"),
    "an event of an epoch to come": event("running", epoch="{epoch} + 1"),
    "an event of an unknown Router": event("running", router_id="'router-9'"),
    "an old epoch again": "INSERT INTO ledger.epoch (router_id, epoch) VALUES ('{router}', 1)",
    "an epoch that skips": "INSERT INTO ledger.epoch (router_id, epoch) VALUES ('{router}', {epoch} + 2)",
    "epoch 0": "INSERT INTO ledger.epoch (router_id, epoch) VALUES ('router-9', 0)",
    "closing the newest epoch": "INSERT INTO ledger.epoch_closed (router_id, epoch) VALUES ('{router}', {epoch})",
    "closing an unknown epoch": "INSERT INTO ledger.epoch_closed (router_id, epoch) VALUES ('router-9', 1)",
    "a checkpoint of an older epoch": "INSERT INTO ledger.checkpoint (router_id, epoch, position)"
    " VALUES ('{router}', {epoch} - 1, 5)",
    "a cancel request of an older epoch": "INSERT INTO ledger.cancel_request (invocation_id, router_id, epoch)"
    " VALUES ('{streaming}', '{router}', {epoch} - 1)",
    "a cancel request of no Invocation": "INSERT INTO ledger.cancel_request (invocation_id, router_id, epoch)"
    " VALUES (gen_random_uuid(), '{router}', {epoch})",
    "a function called in an older epoch": "SELECT ledger.request_cancel('{router}', {epoch} - 1, ARRAY['{streaming}']::uuid[])",
}


@pytest.mark.rows("LED-04", "LED-06")
@pytest.mark.parametrize("attack", ILLEGAL)
async def test_the_store_refuses_an_illegal_fact_from_the_router_and_from_the_superuser(
    target: Target, attack: str
) -> None:
    for url in (target.stores.router, target.superuser):
        assert (await target.attempt(url, ILLEGAL[attack]))[:2] in {"23", "P0", "AO"}, attack


_CHILD = (
    "INSERT INTO ledger.invocation SELECT gen_random_uuid(), {columns}, agent_release_id, agent_card_digest, capability,"
    " router_id, epoch, position + 100, 'started', gen_random_uuid(), {created}, deadline_at FROM ledger.invocation"
    " WHERE invocation_id = '{{which}}'"
)
_CHILD_COLUMNS = {
    "root": "root_task_id",
    "trace": "trace_id",
    "parent": "invocation_id",
    "parent_opening": "opening",
    "parent_created": "created_at",
    "caller_type": "'agent'",
    "caller": "target_agent_id",
    "workspace": "workspace_id",
    "agent": "target_agent_id",
    "version": "agent_card_version",
}


def child(created: str = "created_at", **changes: str) -> str:
    columns = {**_CHILD_COLUMNS, **changes}
    return _CHILD.format(columns=", ".join(columns.values()), created=created).replace("{which}", "{running}")


CHILDREN = {
    "another trace": child(trace="gen_random_uuid()"),
    "another root task": child(root="gen_random_uuid()"),
    "another Workspace": child(workspace="'other'"),
    "a time before its parent started": child(created="created_at - interval '1 us'"),
    "a parent's time that is not so": child(
        created="created_at - interval '1 s'", parent_created="created_at - interval '2 s'"
    ),
    "a parent nobody knows": child(parent="gen_random_uuid()"),
    "a parent that never started": child(parent_opening="'routing'"),
    "a parent without its opening": child(parent_opening="NULL"),
    "a user as its caller": child(caller_type="'user'"),
    "an agent as caller of a root": child(parent="NULL", parent_opening="NULL", parent_created="NULL"),
    "a payload for a name": child(agent="repeat('x', 129)"),
}


@pytest.mark.rows("NEST-16")
@pytest.mark.parametrize("attack", CHILDREN)
async def test_the_store_refuses_a_child_that_does_not_fit_its_parent(target: Target, attack: str) -> None:
    for url in (target.stores.router, target.superuser):
        assert (await target.attempt(url, CHILDREN[attack]))[:2] == "23", attack


@pytest.mark.rows("LED-12")
async def test_no_column_of_the_ledger_can_hold_a_payload(target: Target) -> None:
    connection = await asyncpg.connect(target.superuser)
    try:
        columns = await connection.fetch(
            "SELECT table_name, column_name, data_type FROM information_schema.columns"
            " WHERE table_schema = 'ledger' AND table_name <> 'schema_version'"
        )
        texts = {(row["table_name"], row["column_name"]) for row in columns if row["data_type"] == "text"}
    finally:
        await connection.close()
    assert {row["data_type"] for row in columns} == {
        "uuid", "text", "bigint", "integer", "timestamp with time zone", "bytea",
    }  # fmt: skip
    assert {name for _, name in texts} == {
        "router_id", "parent_opening", "caller_type", "caller_id", "workspace_id", "target_agent_id",
        "agent_card_version", "capability", "opening", "type", "previous_status", "error_code", "outcome",
    }  # fmt: skip
    kinds = {row["column_name"] for row in columns if row["data_type"] == "bytea"}
    assert kinds == {"agent_card_digest"}
