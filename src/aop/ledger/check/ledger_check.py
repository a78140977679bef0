"""Reads a range of the Ledger again and reports every broken invariant that the store should have refused.

`invocations.sql` judges Invocations with their events, `sequence.sql` the numbers, `figures` and `tree` what was made
of them, `ledger_check.sql` what belongs to no single Invocation: epochs, checkpoints, and rows that are left alone.
`left_out` says what could not be judged. `comparison` is apart: it compares the tree with a head that somebody kept.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from aop.ledger.check.invocations import NUMBERED_SECONDS, judge_invocations, still_unnumbered
from aop.ledger.check.sequence import IN_TREE_SECONDS, SequenceCheck, lost_numbers
from aop.ledger.check.span import Span, bounds_of, months_of
from aop.ledger.check.tree import Breach
from aop.store.database import Connection, translated_failures
from aop.store.queries import queries_beside

_QUERIES: Final = queries_beside(__file__)
_ROWS_AT_ONCE: Final = 500
_SETTLED_SECONDS: Final = 60
# A sequencer at work comes round twice in a second. Clocks of Routers may be wrong, and events come late after a store
# was away: so whatever seems late is asked for again.
_NUMBERED_MEANWHILE_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.5
_MAX_LATE: Final = 1_000
_MAX_NAMED: Final = 20
# Ranges of keys are read by their indexes, and each range with a plan for it. What has numbers is looked up by its key.
_BY_RANGES: Final = (
    "SET LOCAL enable_seqscan = off; SET LOCAL jit = off; SET LOCAL constraint_exclusion = off;"
    " SET LOCAL plan_cache_mode = force_custom_plan"
)
_BY_KEYS: Final = "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_bitmapscan = off"


@dataclass
class LedgerCheck:
    """One reading. The numbers count what was seen so far, and `invocations` is how many the span has; `tell` gets
    a line about that."""

    connection: Connection
    span: Span
    tell: Callable[[str], None] = lambda _: None
    invocations: int = 0
    checked: int = 0
    events: int = 0
    open: int = 0
    numbers: int = 0
    in_tree: int = 0
    heads: int = 0
    checkpoints: int = 0
    unproven: int = 0
    unnumbered: int = 0
    late: Mapping[UUID, int] = field(default_factory=dict)
    unsettled: Sequence[str] = ()

    @property
    def left_out(self) -> Sequence[str]:
        """What was asked for and not looked at."""
        sentences = {
            f"only {self.checked} of {self.invocations} Invocations were read": self.checked < self.invocations,
            f"{self.unproven} events have had their numbers for {IN_TREE_SECONDS} s and are under no head of the tree:"
            " heads were removed, or no Router has added them yet": self.unproven > 0,
            f"{sum(self.late.values())} events of {_names([f'inv_{one.hex}' for one in self.late])} are older than"
            f" {NUMBERED_SECONDS} s and have no number: numbers were removed, or no Router has given them yet": bool(
                self.late
            ),
            f"calls of {_names(self.unsettled)} ended {_SETTLED_SECONDS} s before its last ones and are before no"
            " checkpoint: checkpoints were removed, or the Router could not write them": bool(self.unsettled),
        }
        return [sentence for sentence, is_so in sentences.items() if is_so]

    async def breaches(self) -> AsyncGenerator[Breach, None]:
        """Reads in one snapshot and in batches, so that memory stays bounded and running writers do no harm."""
        async with (
            translated_failures(),
            self.connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            await self.connection.execute(_BY_RANGES)
            self.checkpoints = await self.connection.fetchval(_QUERIES["checkpoints"], self.span.since)
            bounds = await bounds_of(self.connection, self.span)
            self.invocations = bounds.invocations
            span = self.span.since, self.span.until
            epochs = await self.connection.fetch(_QUERIES["unsettled_epochs"], *span, _SETTLED_SECONDS)
            self.unsettled = [row[0] for row in epochs]
            parts = [
                *(self._rows("epochs"), self._rows("lost_checkpoints", self.span.since), lost_numbers(self.connection)),
                # Calls are counted by epoch, which no span has whole; and of the whole Ledger each number is compared
                # with its row, so that no Invocation has to be looked for by its id.
                self._rows("uncounted_calls") if self.span == Span() else self._rows("lone_calls", *self.span.ids),
            ]
            if bounds.ids is not None:
                parts.append(self._invocations(bounds.ids))
            for month in await months_of(self.connection, self.span):
                parts.append(self._rows("stray_events", month.first_root, month.past_root))
                parts.append(self._rows("stray_cancel_requests", month.first_root, month.past_root))
            if bounds.numbers is not None:
                parts.append(self._sequence(bounds.numbers))
            for part in parts:
                async for breach in part:
                    yield breach
        async with translated_failures():
            await self._wait_for_numbers()

    async def _rows(self, query: str, *values: Any) -> AsyncGenerator[Breach, None]:
        async for row in self.connection.cursor(_QUERIES[query], *values, prefetch=_ROWS_AT_ONCE):
            yield Breach(*row)

    async def _invocations(self, ids: tuple[UUID, UUID]) -> AsyncGenerator[Breach, None]:
        async for batch in judge_invocations(self.connection, self.span, ids):
            for invocation, problem in batch.broken:
                yield Breach(f"inv_{invocation.hex}", problem)
            self.checked += batch.checked
            self.events += batch.events
            self.open += batch.open
            self.unnumbered += batch.unnumbered
            self.late = dict([*self.late.items(), *batch.late.items()][:_MAX_LATE])
            self.tell(f"{self.checked} Invocations with {self.events} events")

    async def _sequence(self, numbers: tuple[int, int]) -> AsyncGenerator[Breach, None]:
        await self.connection.execute(_BY_KEYS)
        sequence = SequenceCheck(self.connection, *numbers)
        async for breach in sequence.breaches(self._tell_numbers):
            yield breach
        self.numbers, self.in_tree = sequence.numbers, sequence.in_tree
        self.heads, self.unproven = sequence.heads, sequence.unproven

    async def _wait_for_numbers(self) -> None:
        """Until the late ones have theirs, or a sequencer would have given them."""
        deadline = time.monotonic() + _NUMBERED_MEANWHILE_SECONDS
        while self.late:
            late = await still_unnumbered(self.connection, self.late)
            if not late or time.monotonic() >= deadline:
                self.late = late
                return
            await asyncio.sleep(_PAUSE_SECONDS)

    def _tell_numbers(self, numbers: int, of: int) -> None:
        self.tell(f"{numbers} of {of} numbers, with figures and tree")


def _names(of: Sequence[str]) -> str:
    return ", ".join(of[:_MAX_NAMED]) + (" and others" if len(of) > _MAX_NAMED else "")
