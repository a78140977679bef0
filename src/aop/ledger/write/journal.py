"""The write handle of the Ledger: acceptances, progress and terminals, each durable before it is answered.

Each of the four kinds of entries has its own group commit, so that many of one kind cannot delay another kind.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, TypeVar

from aop.base.clock import Clock
from aop.base.ids import new_hex_id
from aop.base.loops import Loop, Loops
from aop.ledger.model import LOST, ROUTER_ENDED, UNSTARTED, Acceptance, Fact, LastFact, Terminal, Writer, terminal_fact
from aop.ledger.write import store
from aop.ledger.write.group_commit import (
    MAX_IN_BATCH,
    Absent,
    Connect,
    EpochFenced,
    Found,
    GroupCommit,
    NotWritten,
    OnSent,
    ProbeResult,
    Refused,
    Statements,
    Unknown,
    Written,
)
from aop.ledger.write.open_invocations import Facts, OpenInvocations, Step, Unsettled
from aop.ledger.write.store import Entry
from aop.store.database import Connection, Database
from aop.store.kept_statement import KeptStatement

SETTLE_PAUSE_SECONDS = 0.5
MAX_UNSETTLED_SECONDS = 30.0

T = TypeVar("T")
R = TypeVar("R")


class AcceptanceRefused(Exception):
    """The id is taken, or the parent is not running; nothing was recorded."""


class AcceptanceFailed(Exception):
    """The store failed before anything was recorded."""


class AcceptanceUnknown(Exception):
    """It is not known whether the acceptance is in the store; the Agent must not be contacted."""


class AcceptedButLost(Exception):
    """The acceptance is in the store, but its writer learned it too late: it ends `failed` without the Agent."""

    def __init__(self, last_fact: LastFact) -> None:
        super().__init__("the acceptance was found after its connection broke")
        self.last_fact = last_fact


class LedgerBehind(Exception):
    """A terminal or an unconfirmed acceptance has waited too long for the store."""


class Journal:
    additions = store.NOTHING_ADDED
    """Statements that show whether anything can be written now."""

    def __init__(
        self,
        writer: Writer,
        connect: Connect,
        clock: Clock,
        *,
        write_seconds: float,
        fenced: Callable[[], None],
        wrote: Callable[[float], None] = lambda _: None,
        unsettled: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`unsettled` is called with the number of waiting facts when it rises from 0 and when it is 0 again."""
        self._writer = writer
        self._clock = clock
        self._report_unsettled = unsettled
        entries, how = _Entries(writer, clock, wrote), (_prepared_by(connect, write_seconds), write_seconds, fenced)
        self._acceptances = GroupCommit(Statements(entries.accept, entries.find_accepted), *how)
        self._endings = GroupCommit(Statements(entries.accept_ended, entries.find_accepted), *how)
        self._cancels = GroupCommit(Statements(entries.cancel, entries.cancel), *how)
        self._facts = GroupCommit(Statements(entries.append, entries.find_appended), *how)
        self._commits: dict[str, GroupCommit[Any, Any]] = {
            "acceptances": self._acceptances,
            "cancels": self._cancels,
            "facts": self._facts,
            "endings": self._endings,
        }
        self._open = OpenInvocations()
        self._reported_unsettled = False
        self._settler: Loop | None = None

    def start(self, loops: Loops) -> None:
        for name, commits in self._commits.items():
            commits.start(loops, f"ledger {name}")
        self._settler = loops.start("ledger settle", self._settle)

    async def close(self) -> None:
        if self._settler is not None:
            await self._settler.close()
        for commits in self._commits.values():
            await commits.close()

    @property
    def settled_before(self) -> int:
        """Everything accepted at a lower position has its terminal in the store."""
        return self._open.settled_before

    def unsettled(self) -> Unsettled:
        """Terminals that the store has not taken yet, and unconfirmed acceptances."""
        return self._open.unsettled()

    async def require_settled(self) -> None:
        """A few seconds behind are usual after a failure of the store. A longer time makes this Router unready."""
        waiting = self.unsettled()
        if waiting.seconds > MAX_UNSETTLED_SECONDS:
            raise LedgerBehind(f"{waiting.count} Invocations, for {waiting.seconds:.0f} s")

    async def accept(self, acceptance: Acceptance, on_sent: OnSent | None = None) -> LastFact:
        """Returns once the acceptance is durable. From here on the Invocation must end in a terminal."""
        invocation, entry = self._begin(acceptance)
        match await self._acceptances.write(entry, on_sent):
            case Written(created_at):
                self._open.move(invocation, Step.ACCEPTED)
                return LastFact.opened(acceptance, created_at)
            case Found(created_at):
                self._open.move(invocation, Step.ACCEPTED)
                raise AcceptedButLost(LastFact.opened(acceptance, created_at))
            case failure:
                raise self._not_accepted(invocation, failure)

    async def accept_ended(self, acceptance: Acceptance, terminal: Terminal) -> None:
        """Accepts and ends an Invocation in one transaction: its target was refused or its deadline is past."""
        invocation, entry = self._begin(acceptance, terminal)
        match await self._endings.write(entry):
            case Written() | Found():
                self._open.move(invocation, Step.ENDED)
            case failure:
                raise self._not_accepted(invocation, failure)

    def _not_accepted(self, invocation: str, failure: Refused | NotWritten | Unknown) -> Exception:
        match failure:
            case Refused():
                self._open.move(invocation, Step.NOT_ACCEPTED)
                return AcceptanceRefused()
            case NotWritten():
                self._open.move(invocation, Step.NOT_ACCEPTED)
                return AcceptanceFailed()
            case Unknown():
                self._open.move(invocation, Step.UNANSWERED)
                return AcceptanceUnknown()

    def _begin(self, acceptance: Acceptance, ending: Terminal | None = None) -> tuple[str, Entry]:
        invocation = acceptance.context.lineage.invocation
        if invocation in self._open:
            raise AcceptanceRefused  # being accepted, or running, right here: one batch must not hold an id twice
        if self._open.is_full:
            raise AcceptanceFailed  # nothing is sent: an acceptance that is not in the table would be forgotten
        return invocation, self._open.begin(acceptance, ending)

    async def request_cancel(self, invocation: str) -> None:
        """Notes that the caller left, before the work is stopped. A failing store changes nothing."""
        with suppress(EpochFenced):
            await self._cancels.write(invocation)

    async def progress(self, fact: Fact) -> bool:
        """True once durable. After False the fact is unconfirmed and is written again before the terminal."""
        return isinstance(await self._facts.write((fact,)), Written | Found)

    async def end(self, *facts: Fact) -> bool:
        """Records the terminal, with unconfirmed progress before it, in one transaction.

        True once it is durable. False when another one was there first; or when it is not durable or that is not known:
        then `failed`/DEPENDENCY_ERROR is deferred, and is the only terminal this process will ever append.
        """
        invocation = facts[-1].last.context.lineage.invocation
        match await self._facts.write(facts):
            case Written() | Found():
                self._open.move(invocation, Step.ENDED)
                return True
            case Refused():
                self._open.move(invocation, Step.ENDED)
                return False
            case NotWritten() | Unknown():
                self.defer(*facts)
                return False

    def defer(self, *facts: Fact) -> None:
        """Appends `failed`/DEPENDENCY_ERROR instead of this terminal, as soon as the store takes it."""
        last_fact, intended = facts[-1].last, facts[-1].terminal
        fact = terminal_fact(last_fact, new_hex_id(), self._clock(), UNSTARTED if intended is UNSTARTED else LOST)
        self._open.move(last_fact.context.lineage.invocation, Step.NOT_ENDED, (*facts[:-1], fact))

    async def checkpoint(self, database: Database, position: int) -> None:
        """Notes that everything accepted before the position has its terminal, and counts it by Release."""
        writer = self._writer
        async with database.transaction() as connection:
            await store.require_epoch(connection, writer.router_id, writer.epoch)
            await store.settle(connection, writer.router_id, writer.epoch, position)

    async def end_unstarted(self, last_fact: LastFact) -> Terminal:
        """Ends an Invocation that may not be worked on. After the fence fell, the newer epoch does it."""
        try:
            await self.end(self._unstarted(last_fact))
        except EpochFenced:
            return ROUTER_ENDED
        return UNSTARTED

    def _unstarted(self, last_fact: LastFact) -> Fact:
        return terminal_fact(last_fact, new_hex_id(), self._clock(), UNSTARTED)

    async def _settle(self) -> None:
        await asyncio.sleep(SETTLE_PAUSE_SECONDS)
        self._watch_unsettled()
        try:
            await self._probe_unconfirmed()
            await self._write_deferred()
        except EpochFenced:
            await asyncio.Event().wait()  # what is left belongs to the newer epoch
        self._watch_unsettled()

    def _watch_unsettled(self) -> None:
        count = self.unsettled().count
        if bool(count) != self._reported_unsettled:
            self._reported_unsettled = bool(count)
            self._report_unsettled(count)

    async def _probe_unconfirmed(self) -> None:
        """If an unconfirmed acceptance exists after all, it ends without having started, or ended in that very write.
        Each kind is asked for through its own connection, whose lost backends may still write it."""

        def probe(entry: Entry) -> "asyncio.Future[ProbeResult[datetime]]":
            return (self._acceptances if entry[2] is None else self._endings).probe(entry)

        unconfirmed = self._open.unconfirmed()
        # Apart, so that one kind whose connection finds out nothing does not hold up the other.
        for is_ended in (False, True):
            entries = [entry for entry in unconfirmed if (entry[2] is not None) is is_ended]
            async for (_, acceptance, ending), result in _results(probe, entries):
                invocation = acceptance.context.lineage.invocation
                match result:
                    case Found(created_at) if ending is None:
                        self.defer(self._unstarted(LastFact.opened(acceptance, created_at)))
                    case Found():
                        self._open.move(invocation, Step.ENDED)
                    case Absent():
                        self._open.move(invocation, Step.NOT_ACCEPTED)
                    case Unknown():
                        pass  # it stays unconfirmed

    async def _write_deferred(self) -> None:
        async for facts, result in _results(self._facts.write, self._open.deferred()):
            invocation = facts[-1].last.context.lineage.invocation
            match result:
                case Written() | Found() | Refused():
                    self._open.move(invocation, Step.ENDED)
                case NotWritten(denied=True):
                    self._open.move(invocation, Step.DENIED)
                case NotWritten() | Unknown():
                    pass  # it stays deferred


class _Entries:
    """How each kind of entry is written and probed: a value for each entry, None where the store has it not."""

    def __init__(self, writer: Writer, clock: Clock, wrote: Callable[[float], None]) -> None:
        self._writer = writer
        self._clock = clock
        self._wrote = wrote
        # Of one connection each: acceptances that end at once have one of their own, and are written in a transaction.
        self._accept_one = KeptStatement(store.ACCEPT_ONE)
        self._append_one = KeptStatement(store.APPEND_ONE)

    async def accept(self, connection: Connection, entries: Sequence[Entry]) -> Sequence[datetime | None]:
        started, writer = time.perf_counter(), self._writer
        accepted = await store.accept(connection, writer.router_id, writer.epoch, entries, self._accept_one)
        self._wrote(time.perf_counter() - started)
        return [accepted.get(acceptance.event) for _, acceptance, _ in entries]

    async def find_accepted(self, connection: Connection, entries: Sequence[Entry]) -> Sequence[datetime | None]:
        stored = await store.find_acceptances(connection, [acceptance for _, acceptance, _ in entries])
        return [stored.get(acceptance.event) for _, acceptance, _ in entries]

    async def accept_ended(self, connection: Connection, entries: Sequence[Entry]) -> Sequence[datetime | None]:
        async with connection.transaction():
            created = await self.accept(connection, entries)
            facts = [
                (terminal_fact(LastFact.opened(acceptance, moment), new_hex_id(), self._clock(), terminal),)
                for (_, acceptance, terminal), moment in zip(entries, created, strict=True)
                if moment is not None and terminal is not None
            ]
            await self.append(connection, facts)
        return created

    async def cancel(self, connection: Connection, invocations: Sequence[str]) -> Sequence[bool | None]:
        await store.request_cancel(connection, self._writer.router_id, self._writer.epoch, invocations)
        return [True] * len(invocations)

    async def append(self, connection: Connection, groups: Sequence[Facts]) -> Sequence[bool | None]:
        facts = [fact for group in groups for fact in group]
        started = time.perf_counter()
        added = await store.append(connection, self._writer.router_id, self._writer.epoch, facts, self._append_one)
        self._wrote(time.perf_counter() - started)
        return [group[-1].key in added or None for group in groups]

    async def find_appended(self, connection: Connection, groups: Sequence[Facts]) -> Sequence[bool | None]:
        stored = await store.find_events(connection, [group[-1].key for group in groups])
        return [group[-1].event in stored or None for group in groups]


def _prepared_by(connect: Connect, write_seconds: float) -> Connect:
    """Opens connections for writers. One that cannot be prepared is closed here, because no one else can close it."""

    async def prepared() -> Connection:
        connection = await connect()
        try:
            await store.prepare_writer(connection, write_seconds)
        except BaseException:
            connection.terminate()
            raise
        return connection

    return prepared


async def _results(send: Callable[[T], Awaitable[R]], entries: Sequence[T]) -> AsyncGenerator[tuple[T, R], None]:
    """Of the entries, a batch at a time, up to the first batch of which the store does not take all."""
    for first in range(0, len(entries), MAX_IN_BATCH):
        batch = entries[first : first + MAX_IN_BATCH]
        results = await asyncio.gather(*map(send, batch))
        for each in zip(batch, results, strict=True):
            yield each
        if any(isinstance(result, NotWritten | Unknown) for result in results):
            return
