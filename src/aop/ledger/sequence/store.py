"""SQL of the sequencer. What has no number is found as such: each statement looks whether a number exists."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from aop.ledger.entries import Writer
from aop.ledger.sequence.batch import EventFound, Numbered, OpeningFound
from aop.ledger.tree.leaf import EVENT_COLUMNS, OPENING_COLUMNS
from aop.store.database import Connection
from aop.store.rows import Row, to_row, to_rows

ENDED_EPOCH: Final = 2**63 - 1
"""The position that says of an epoch that nothing more can be accepted in it and all of it has numbers."""
STATEMENT_SECONDS: Final = 20
SILENT_SECONDS: Final = 5
# 'aopseq' as a number.
_LOCK: Final = 0x616F70736571
_OPENING = (
    "invocation.router_id, invocation.epoch, invocation.position, invocation.invocation_id,"
    " invocation.root_task_id, invocation.parent_invocation_id, invocation.workspace_id, invocation.opening,"
    " invocation.created_at,"
    " (SELECT true FROM ledger.number WHERE number.invocation_id = invocation.invocation_id"
    "  AND number.sequence = 0) IS NOT NULL AS is_numbered"
)
"""A scalar subquery is a lookup by its key. EXISTS may become a hash of the whole table."""
# Rows are read once, for their numbers and for the tree. The columns of leaves stand behind the others.
_OPENING_FOUND = ", ".join((_OPENING, *(f"invocation.{name}" for name in OPENING_COLUMNS)))
_LEAF_OF_EVENT = ", ".join(f"one.{name}" for name in EVENT_COLUMNS)
_OPENING_LEAF: Final = 10
_EVENT_LEAF: Final = 4
# An epoch is over once a newer one of its Router exists: whoever opened that waited for the writers of this one.
_LIVES = """
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
SELECT {_OPENING_FOUND}
  FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS life (router_id, epoch, position, place)
 CROSS JOIN LATERAL (SELECT * FROM ledger.invocation AS one
                      WHERE one.router_id = life.router_id AND one.epoch = life.epoch AND one.position > life.position
                      ORDER BY one.position LIMIT $4) AS invocation
 ORDER BY life.place, invocation.position LIMIT $4
"""  # noqa: S608  parts of our own
_AT = f"""
SELECT {_OPENING_FOUND}
  FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS gap (router_id, epoch, position)
  JOIN ledger.invocation USING (router_id, epoch, position)
"""  # noqa: S608
_NAMED = f"SELECT {_OPENING_FOUND} FROM ledger.invocation WHERE invocation_id = ANY($1)"  # noqa: S608
# One look-up by the key for each open Invocation. As a join with one order over all, the planner would rather walk all
# events of the Ledger in that order, at a cost that grows with it. Up to the limit, those of an Invocation have no gap.
_EVENTS = f"""
SELECT event.*
  FROM unnest($1::uuid[], $2::uuid[], $3::integer[]) AS open (invocation_id, root_task_id, sequence)
 CROSS JOIN LATERAL (SELECT one.invocation_id, one.sequence, one.type, one.occurred_at, {_LEAF_OF_EVENT}
                       FROM ledger.event AS one
                      WHERE one.invocation_id = open.invocation_id AND one.root_task_id = open.root_task_id
                        AND one.sequence > open.sequence
                      ORDER BY one.sequence OFFSET 0) AS event
 LIMIT $4
"""  # noqa: S608
_UNENDED = """
SELECT opened.invocation_id, opened.root_task_id, opened.number, opened.workspace_id,
       (SELECT max(sequence + events) - 1 FROM ledger.number AS last WHERE last.invocation_id = opened.invocation_id)
  FROM ledger.number AS opened
 WHERE opened.number >= $1 AND opened.sequence = 0
   AND NOT EXISTS (SELECT FROM ledger.number AS ended
                    WHERE ended.invocation_id = opened.invocation_id AND ended.is_terminal)
"""


class LifeRow(Row, frozen=True):
    """An epoch: all below `numbered` has numbers, all below `settled` was written or never will be."""

    router_id: str
    epoch: int
    numbered: int
    settled: int
    is_over: bool


class UnendedRow(Row, frozen=True):
    invocation_id: UUID
    root_task_id: UUID
    number: int
    workspace_id: str
    sequence: int


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


async def unended(connection: Connection, settled: int) -> Sequence[UnendedRow]:
    return to_rows(UnendedRow, await connection.fetch(_UNENDED, settled))


async def lives(connection: Connection) -> Sequence[LifeRow]:
    return to_rows(LifeRow, await connection.fetch(_LIVES, ENDED_EPOCH))


async def openings_behind(
    connection: Connection, places: Sequence[tuple[str, int, int]], limit: int
) -> Sequence[OpeningFound]:
    """Of each epoch those behind a position, in order, up to a limit of all together."""
    return _openings(await connection.fetch(_BEHIND, *_columns(places), limit))


async def openings_at(connection: Connection, places: Sequence[tuple[str, int, int]]) -> Sequence[OpeningFound]:
    return _openings(await connection.fetch(_AT, *_columns(places)))


async def openings_named(connection: Connection, invocations: Sequence[UUID]) -> Sequence[OpeningFound]:
    return _openings(await connection.fetch(_NAMED, invocations))


async def events_behind(
    connection: Connection, places: Sequence[tuple[UUID, UUID, int]], limit: int
) -> Sequence[EventFound]:
    """Of Invocations with their root tasks, each behind a sequence."""
    columns = [[place[part] for place in places] for part in range(3)]
    found = await connection.fetch(_EVENTS, *columns, limit)
    return [to_row(EventFound, (*record[:_EVENT_LEAF], record[_EVENT_LEAF:])) for record in found]


async def add_numbers(connection: Connection, writer: Writer, rows: Sequence[Numbered], settled: int) -> None:
    """In the caller's transaction. A number that is taken, or a newer epoch of the writer, refuses all of it."""
    await connection.execute(
        "INSERT INTO ledger.numbering (first, past, settled, router_id, epoch) VALUES ($1, $2, $3, $4, $5)",
        rows[0].number,
        rows[-1].past,
        settled,
        writer.router_id,
        writer.epoch,
    )
    await connection.execute(
        "INSERT INTO ledger.number (number, invocation_id, sequence, events, is_terminal, workspace_id, root_task_id)"
        " SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::integer[], $4::smallint[], $5::boolean[], $6::text[],"
        "  $7::uuid[])",
        [row.number for row in rows],
        [row.invocation_id for row in rows],
        [row.sequence for row in rows],
        [row.events for row in rows],
        [row.is_terminal for row in rows],
        [row.workspace_id for row in rows],
        [row.root_task_id for row in rows],
    )


async def add_positions(connection: Connection, places: Sequence[tuple[str, int, int]]) -> None:
    await connection.execute(
        "INSERT INTO ledger.numbered_position (router_id, epoch, position)"
        " SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])",
        *_columns(places),
    )


def _openings(records: Sequence[Any]) -> Sequence[OpeningFound]:
    return [to_row(OpeningFound, (*record[:_OPENING_LEAF], record[_OPENING_LEAF:])) for record in records]


def _columns(places: Sequence[tuple[str, int, int]]) -> tuple[list[str], list[int], list[int]]:
    return [place[0] for place in places], [place[1] for place in places], [place[2] for place in places]
