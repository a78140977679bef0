"""The events of a Workspace behind a position, in the order of the sequence."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple
from uuid import UUID

from aop.contracts.lineage import InvocationEvent
from aop.ledger.model import MAX_OPENING_EVENTS
from aop.ledger.months import Archived, end_of_detached
from aop.ledger.read.documents import event_of, members_of, opening_events
from aop.ledger.read.traces import LineageBroken
from aop.ledger.rows import AcceptedRow, EventRow
from aop.store.database import Connection, Database
from aop.store.queries import queries_beside
from aop.store.rows import to_rows

FeedPosition = tuple[int, str]
"""How many numbers of the Ledger lie up to the last event that was read, and this event's id in hex digits."""

_QUERIES: Final = queries_beside(__file__)
# Statistics of tables that grow fast say little of their newest rows: to read all of one is never right here.
_PLANS: Final = (
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;"
    " SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL jit = off"
)


class _EventRow(EventRow, frozen=True):
    invocation_id: UUID


class _EventNumber(NamedTuple):
    number: int
    invocation_id: UUID
    root_task_id: UUID
    sequence: int


@dataclass(frozen=True)
class EventsRead:
    events: Sequence[InvocationEvent]
    last: FeedPosition | None
    """None if nothing was read yet, from the beginning on."""


class PositionUnknown(Exception):
    """This Ledger has no such event at this number: the position was made up, or is from before a restore."""


class FeedReader:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, workspace_id: str, after: FeedPosition | None, limit: int) -> EventsRead:
        """The event of the position is read again, so that a reader never goes on in another Ledger than it began in.

        Numbers become visible in their order, batch after batch, so that nothing comes in between later. The beginning
        is behind the last event that was detached. Raises Archived for a reader that has not read that one.
        """
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            await connection.execute(_PLANS)
            detached = await end_of_detached(connection, workspace_id)
            if after is not None and 0 < after[0] <= detached:
                raise Archived
            first = detached if after is None else after[0] - 1
            known = limit if after is None else limit + 1
            numbered = await _event_numbers(connection, workspace_id, first, known)
            events = await _events(connection, numbered)
        if after is not None:
            if not numbered or (numbered[0].number, _hex(events[0])) != (first, after[1]):
                raise PositionUnknown
            numbered, events = numbered[1:], events[1:]
        if not events:
            return EventsRead((), after)
        return EventsRead(events, (numbered[-1].number + 1, _hex(events[-1])))


async def _event_numbers(connection: Connection, workspace_id: str, first: int, limit: int) -> Sequence[_EventNumber]:
    """One for each event, from a number on. It may lie inside a row, which begins up to two numbers before it."""
    reach = MAX_OPENING_EVENTS - 1
    found = await connection.fetch(_QUERIES["numbers"], workspace_id, first - reach, limit + reach)
    each = (
        _EventNumber(number + place, invocation_id, root_task_id, sequence + place)
        for number, invocation_id, root_task_id, sequence, events in found
        for place in range(events)
    )
    return list(islice((one for one in each if one.number >= first), limit))


async def _events(connection: Connection, numbered: Sequence[_EventNumber]) -> Sequence[InvocationEvent]:
    pairs = sorted({(one.invocation_id, one.root_task_id) for one in numbered})
    named = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    openings = to_rows(AcceptedRow, await connection.fetch(_QUERIES["openings"], *named))
    made = dict[tuple[UUID, int], InvocationEvent]()
    contexts = {}
    for row in openings:
        contexts[row.invocation_id] = row.context
        for event in opening_events(row, members_of(row.context)):
            made[row.invocation_id, event.sequence] = event
    later = [one for one in numbered if (one.invocation_id, one.sequence) not in made]
    wanted = (
        *([one.invocation_id for one in later], [one.root_task_id for one in later]),
        [one.sequence for one in later],
    )
    for fact in to_rows(_EventRow, await connection.fetch(_QUERIES["events"], *wanted)) if later else ():
        context = contexts[fact.invocation_id]
        made[fact.invocation_id, fact.sequence] = event_of(fact, context.lineage, members_of(context))
    try:
        return [made[one.invocation_id, one.sequence] for one in numbered]
    except KeyError:
        raise LineageBroken("a number has no event") from None


def _hex(event: InvocationEvent) -> str:
    return event.event_id.removeprefix("evt_")
