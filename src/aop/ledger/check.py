"""Reads a range of the Ledger again and reports every broken invariant that the store should have refused."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from uuid import UUID

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import STATUS_OF_EVENT, TERMINAL_STATUSES, TRANSITIONS, EventType
from aop.ledger import check_rows
from aop.ledger.check_rows import CheckedEvent, CheckedInvocation, OpeningRow
from aop.ledger.check_span import Pair, Span, bounds_of, months_of
from aop.ledger.check_unconfirmed import judged
from aop.ledger.model import OPENING_EVENTS, STATUS_AFTER, Opening, Terminal
from aop.ledger.sequence.check import SequenceCheck
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
    """One reading. `checked`, `events` and `open` count what was seen so far; `tell` gets a line about that."""

    connection: Connection
    span: Span
    tell: Callable[[str], None] = lambda _: None
    checked: int = 0
    events: int = 0
    open: int = 0

    async def breaches(self) -> AsyncGenerator[Breach, None]:
        """Reads in one snapshot and in batches, so that memory stays bounded and running writers do no harm."""
        async with (
            translated_failures(),
            self.connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            await self.connection.execute(_BY_RANGES)
            async for breach in self._epochs():
                yield breach
            bounds = await bounds_of(self.connection, self.span)
            if bounds.ids is not None:
                async for breach in self._invocations(bounds.ids):
                    yield breach
            async for breach in self._strays():
                yield breach
            if bounds.numbers is not None:
                await self.connection.execute(_BY_KEYS)
                async for about, problem in SequenceCheck(self.connection, *bounds.numbers).problems(
                    self._tell_numbers
                ):
                    yield Breach(about, problem)

    async def _epochs(self) -> AsyncGenerator[Breach, None]:
        async for row in check_rows.epochs(self.connection):
            about = f"epoch {row.epoch} of Router {row.router_id}"
            if row.epoch != row.before + 1:
                yield Breach(about, f"follows epoch {row.before}")
            if row.is_closed and row.is_newest:
                yield Breach(about, "is closed although no newer one exists")

    async def _invocations(self, ids: tuple[UUID, UUID]) -> AsyncGenerator[Breach, None]:
        async for batch in judged(self.connection, self.span, ids):
            async for breach in self._unconfirmed(batch.unconfirmed):
                yield breach
            self.checked += batch.checked
            self.events += batch.events
            self.open += batch.open
            self.tell(f"{self.checked} Invocations with {self.events} events")

    async def _unconfirmed(self, pairs: Sequence[Pair]) -> AsyncGenerator[Breach, None]:
        """What is wrong with Invocations that may be broken."""
        async for batch in check_rows.invocations(self.connection, pairs):
            async with aclosing(self._chains(batch)) as chains:
                async for item, chain in chains:
                    for problem in (*_of_invocation(item, chain), *_of_chain(item.opened, chain)):
                        yield Breach(item.name, problem)

    async def _strays(self) -> AsyncGenerator[Breach, None]:
        for month in await months_of(self.connection, self.span):
            for table, problem in _STRAYS.items():
                async for name in check_rows.strays(self.connection, table, month):
                    yield Breach(name, problem)

    def _tell_numbers(self, numbers: int, of: int) -> None:
        self.tell(f"{numbers} of {of} numbers, with figures and tree")

    async def _chains(
        self, batch: Sequence[CheckedInvocation]
    ) -> AsyncGenerator[tuple[CheckedInvocation, Sequence[CheckedEvent]], None]:
        """Each Invocation with its events, of which only one Invocation's are held at a time."""
        ahead, chain = iter(batch), list[CheckedEvent]()
        current = next(ahead)
        async for event in check_rows.events(self.connection, batch):
            while (event.invocation_id, event.root_task_id) != current.pair:
                yield current, chain
                current, chain = next(ahead), []
            chain.append(event)
        yield current, chain
        for item in ahead:
            yield item, []


def _has_ended(chain: Sequence[CheckedEvent]) -> bool:
    return any(event.type is not EventType.STREAM for event in chain)


def _of_invocation(item: CheckedInvocation, chain: Sequence[CheckedEvent]) -> Sequence[str]:
    """The acceptance itself, its parent and its epoch."""
    opened, ended = item.opened, _has_ended(chain)
    broken = {
        "its epoch was never opened": item.opened_epoch is None,
        "has no terminal in a closed epoch": item.closed_epoch is not None and not ended,
        "has no terminal before a checkpoint": opened.position < (item.settled or 0) and not ended,
        "was over at its acceptance and has no terminal": opened.opening is not Opening.STARTED and not ended,
        "the digest is not of 32 bytes": len(opened.agent_card_digest) != 32,
        "has no number although its position counts as numbered": item.is_lost,
        **(_of_root(opened) if opened.parent_invocation_id is None else _of_parent(opened, item.parent)),
    }
    return [problem for problem, found in broken.items() if found]


def _of_root(opened: OpeningRow) -> dict[str, bool]:
    return {"a root is not called by a user": opened.caller_type != "user"}


def _of_parent(opened: OpeningRow, parent: OpeningRow | None) -> dict[str, bool]:
    if parent is None:
        return {"its parent is missing": True}
    caller = (opened.caller_type, opened.caller_id)
    return {
        "its trace is not its parent's": opened.trace_id != parent.trace_id,
        "its root task is not its parent's": opened.root_task_id != parent.root_task_id,
        "its Workspace is not its parent's": opened.workspace_id != parent.workspace_id,
        "its caller is not its parent's Agent": caller != ("agent", parent.target_agent_id),
        "its parent never started": parent.opening is not Opening.STARTED,
        "was created before its parent started": opened.created_at < parent.created_at,
    }


def _of_chain(opened: OpeningRow, chain: Sequence[CheckedEvent]) -> list[str]:
    problems = []
    status, sequence = STATUS_AFTER[opened.opening], len(OPENING_EVENTS[opened.opening])
    moment, chunk = opened.created_at, -1
    for event in chain:
        kind, number = event.type, event.sequence
        broken = {
            f"event {number} stands where {sequence} should": number != sequence,
            f"{kind} follows {status}": kind not in TRANSITIONS.get(status, frozenset()),
            f"event {number} goes back in time": event.occurred_at < moment,
            f"event {number} names another status before it": event.previous_status != status,
            f"event {number} was written by another Router or an older epoch": (
                event.router_id != opened.router_id or event.epoch < opened.epoch
            ),
            f"event {number} has another context": _has_other_context(opened, event),
            f"event {number} counts its chunks wrongly": not _counts_chunks(event, chunk),
            f"event {number} has a wrong latency": not _has_right_latency(opened, event),
            f"{kind} may not carry {event.error_code} {event.reason or ''}".rstrip(): not _has_right_error(event),
        }
        problems += [problem for problem, found in broken.items() if found]
        status, sequence, moment = STATUS_OF_EVENT[kind], number + 1, event.occurred_at
        chunk = chunk if event.chunk_index is None else event.chunk_index
    if sum(event.type is not EventType.STREAM for event in chain) > 1:
        problems.append("has more than one terminal")
    return problems


def _has_other_context(opened: OpeningRow, event: CheckedEvent) -> bool:
    """What an event repeats must be right, and a terminal repeats all of it."""
    right = (opened.opening, opened.trace_id, opened.root_task_id, opened.workspace_id, opened.created_at)
    repeated = (event.opening, event.trace_id, event.root_task_id, event.workspace_id, event.created_at)
    wrong = any(value not in {None, expected} for value, expected in zip(repeated, right, strict=True))
    return wrong or (STATUS_OF_EVENT[event.type] in TERMINAL_STATUSES and None in repeated)


def _counts_chunks(event: CheckedEvent, before: int) -> bool:
    index, number, size = event.chunk_index, event.chunk_count, event.chunk_bytes
    if event.type is not EventType.STREAM:
        return index is None and number is None and size is None
    if index is None or number is None or size is None:
        return False
    return number > 0 and size > 0 and index == before + number


def _has_right_latency(opened: OpeningRow, event: CheckedEvent) -> bool:
    if event.type is EventType.STREAM:
        return event.latency_ms is None
    elapsed = event.occurred_at - opened.created_at
    return event.latency_ms == (elapsed.days * 86_400 + elapsed.seconds) * 1000 + elapsed.microseconds // 1000


def _has_right_error(event: CheckedEvent) -> bool:
    code, reason = event.error_code, event.reason
    if event.type is EventType.STREAM:
        return code is None and reason is None
    try:
        Terminal(event.type, None if code is None else ErrorCode(code), None if reason is None else Reason(reason))
    except ValueError:
        return False
    return True
