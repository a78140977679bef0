"""Reads a range of the Ledger again and reports every broken invariant that the store should have refused."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from aop.ledger import check_rows
from aop.ledger.check_invocations import judged
from aop.ledger.check_span import Span, bounds_of, months_of
from aop.ledger.sequence.check import IN_TREE_SECONDS, SequenceCheck
from aop.store.database import Connection, translated_failures

# Rows that no Invocation of the range leads to.
_STRAYS = {
    "event": "an event without its Invocation",
    "cancel_request": "a cancel request without its Invocation",
}


@dataclass(frozen=True)
class Breach:
    """One broken invariant: what it is about and what is wrong. Ids and numbers only."""

    about: str
    problem: str


# Ranges of keys are read by their indexes, and each range with a plan for it. What has numbers is looked up by its key.
_BY_RANGES = (
    "SET LOCAL enable_seqscan = off; SET LOCAL jit = off; SET LOCAL constraint_exclusion = off;"
    " SET LOCAL plan_cache_mode = force_custom_plan"
)
_BY_KEYS = "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_bitmapscan = off"


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

    @property
    def left_out(self) -> Sequence[str]:
        """What was asked for and not looked at."""
        found = {
            f"only {self.checked} of {self.invocations} Invocations were read": self.checked < self.invocations,
            f"{self.unproven} events have had their numbers for {IN_TREE_SECONDS} s and are under no head of the tree:"
            " heads were removed, or no Router has added them yet": self.unproven > 0,
        }
        return [sentence for sentence, is_so in found.items() if is_so]

    async def breaches(self) -> AsyncGenerator[Breach, None]:
        """Reads in one snapshot and in batches, so that memory stays bounded and running writers do no harm."""
        async with (
            translated_failures(),
            self.connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            await self.connection.execute(_BY_RANGES)
            async for breach in self._epochs():
                yield breach
            async for breach in self._checkpoints():
                yield breach
            bounds = await bounds_of(self.connection, self.span)
            self.invocations = bounds.invocations
            if bounds.ids is not None:
                async for breach in self._invocations(bounds.ids):
                    yield breach
            async for breach in self._strays():
                yield breach
            if bounds.numbers is not None:
                await self.connection.execute(_BY_KEYS)
                async for breach in self._sequence(bounds.numbers):
                    yield breach

    async def _epochs(self) -> AsyncGenerator[Breach, None]:
        async for row in check_rows.epochs(self.connection):
            about = f"epoch {row.epoch} of Router {row.router_id}"
            if row.epoch != row.before + 1:
                yield Breach(about, f"follows epoch {row.before}")
            if row.is_closed and row.is_newest:
                yield Breach(about, "is closed although no newer one exists")

    async def _checkpoints(self) -> AsyncGenerator[Breach, None]:
        self.checkpoints = await check_rows.checkpoints(self.connection, self.span.since)
        async for row in check_rows.lost_checkpoints(self.connection, self.span.since):
            about = f"checkpoint {row.position} of epoch {row.epoch} of Router {row.router_id}"
            yield Breach(about, f"is missing: {row.named_by} names it")

    async def _invocations(self, ids: tuple[UUID, UUID]) -> AsyncGenerator[Breach, None]:
        async for batch in judged(self.connection, self.span, ids):
            for invocation, problem in batch.broken:
                yield Breach(f"inv_{invocation.hex}", problem)
            self.checked += batch.checked
            self.events += batch.events
            self.open += batch.open
            self.tell(f"{self.checked} Invocations with {self.events} events")

    async def _strays(self) -> AsyncGenerator[Breach, None]:
        for month in await months_of(self.connection, self.span):
            for table, problem in _STRAYS.items():
                async for name in check_rows.strays(self.connection, table, month):
                    yield Breach(name, problem)

    async def _sequence(self, numbers: tuple[int, int]) -> AsyncGenerator[Breach, None]:
        sequence = SequenceCheck(self.connection, *numbers)
        async for about, problem in sequence.problems(self._tell_numbers):
            yield Breach(about, problem)
        self.numbers, self.in_tree = sequence.numbers, sequence.in_tree
        self.heads, self.unproven = sequence.heads, sequence.unproven

    def _tell_numbers(self, numbers: int, of: int) -> None:
        self.tell(f"{numbers} of {of} numbers, with figures and tree")
