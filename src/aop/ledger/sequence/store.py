"""SQL of the sequencer. Each statement looks itself whether a row has its number."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final
from uuid import UUID

from aop.ledger.model import OPENING_EVENTS, Writer
from aop.ledger.sequence.batch import NumberRow, RunningRow, UnnumberedEvent, UnnumberedOpening
from aop.ledger.tree.leaf import EVENT_COLUMNS, OPENING_COLUMNS
from aop.store.database import Connection
from aop.store.rows import Row, to_rows

ENDED_EPOCH: Final = 2**63 - 1
"""The position that says of an epoch that nothing more can be accepted in it and all of it has numbers."""
STATEMENT_SECONDS: Final = 20
SILENT_SECONDS: Final = 5
# 'aopseq' as a number.
_LOCK: Final = 0x616F70736571
# Rows are read once, for their numbers, figures and the tree: the columns of leaves say nearly all of it. With each
# opening comes the first event behind it, which is the last one of all calls but streams.
# A scalar subquery is a lookup by its key. EXISTS may become a hash of the whole table.
_FOUND = ", ".join(
    (
        *(f"invocation.{name}" for name in OPENING_COLUMNS),
        *("invocation.router_id", "invocation.epoch", "invocation.position"),
        "(SELECT true FROM ledger.number WHERE number.invocation_id = invocation.invocation_id"
        " AND number.sequence = 0) IS NOT NULL",
        *(f"event.{name}" for name in EVENT_COLUMNS),
    )
)
_LEAF_OF_EVENT = ", ".join(f"one.{name}" for name in EVENT_COLUMNS)
_NEXT_EVENT = f"""
  LEFT JOIN LATERAL (SELECT {_LEAF_OF_EVENT} FROM ledger.event AS one
                      WHERE one.invocation_id = invocation.invocation_id AND one.root_task_id = invocation.root_task_id
                      ORDER BY one.sequence LIMIT 1) AS event ON true
"""  # noqa: S608  parts of our own, here and below
_OPENING_LEAF: Final = len(OPENING_COLUMNS)
_EVENT_LEAF: Final = _OPENING_LEAF + 4
_INVOCATION, _ROOT_TASK, _PARENT, _WORKSPACE, _OPENING, _CREATED = map(
    OPENING_COLUMNS.index,
    ("invocation_id", "root_task_id", "parent_invocation_id", "workspace_id", "opening", "created_at"),
)
_SEQUENCE, _OCCURRED, _TYPE = map(EVENT_COLUMNS.index, ("sequence", "occurred_at", "type"))
# Calls run in the same loop, and one of them waits for so many at most, which take 0.1 to 0.2 ms.
_OPENINGS_AT_ONCE: Final = 50
_ROWS_AT_ONCE: Final = 100
_EVENTS_OF: Final = {str(opening): len(events) for opening, events in OPENING_EVENTS.items()}
# An epoch is over once a newer one of its Router exists: whoever opened that waited for the writers of this one.
_EPOCHS = """
SELECT life.router_id, life.epoch, coalesce(numbered.position, 1), coalesce(settled.position, 1),
       EXISTS (SELECT FROM ledger.epoch AS newer WHERE newer.router_id = life.router_id AND newer.epoch > life.epoch)
  FROM ledger.epoch AS life
 CROSS JOIN LATERAL (SELECT max(position) AS position FROM ledger.numbered_position AS one
                      WHERE one.router_id = life.router_id AND one.epoch = life.epoch) AS numbered
 CROSS JOIN LATERAL (SELECT max(position) AS position FROM ledger.checkpoint AS one
                      WHERE one.router_id = life.router_id AND one.epoch = life.epoch) AS settled
 WHERE numbered.position IS DISTINCT FROM $1
 ORDER BY life.opened_at, life.router_id, life.epoch
"""
_BEHIND = f"""
SELECT {_FOUND}
  FROM (SELECT invocation.*
          FROM unnest($1::text[], $2::bigint[], $3::bigint[])
               WITH ORDINALITY AS life (router_id, epoch, position, place)
         CROSS JOIN LATERAL (SELECT * FROM ledger.invocation AS one
                              WHERE one.router_id = life.router_id AND one.epoch = life.epoch
                                AND one.position > life.position
                              ORDER BY one.position LIMIT $4) AS invocation
         ORDER BY life.place, invocation.position LIMIT $4) AS invocation {_NEXT_EVENT}
"""  # noqa: S608
_AT = f"""
SELECT {_FOUND}
  FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS gap (router_id, epoch, position)
  JOIN ledger.invocation USING (router_id, epoch, position) {_NEXT_EVENT}
"""  # noqa: S608
_NAMED = f"SELECT {_FOUND} FROM ledger.invocation {_NEXT_EVENT} WHERE invocation.invocation_id = ANY($1)"  # noqa: S608
# One look-up by the key for each open Invocation. As a join with one order over all, the planner would rather walk all
# events of the Ledger in that order, at a cost that grows with it. Up to the limit, those of an Invocation have no gap.
_EVENTS = f"""
SELECT event.*
  FROM unnest($1::uuid[], $2::uuid[], $3::integer[]) AS open (invocation_id, root_task_id, sequence)
 CROSS JOIN LATERAL (SELECT one.invocation_id, {_LEAF_OF_EVENT}
                       FROM ledger.event AS one
                      WHERE one.invocation_id = open.invocation_id AND one.root_task_id = open.root_task_id
                        AND one.sequence > open.sequence
                      ORDER BY one.sequence OFFSET 0) AS event
 LIMIT $4
"""  # noqa: S608
_RUNNING = """
SELECT opened.invocation_id, opened.number,
       (SELECT max(sequence + events) - 1 FROM ledger.number AS last WHERE last.invocation_id = opened.invocation_id),
       opened.workspace_id, opened.root_task_id
  FROM ledger.number AS opened
 WHERE opened.number >= $1 AND opened.sequence = 0
   AND NOT EXISTS (SELECT FROM ledger.number AS ended
                    WHERE ended.invocation_id = opened.invocation_id AND ended.is_terminal)
"""


class EpochRow(Row, frozen=True):
    """An epoch: all below `numbered` has numbers, all below `settled` was written or never will be."""

    router_id: str
    epoch: int
    numbered: int
    settled: int
    is_over: bool


class SequenceRow(Row, frozen=True):
    """Where the sequence ends, and the number before which every Invocation has its terminal."""

    past: int
    settled: int


async def prepare(connection: Connection) -> None:
    """A statement of the sequencer takes a bounded time. A session that says nothing for so long belongs to a process
    that is frozen or gone, and the server ends it, so that the lock is free for another one.

    Statistics of tables that grow fast say little of their newest rows: a plan that reads all of one is never right.
    Each statement is planned anew, those of triggers too: a plan that was made when the Ledger was empty reads all of a
    table later. With each plan the planner would read all constraints of every partition, to look whether they exclude
    it, which its bounds tell already.
    """
    await connection.execute(
        "SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', $1, false),"
        " set_config('idle_in_transaction_session_timeout', $2, false), set_config('idle_session_timeout', $2, false),"
        " set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false),"
        " set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false),"
        " set_config('jit', 'off', false), set_config('plan_cache_mode', 'force_custom_plan', false),"
        " set_config('constraint_exclusion', 'off', false)",
        f"{STATEMENT_SECONDS}s",
        f"{SILENT_SECONDS}s",
    )


async def take_lock(connection: Connection) -> bool:
    """Held until the session ends."""
    taken: bool = await connection.fetchval("SELECT pg_try_advisory_lock($1)", _LOCK)
    return taken


async def sequence_end(connection: Connection) -> SequenceRow:
    row = await connection.fetchrow("SELECT past, settled FROM ledger.numbering ORDER BY first DESC LIMIT 1")
    return SequenceRow(0, 0) if row is None else SequenceRow(*row)


async def running(connection: Connection, settled: int) -> dict[UUID, RunningRow]:
    """Of those that were numbered from there on."""
    rows = await connection.fetch(_RUNNING, settled)
    return {invocation: RunningRow(*row) for invocation, *row in rows}


async def epochs(connection: Connection) -> Sequence[EpochRow]:
    return to_rows(EpochRow, await connection.fetch(_EPOCHS, ENDED_EPOCH))


async def openings_behind(
    connection: Connection, places: Sequence[tuple[str, int, int]], limit: int
) -> Sequence[UnnumberedOpening]:
    """Of each epoch the next ones behind a position, up to a limit of all together."""
    return await _openings(await connection.fetch(_BEHIND, *_columns(places), limit))


async def openings_at(connection: Connection, places: Sequence[tuple[str, int, int]]) -> Sequence[UnnumberedOpening]:
    return await _openings(await connection.fetch(_AT, *_columns(places))) if places else ()


async def openings_named(connection: Connection, invocations: Sequence[UUID]) -> Sequence[UnnumberedOpening]:
    return await _openings(await connection.fetch(_NAMED, invocations))


async def events_behind(
    connection: Connection, places: Sequence[tuple[UUID, UUID, int]], limit: int
) -> Sequence[UnnumberedEvent]:
    """Of Invocations with their root tasks, each behind a sequence."""
    if not places:
        return ()
    rows = await connection.fetch(_EVENTS, *_columns(places), limit)
    return [_event(invocation, leaf) for invocation, *leaf in rows]


async def add_numbers(connection: Connection, writer: Writer, rows: Sequence[NumberRow], settled: int) -> None:
    """In the caller's transaction. A number that is taken, or a newer epoch of the writer, refuses all of it."""
    await connection.execute(
        "INSERT INTO ledger.numbering (first, past, settled, router_id, epoch) VALUES ($1, $2, $3, $4, $5)",
        rows[0].number,
        rows[-1].past,
        settled,
        writer.router_id,
        writer.epoch,
    )
    # Arrays of so many values would cost the driver more than all else here.
    await connection.copy_records_to_table(
        "number", schema_name="ledger", records=_paced(rows), columns=NumberRow._fields
    )


async def _paced(rows: Sequence[NumberRow]) -> AsyncIterator[NumberRow]:
    for count, row in enumerate(rows, 1):
        if count % _ROWS_AT_ONCE == 0:
            await asyncio.sleep(0)
        yield row


async def add_positions(connection: Connection, places: Sequence[tuple[str, int, int]]) -> None:
    await connection.execute(
        "INSERT INTO ledger.numbered_position (router_id, epoch, position)"
        " SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])",
        *_columns(places),
    )


async def _openings(records: Sequence[Any]) -> Sequence[UnnumberedOpening]:
    """Made as they are, without a check of each value: half a second of calls has hundreds of them."""
    found = list[UnnumberedOpening]()
    for start in range(0, len(records), _OPENINGS_AT_ONCE):
        found += map(_opening, records[start : start + _OPENINGS_AT_ONCE])
        await asyncio.sleep(0)
    return found


def _opening(record: Sequence[Any]) -> UnnumberedOpening:
    leaf, event = record[:_OPENING_LEAF], record[_EVENT_LEAF:]
    router_id, epoch, position, is_numbered = record[_OPENING_LEAF:_EVENT_LEAF]
    invocation = leaf[_INVOCATION]
    return UnnumberedOpening(
        *(router_id, epoch, position, invocation, leaf[_ROOT_TASK], leaf[_PARENT], leaf[_WORKSPACE]),
        *(_EVENTS_OF[leaf[_OPENING]], leaf[_CREATED], is_numbered, leaf),
        None if event[_SEQUENCE] is None else _event(invocation, event),
    )


def _event(invocation: UUID, leaf: Sequence[Any]) -> UnnumberedEvent:
    return UnnumberedEvent(invocation, leaf[_SEQUENCE], leaf[_OCCURRED], leaf[_TYPE] != "stream", leaf)


def _columns(places: Sequence[tuple[Any, Any, Any]]) -> Sequence[list[Any]]:
    return [[place[part] for place in places] for part in range(3)]
