"""What each login may do to the Ledger: the Router adds and reads, everybody else nothing, and nobody changes a row."""

import asyncpg
import pytest

from tests.ledger.conftest import TABLES, Target

CHANGES = [f"UPDATE ledger.{table} SET {column} = {column}" for table, column in zip(
    TABLES, ("epoch", "epoch", "position", "capability", "epoch", "error_code"), strict=True)] + [
    statement.format(table=table)
    for table in TABLES
    for statement in ("DELETE FROM ledger.{table}", "TRUNCATE ledger.{table} CASCADE")
]  # fmt: skip


BEYOND_THE_ROUTER = [
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
]
BEYOND_THE_CONTROL_PLANE = [
    *(f"SELECT FROM ledger.{table}" for table in (*TABLES, "record", "schema_version")),
    "INSERT INTO ledger.epoch (router_id, epoch) VALUES ('{router}', 99)",
    "INSERT INTO ledger.cancel_request (invocation_id, router_id, epoch) VALUES ('{running}', '{router}', {epoch})",
    "SELECT ledger.open_epoch('{router}')",
    "SELECT ledger.require_epoch('{router}', {epoch})",
    "SELECT ledger.request_cancel('{router}', {epoch}, ARRAY['{running}']::uuid[])",
    "SET ROLE aop_router",
    "DROP SCHEMA ledger CASCADE",
]


def named(statements: list[str]) -> dict[str, str]:
    return {statement: statement for statement in statements}


@pytest.mark.rows("LED-05", "OPS-08")
async def test_no_login_changes_or_removes_a_row(target: Target) -> None:
    stores, changes = target.stores, named(CHANGES)
    for url in (stores.router, stores.control_plane):
        assert await target.attempts(url, changes) == dict.fromkeys(changes, "42501")
    for url in (stores.migration, target.superuser):
        assert await target.attempts(url, changes, "SET ROLE aop_owner") == dict.fromkeys(changes, "P0001")
    for role in ("replica", "origin"):
        ends = await target.attempts(target.superuser, changes, f"SET session_replication_role = {role}")
        assert ends == dict.fromkeys(changes, "P0001")


@pytest.mark.second_ring
@pytest.mark.rows("OPS-08")
async def test_the_router_has_nothing_beyond_adding_to_the_ledger_and_reading_it(target: Target) -> None:
    ends = await target.attempts(target.stores.router, named(BEYOND_THE_ROUTER))
    assert ends == dict.fromkeys(BEYOND_THE_ROUTER, "42501")


@pytest.mark.second_ring
@pytest.mark.rows("OPS-08")
async def test_the_control_plane_reaches_nothing_of_the_ledger(target: Target) -> None:
    ends = await target.attempts(target.stores.control_plane, named(BEYOND_THE_CONTROL_PLANE))
    assert ends == dict.fromkeys(BEYOND_THE_CONTROL_PLANE, "42501")


@pytest.mark.rows("LED-12")
async def test_no_column_of_the_ledger_can_hold_a_payload(target: Target) -> None:
    connection = await asyncpg.connect(target.superuser)
    try:
        columns = await connection.fetch(
            "SELECT table_name, column_name, CASE data_type WHEN 'ARRAY' THEN udt_name ELSE data_type END AS data_type"
            " FROM information_schema.columns"
            " WHERE table_schema = 'ledger' AND table_name <> 'schema_version'"
        )
        texts = {(row["table_name"], row["column_name"]) for row in columns if row["data_type"] == "text"}
    finally:
        await connection.close()
    assert {row["data_type"] for row in columns} == {
        "uuid", "text", "bigint", "integer", "timestamp with time zone", "bytea", "smallint", "boolean", "date",
    }  # fmt: skip
    assert {name for _, name in texts} == {
        "router_id", "parent_opening", "caller_type", "caller_id", "workspace_id", "target_agent_id",
        "agent_card_version", "capability", "opening", "type", "previous_status", "error_code", "reason", "outcome",
    }  # fmt: skip
    kinds = {(row["table_name"], row["column_name"]) for row in columns if row["data_type"] == "bytea"}
    # Cells of figures are counts in bytes and the tree has hashes: no facts; the check makes them again.
    derived = {
        ("figure", "cell"),
        ("figure", "parts"),
        ("tree_tile", "root"),
        ("tree_tile", "hashes"),
        ("tree_head", "root"),
        ("detached_month", "sha256"),
    }
    assert {name for _, name in kinds - derived} == {"agent_card_digest", "authorization_digest"}
