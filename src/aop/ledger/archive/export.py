"""Exports a month: every event by its number, with the bytes of its leaf, and the file is read again at the end."""

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final
from uuid import UUID

import msgspec

from aop.base.clock import to_text
from aop.base.durable_files import put_in_place
from aop.contracts.ledger_export import ExportedEvent
from aop.ledger.archive.file import MonthWriter
from aop.ledger.archive.verification import VerifiedExport, verified
from aop.ledger.months import Month
from aop.ledger.tree.leaf import EVENT_COLUMNS, OPENING_COLUMNS, InvocationLeaves
from aop.store.database import Connection

_BATCH: Final = 2_000
_SYNCED_TOGETHER: Final = 8_000
"""Lines, about 6 MiB. To sync a whole month at once holds up the commits of calls for seconds, on the same disk."""
_OPENING: Final = len(OPENING_COLUMNS)
_NUMBERS: Final = """
SELECT number, invocation_id, root_task_id, sequence FROM ledger.number
 WHERE number > $1 AND root_task_id >= $2 AND root_task_id < $3 ORDER BY number LIMIT $4
"""
_OPENINGS: Final = f"""
SELECT {", ".join(f"invocation.{name}" for name in OPENING_COLUMNS)}, invocation.router_id, invocation.epoch,
       invocation.position, request.recorded_at
  FROM unnest($1::uuid[], $2::uuid[]) AS named (invocation_id, root_task_id)
  JOIN ledger.invocation USING (invocation_id, root_task_id)
  LEFT JOIN ledger.cancel_request AS request USING (invocation_id, root_task_id)
"""  # noqa: S608  columns of our own, here and below
_EVENTS: Final = f"""
SELECT event.invocation_id, {", ".join(f"event.{name}" for name in EVENT_COLUMNS)}, event.router_id, event.epoch
  FROM unnest($1::uuid[], $2::uuid[], $3::integer[]) AS named (invocation_id, root_task_id, sequence)
  JOIN ledger.event USING (invocation_id, root_task_id, sequence)
"""  # noqa: S608
_RUNNING: Final = """
SELECT count(*) FROM ledger.invocation
 WHERE root_task_id >= $1 AND root_task_id < $2
   AND NOT EXISTS (SELECT FROM ledger.number
                    WHERE number.invocation_id = invocation.invocation_id AND number.is_terminal)
"""


class NotOver(Exception):
    """Invocations of the month have no terminal, or have no number yet."""


def file_of(folder: Path, month: Month) -> Path:
    return folder / f"ledger-{month}.jsonl"


async def require_over(connection: Connection, month: Month) -> None:
    """Every Invocation has a terminal that has its number."""
    running = await connection.fetchval(_RUNNING, month.first_root, month.past_root)
    if running:
        raise NotOver(f"{running} Invocations of {month} have no terminal, or no number yet")


async def exported(connection: Connection, month: Month, path: Path) -> VerifiedExport:
    """Writes the file beside its place, reads it again, compares it with the tree, and puts it there."""
    await require_over(connection, month)
    written = path.with_name(f"{path.name}.part")
    with written.open("wb") as file:
        writer = MonthWriter(file, month)
        unsynced = 0
        async for line in _lines(connection, month):
            writer.add(line)
            unsynced += 1
            if unsynced == _SYNCED_TOGETHER:
                _sync(file)
                unsynced = 0
        writer.end()
        _sync(file)
    judged = await verified(connection, written)
    put_in_place(written, path)
    return judged


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


async def _lines(connection: Connection, month: Month) -> AsyncIterator[ExportedEvent]:
    behind = -1
    while rows := await connection.fetch(_NUMBERS, behind, month.first_root, month.past_root, _BATCH):
        openings = await _openings(connection, rows)
        later = [row for row in rows if row["sequence"] > 0]
        events = {(event[0], event[1]): tuple(event) for event in await connection.fetch(_EVENTS, *_columns(later, 3))}
        for number, invocation, _, sequence in rows:
            opening = openings[invocation]
            if sequence == 0:
                for line in _opened(number, opening):
                    yield line
                continue
            *columns, router_id, epoch = events[invocation, sequence][1:]
            leaf = InvocationLeaves(opening[:_OPENING]).of_event(columns)
            yield ExportedEvent(number=number, router_id=router_id, epoch=epoch, leaf=msgspec.Raw(leaf))
        behind = rows[-1]["number"]


def _opened(number: int, opening: Sequence[Any]) -> Iterator[ExportedEvent]:
    """The one to three events that an acceptance stands for."""
    router_id, epoch, position, requested = opening[_OPENING:]
    asked = msgspec.UNSET if requested is None else to_text(requested)
    first, *others = map(msgspec.Raw, InvocationLeaves(opening[:_OPENING]).of_opening())
    yield ExportedEvent(
        number=number, router_id=router_id, epoch=epoch, leaf=first, position=position, cancel_requested_at=asked
    )
    for place, leaf in enumerate(others, 1):
        yield ExportedEvent(number=number + place, router_id=router_id, epoch=epoch, leaf=leaf)


async def _openings(connection: Connection, rows: Sequence[Any]) -> dict[UUID, Sequence[Any]]:
    named = {row["invocation_id"]: row for row in rows}.values()
    return {row[0]: tuple(row) for row in await connection.fetch(_OPENINGS, *_columns(list(named), 2))}


def _columns(rows: Sequence[Any], count: int) -> list[list[Any]]:
    return [[row[place] for row in rows] for place in range(1, 1 + count)]
