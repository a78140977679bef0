"""The rules of an Invocation and its events: PostgreSQL judges some thousand Invocations at a time.

Each rule is stated once, in the statement `judge`, which returns what is wrong with the few that break one.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final
from uuid import UUID

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import STATUS_OF_EVENT, TERMINAL_STATUSES, TRANSITIONS, EventType
from aop.ledger.check.span import FIRST_ID, LAST_ID, Pair, Span
from aop.ledger.model import Terminal
from aop.store.database import Connection
from aop.store.queries import queries_beside

NUMBERED_SECONDS: Final = 60
"""An event that is older should have its number."""
_BATCH: Final = 10_000
_QUERIES: Final = queries_beside(__file__)
_MOVES: Final = [f"{status} {kind}" for status, kinds in TRANSITIONS.items() for kind in kinds]


def _terminals() -> Iterator[str]:
    """Those that can be built, as the statement writes them: what is missing is empty."""
    kinds = [kind for kind in EventType if STATUS_OF_EVENT[kind] in TERMINAL_STATUSES]
    for kind, code, reason in product(kinds, [None, *ErrorCode], [None, *Reason]):
        try:
            Terminal(kind, code, reason)
        except ValueError:
            continue
        yield f"{kind} {code or ''} {reason or ''}"


_TERMINALS: Final = list(_terminals())


@dataclass(frozen=True)
class InvocationBatch:
    """How many Invocations, events and Invocations that have not ended, and what is wrong with which one.

    `unnumbered` events have no number yet; `late` are Invocations of which one should, with how many events each has.
    """

    checked: int
    events: int
    open: int
    broken: Sequence[tuple[UUID, str]]
    unnumbered: int
    late: Mapping[UUID, int]


async def judge_invocations(
    connection: Connection, span: Span, ids: tuple[UUID, UUID]
) -> AsyncGenerator[InvocationBatch, None]:
    """The Invocations of a span, whose ids lie between these two, both included."""
    last: Pair = (ids[0], FIRST_ID)
    while True:
        row = await connection.fetchrow(_QUERIES["batch_end"], *last, ids[1], _BATCH - 1)
        end: Pair = (ids[1], LAST_ID) if row is None else (row[0], row[1])
        checked, events, running, invocations, problems, unnumbered, late, of_late = await connection.fetchrow(
            _QUERIES["judge"], *last, *end, span.since, span.until, _MOVES, _TERMINALS, NUMBERED_SECONDS
        )
        broken = [
            (invocation, problem)
            for invocation, lines in zip(invocations or (), problems or (), strict=True)
            for problem in lines.split("\n")
        ]
        late = dict(zip(late or (), of_late or (), strict=True))
        yield InvocationBatch(checked, events, running, broken, unnumbered, late)
        if row is None:
            return
        last = end


async def still_unnumbered(connection: Connection, late: Mapping[UUID, int]) -> Mapping[UUID, int]:
    """Those of which an event still has no number, and how many events that are."""
    rows = await connection.fetch(_QUERIES["numbered"], list(late))
    missing = {invocation: late[invocation] - numbered for invocation, numbered in rows}
    return {invocation: events for invocation, events in missing.items() if events > 0}
