"""SQL of the Ledger's writers and epochs: inserts, most of them through functions of the store, and selects."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import asyncpg

from aop.contracts.lineage import EventType
from aop.ledger.model import STATUS_AFTER, Acceptance, Fact, Terminal, latency_ms
from aop.ledger.rows import OpenRow
from aop.ledger.write.array_literals import columns, parameters
from aop.store.database import Connection
from aop.store.kept_statement import KeptStatement
from aop.store.queries import queries_beside
from aop.store.rows import to_rows

_QUERIES = queries_beside(__file__)
Key = tuple[str, int]
Entry = tuple[int, Acceptance, Terminal | None]
"""An Invocation that is accepted at this position, and its terminal if it ends in the same write."""


def _insert_into(table: str, names: str) -> str:
    numbers = ", ".join(f"${number}" for number in range(1, names.count(",") + 2))
    return f"INSERT INTO {table} ({names}) VALUES ({numbers})"  # noqa: S608  parts of our own


_ACCEPTANCE = (
    *("bigint", *["uuid"] * 4, "word", *["text"] * 4, "uuid", "bytea", "text", "word", "uuid"),
    *("moment", "moment", "bytea"),
)
_FACT = (
    *("uuid", "integer", "uuid", "moment", "word", "word", "integer", "integer", "moment", "word", "uuid", "uuid"),
    *("text", "moment", "integer", "integer", "bigint", "bigint", "word", "word"),
)
_ACCEPTANCE_COLUMNS = (
    "position, invocation_id, root_task_id, trace_id, parent_invocation_id, caller_type, caller_id, workspace_id,"
    " target_agent_id, agent_card_version, agent_release_id, agent_card_digest, capability, opening, opening_event_id,"
    " created_at, deadline_at, authorization_digest, router_id, epoch"
)
_FACT_COLUMNS = (
    "invocation_id, sequence, event_id, occurred_at, type, previous_status, previous_sequence, previous_chunk_index,"
    " previous_at, opening, trace_id, root_task_id, workspace_id, created_at, chunk_index, chunk_count, chunk_bytes,"
    " latency_ms, error_code, reason, router_id, epoch"
)
# A lone entry: arrays and the function around them cost PostgreSQL a quarter of the whole. The same constraints and
# the fence of the table hold.
ACCEPT_ONE = _insert_into("ledger.invocation", _ACCEPTANCE_COLUMNS)
APPEND_ONE = _insert_into("ledger.event", _FACT_COLUMNS)
NOTHING_ADDED = tuple(
    f"INSERT INTO {table} SELECT (NULL::{table}).* WHERE false" for table in ("ledger.invocation", "ledger.event")
)
"""What can be executed whenever rows could be added: a lock, a lost right and a node for reads are in its way."""
_OR_NOTHING = " ON CONFLICT DO NOTHING RETURNING true"
_ACCEPT = f"SELECT * FROM ledger.accept($1, $2, {parameters(_ACCEPTANCE, 3)})"  # noqa: S608
_APPEND = f"SELECT * FROM ledger.append($1, $2, {parameters(_FACT, 3)})"  # noqa: S608


async def prepare_writer(connection: Connection, write_seconds: float) -> None:
    """The server stops a statement before the writer gives up, so that there is an answer. A frozen writer holds the
    fence for a limited time only.

    A writer's plans are made once, while the tables may still be empty, and must not become scans of full ones.
    """
    await connection.execute(
        "SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', $1, false),"
        " set_config('idle_in_transaction_session_timeout', $2, false), set_config('plan_cache_mode', $3, false),"
        " set_config('enable_seqscan', 'off', false), set_config('enable_hashjoin', 'off', false),"
        " set_config('enable_mergejoin', 'off', false), set_config('jit', 'off', false)",
        str(max(1, int(write_seconds * 800))),
        str(max(1, int(write_seconds * 1000))),
        "force_generic_plan",
    )


async def open_epoch(connection: Connection, router_id: str) -> int:
    epoch: int = await connection.fetchval("SELECT ledger.open_epoch($1)", router_id)
    return epoch


async def worker_names(connection: Connection, router_id: str) -> Sequence[str]:
    """The names under which this Router has ever written: its id, and that with the number of a worker behind it."""
    return [row["router_id"] for row in await connection.fetch(_QUERIES["worker_names"], router_id)]


async def newest_epoch(connection: Connection, router_id: str) -> int:
    """0 before the first."""
    epoch: int | None = await connection.fetchval("SELECT max(epoch) FROM ledger.epoch WHERE router_id = $1", router_id)
    return epoch or 0


async def accept(
    connection: Connection, router_id: str, epoch: int, entries: Sequence[Entry], lone: KeptStatement | None = None
) -> dict[str, datetime]:
    """The event ids of the accepted ones and when each was created; the others were refused."""
    acceptance = entries[0][1]
    if len(entries) == 1 and acceptance.context.lineage.parent is None:
        row = *_acceptance_row(entries[0]), router_id, epoch
        is_new = await _insert(connection, lone or KeptStatement(ACCEPT_ONE), row)
        return {acceptance.event: acceptance.created_at} if is_new else {}
    rows = await connection.fetch(_ACCEPT, router_id, epoch, *columns(map(_acceptance_row, entries), _ACCEPTANCE))
    return {row["accepted_event_id"].hex: row["accepted_at"] for row in rows}


async def append(
    connection: Connection, router_id: str, epoch: int, facts: Sequence[Fact], lone: KeptStatement | None = None
) -> set[Key]:
    """The keys that were added; for the others a terminal came first."""
    if not facts:
        return set()
    if len(facts) == 1:
        row = *_fact_row(facts[0]), router_id, epoch
        return {facts[0].key} if await _insert(connection, lone or KeptStatement(APPEND_ONE), row) else set()
    rows = await connection.fetch(_APPEND, router_id, epoch, *columns(map(_fact_row, facts), _FACT))
    return {(f"inv_{row['appended_id'].hex}", row["appended_sequence"]) for row in rows}


async def _insert(connection: Connection, insert: KeptStatement, row: Sequence[Any]) -> bool:
    """The row is new nearly always, and ON CONFLICT costs a new one a look at each unique index, a lock and a record in
    the log. Inside a transaction a refusal would be the end of it."""
    if not connection.is_in_transaction():
        try:
            await insert.execute(connection, *row)
        except asyncpg.UniqueViolationError:
            pass  # nothing of it was kept; what is there decides
        else:
            return True
    added: bool | None = await connection.fetchval(insert.query + _OR_NOTHING, *row)
    if added is None:
        # The fence of the table judges rows, and there is none: a fenced writer must learn that it is one.
        await require_epoch(connection, *row[-2:])
    return added is not None


async def request_cancel(connection: Connection, router_id: str, epoch: int, invocations: Sequence[str]) -> None:
    ids = [invocation.removeprefix("inv_") for invocation in invocations]
    await connection.execute("SELECT ledger.request_cancel($1, $2, $3)", router_id, epoch, ids)


async def find_acceptances(connection: Connection, acceptances: Sequence[Acceptance]) -> dict[str, datetime]:
    """The event ids of those in the store and when each was created; an id taken by another one does not count."""
    rows = await connection.fetch(
        _QUERIES["find_acceptances"],
        [acceptance.context.lineage.invocation.removeprefix("inv_") for acceptance in acceptances],
        [acceptance.event for acceptance in acceptances],
    )
    return {row["opening_event_id"].hex: row["created_at"] for row in rows}


async def find_events(connection: Connection, keys: Sequence[Key]) -> set[str]:
    """The event ids under these keys."""
    rows = await connection.fetch(
        _QUERIES["find_events"],
        [invocation.removeprefix("inv_") for invocation, _ in keys],
        [sequence for _, sequence in keys],
    )
    return {row["event_id"].hex for row in rows}


async def require_epoch(connection: Connection, router_id: str, epoch: int) -> None:
    await connection.execute("SELECT ledger.require_epoch($1, $2)", router_id, epoch)


async def unclosed_epochs(connection: Connection, router_id: str, before: int) -> Sequence[int]:
    return [row["epoch"] for row in await connection.fetch(_QUERIES["unclosed_epochs"], router_id, before)]


async def open_rows(connection: Connection, router_id: str, epoch: int, limit: int) -> Sequence[OpenRow]:
    """Invocations of an epoch without a terminal, from its last checkpoint on, each with its last progress."""
    return to_rows(OpenRow, await connection.fetch(_QUERIES["open_rows"], router_id, epoch, limit))


async def settle(connection: Connection, router_id: str, epoch: int, position: int) -> None:
    """Adds a checkpoint, and the counts of what lies between it and the one before."""
    await connection.execute(_QUERIES["settle"], router_id, epoch, position)


async def close_epoch(connection: Connection, router_id: str, epoch: int) -> None:
    await connection.execute(
        "INSERT INTO ledger.epoch_closed (router_id, epoch) VALUES ($1, $2) ON CONFLICT DO NOTHING", router_id, epoch
    )


def _acceptance_row(entry: Entry) -> Sequence[Any]:
    position, acceptance, _ = entry
    context = acceptance.context
    lineage, pin = context.lineage, context.pin
    return (
        position,
        lineage.invocation.removeprefix("inv_"),
        lineage.root_task.removeprefix("task_"),
        lineage.trace,
        None if lineage.parent is None else lineage.parent.removeprefix("inv_"),
        context.caller.type,
        context.caller.id,
        pin.workspace,
        pin.agent,
        pin.version,
        pin.release.removeprefix("rel_"),
        bytes.fromhex(pin.card_digest),
        context.capability,
        acceptance.opening,
        acceptance.event,
        acceptance.created_at,
        acceptance.deadline_at,
        None if context.authorization_digest is None else bytes.fromhex(context.authorization_digest),
    )


def _fact_row(fact: Fact) -> Sequence[Any]:
    last_fact, terminal = fact.last, fact.terminal
    lineage, first = last_fact.context.lineage, last_fact.chunk_index is None
    named = first or terminal is not None
    return (
        lineage.invocation.removeprefix("inv_"),
        fact.sequence,
        fact.event,
        fact.occurred_at,
        EventType.STREAM if terminal is None else terminal.type,
        STATUS_AFTER[last_fact.opening],
        None if first else last_fact.sequence,
        last_fact.chunk_index,
        None if first else last_fact.occurred_at,
        last_fact.opening if named else None,
        lineage.trace if named else None,
        lineage.root_task.removeprefix("task_"),
        last_fact.context.pin.workspace if named else None,
        last_fact.created_at if named else None,
        fact.chunk_index,
        None if fact.progress is None else fact.progress.count,
        None if fact.progress is None else fact.progress.size,
        None if terminal is None else latency_ms(fact),
        None if terminal is None else terminal.error,
        None if terminal is None else terminal.reason,
    )
