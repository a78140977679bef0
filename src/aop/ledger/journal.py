"""The write handle of the Ledger: acceptances, progress and terminals, each durable before it is answered."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aop.base.clock import Clock
from aop.base.database import Connection, Database
from aop.base.ids import new_hex_id
from aop.ledger import store
from aop.ledger.lane import EpochFenced, Lane, LaneWork, Verdict
from aop.ledger.model import LOST, Acceptance, Fact, Place, Terminal, terminal_fact

DEBT_PAUSE_SECONDS = 0.5
MOST_DOUBTFUL = 10_000

Facts = tuple[Fact, ...]
Entry = tuple[int, Acceptance]
Connect = Callable[[], Awaitable[Connection]]


class AcceptanceRefused(Exception):
    """The id is taken, or the parent is not running; nothing was recorded."""


class AcceptanceFailed(Exception):
    """The store failed before anything was recorded, or it cannot be known; the Agent must not be contacted."""


class AcceptedButLost(Exception):
    """The acceptance is in the store, but its writer learned so too late: it ends `failed`, the Agent uncontacted."""

    def __init__(self, place: Place) -> None:
        super().__init__("the acceptance was found after its connection broke")
        self.place = place


@dataclass(frozen=True)
class Writer:
    """Who writes: a Router in one epoch of its own."""

    router_id: str
    epoch: int


class Journal:
    """Acceptances, cancel requests and facts have lanes of their own, so that a storm of one cannot starve another."""

    def __init__(
        self,
        writer: Writer,
        connect: Connect,
        clock: Clock,
        *,
        write_seconds: float,
        fenced: Callable[[], None],
        wrote: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._writer = writer
        self._clock = clock
        self._wrote = wrote

        async def prepared() -> Connection:
            connection = await connect()
            await store.prepare_writer(connection, write_seconds)
            return connection

        self._acceptances: Lane[Entry, datetime] = Lane(
            LaneWork(self._write_acceptances, self._find_acceptances), prepared, write_seconds, fenced
        )
        self._cancels: Lane[str, bool] = Lane(
            LaneWork(self._write_cancels, self._write_cancels), prepared, write_seconds, fenced
        )
        self._facts: Lane[Facts, bool] = Lane(
            LaneWork(self._write_facts, self._find_facts), prepared, write_seconds, fenced
        )
        self._endings: Lane[tuple[int, Acceptance, Terminal], datetime] = Lane(
            LaneWork(self._write_endings, self._find_endings), prepared, write_seconds, fenced
        )
        self._next_position = 1
        self._open: dict[str, int] = {}
        self._doubtful: dict[str, Entry] = {}
        self._debts: dict[str, Facts] = {}
        self._collector: asyncio.Task[None] | None = None

    def start(self) -> None:
        for lane in self._lanes:
            lane.start()
        self._collector = asyncio.create_task(self._collect_debts())

    async def close(self) -> None:
        if self._collector is not None:
            self._collector.cancel()
            await asyncio.wait({self._collector})
        for lane in self._lanes:
            await lane.close()

    @property
    def _lanes(self) -> Sequence[Lane[Any, Any]]:
        return (self._acceptances, self._cancels, self._facts, self._endings)

    @property
    def settled_before(self) -> int:
        """Everything accepted at a lower position has its terminal in the store."""
        return next(iter(self._open.values()), self._next_position)

    @property
    def owes(self) -> int:
        """Terminals the store has not taken yet, and acceptances nobody knows about."""
        return len(self._debts) + len(self._doubtful)

    async def accept(self, acceptance: Acceptance) -> Place:
        """Returns once the acceptance is durable. From here on the Invocation must end in a terminal."""
        invocation = acceptance.context.invocation
        if invocation in self._open:
            raise AcceptanceRefused  # being accepted, or running, right here: one batch must not hold an id twice
        position, self._next_position = self._next_position, self._next_position + 1
        self._open[invocation] = position
        told = await self._acceptances.submit((position, acceptance))
        if told.verdict is Verdict.STORED and told.result is not None:
            return Place.opened(acceptance, told.result)
        if told.verdict is Verdict.FOUND and told.result is not None:
            raise AcceptedButLost(Place.opened(acceptance, told.result))
        if told.verdict is not Verdict.UNDECIDED:
            del self._open[invocation]
        elif len(self._doubtful) < MOST_DOUBTFUL:
            self._doubtful[invocation] = position, acceptance
        # What is doubtful keeps its position open: at the latest the next epoch ends it.
        raise AcceptanceRefused if told.verdict is Verdict.REFUSED else AcceptanceFailed

    async def accept_ended(self, acceptance: Acceptance, terminal: Terminal) -> None:
        """An Invocation that is over before it began, both facts in one transaction: a refused target, or a deadline
        already past."""
        position, self._next_position = self._next_position, self._next_position + 1
        told = await self._endings.submit((position, acceptance, terminal))
        if told.verdict is Verdict.REFUSED:
            raise AcceptanceRefused
        if told.verdict not in {Verdict.STORED, Verdict.FOUND}:
            raise AcceptanceFailed

    async def request_cancel(self, invocation: str) -> None:
        """Notes that the caller has left, before anything is torn down; a store that fails changes nothing."""
        with suppress(EpochFenced):
            await self._cancels.submit(invocation)

    async def progress(self, fact: Fact) -> bool:
        """True once durable. After False the fact is unconfirmed: it goes out again in front of the terminal."""
        told = await self._facts.submit((fact,))
        return told.verdict in {Verdict.STORED, Verdict.FOUND}

    async def end(self, *facts: Fact) -> bool:
        """Records the terminal, with unconfirmed progress before it, in one transaction.

        True once it is durable. False when another one was there first; or when it is not durable or nobody knows:
        then `failed`/DEPENDENCY_ERROR is owed, and is the only terminal this process will ever append.
        """
        invocation = facts[-1].behind.context.invocation
        told = await self._facts.submit(facts)
        if told.verdict in {Verdict.STORED, Verdict.FOUND, Verdict.REFUSED}:
            self._open.pop(invocation, None)
            return told.verdict is not Verdict.REFUSED
        self.owe(*facts)
        return False

    def owe(self, *facts: Fact) -> None:
        """In place of this terminal `failed`/DEPENDENCY_ERROR will be appended, as soon as the store takes it."""
        lost = terminal_fact(facts[-1].behind, new_hex_id(), self._clock(), LOST)
        self._debts[lost.behind.context.invocation] = (*facts[:-1], lost)

    async def checkpoint(self, database: Database, position: int) -> None:
        """Notes that everything accepted before the position has its terminal."""
        writer = self._writer
        async with database.transaction() as connection:
            await store.require_epoch(connection, writer.router_id, writer.epoch)
            await store.add_checkpoint(connection, writer.router_id, writer.epoch, position)

    async def lose(self, place: Place) -> None:
        """Ends an Invocation nobody may work on any more; once fenced, that is the newer epoch's to do, and it does."""
        with suppress(EpochFenced):
            await self.end(terminal_fact(place, new_hex_id(), self._clock(), LOST))

    async def _collect_debts(self) -> None:
        while True:
            await asyncio.sleep(DEBT_PAUSE_SECONDS)
            try:
                await self._decide_doubtful()
                await self._pay_debts()
            except EpochFenced:
                return  # what is left belongs to the newer epoch

    async def _decide_doubtful(self) -> None:
        """An acceptance nobody was told about: should it exist after all, it ends like this."""
        for invocation, (position, acceptance) in list(self._doubtful.items()):
            told = await self._acceptances.look((position, acceptance))
            if told.verdict is Verdict.FOUND and told.result is not None:
                place = Place.opened(acceptance, told.result)
                self._debts[invocation] = (terminal_fact(place, new_hex_id(), self._clock(), LOST),)
            elif told.verdict is Verdict.UNDECIDED:
                return  # the store is still out of reach; the next round goes on
            else:
                self._open.pop(invocation, None)
            del self._doubtful[invocation]

    async def _pay_debts(self) -> None:
        for invocation, facts in list(self._debts.items()):
            told = await self._facts.submit(facts)
            if told.verdict in {Verdict.FAILED, Verdict.UNDECIDED}:
                return
            del self._debts[invocation]
            # Denied can only mean that this process knows the Invocation wrongly: the next epoch looks at it again.
            if told.verdict is not Verdict.DENIED:
                self._open.pop(invocation, None)

    async def _write_acceptances(self, connection: Connection, given: Sequence[Entry]) -> Sequence[datetime | None]:
        started = time.perf_counter()
        accepted = await store.accept(connection, self._writer.router_id, self._writer.epoch, given)
        self._wrote(time.perf_counter() - started)
        return [accepted.get(acceptance.event) for _, acceptance in given]

    async def _find_acceptances(self, connection: Connection, given: Sequence[Entry]) -> Sequence[datetime | None]:
        known = await store.known_acceptances(connection, [acceptance for _, acceptance in given])
        return [known.get(acceptance.event) for _, acceptance in given]

    async def _write_endings(
        self, connection: Connection, given: Sequence[tuple[int, Acceptance, Terminal]]
    ) -> Sequence[datetime | None]:
        async with connection.transaction():
            created = await self._write_acceptances(connection, [(position, item) for position, item, _ in given])
            facts = [
                (terminal_fact(Place.opened(item, moment), new_hex_id(), self._clock(), terminal),)
                for (_, item, terminal), moment in zip(given, created, strict=True)
                if moment is not None
            ]
            await self._write_facts(connection, facts)
        return created

    async def _find_endings(
        self, connection: Connection, given: Sequence[tuple[int, Acceptance, Terminal]]
    ) -> Sequence[datetime | None]:
        return await self._find_acceptances(connection, [(position, item) for position, item, _ in given])

    async def _write_cancels(self, connection: Connection, given: Sequence[str]) -> Sequence[bool | None]:
        await store.request_cancel(connection, self._writer.router_id, self._writer.epoch, given)
        return [True] * len(given)

    async def _write_facts(self, connection: Connection, given: Sequence[Facts]) -> Sequence[bool | None]:
        facts = [fact for group in given for fact in group]
        started = time.perf_counter()
        added = await store.append(connection, self._writer.router_id, self._writer.epoch, facts)
        self._wrote(time.perf_counter() - started)
        return [group[-1].key in added or None for group in given]

    async def _find_facts(self, connection: Connection, given: Sequence[Facts]) -> Sequence[bool | None]:
        known = await store.known_events(connection, [group[-1].key for group in given])
        return [group[-1].event in known or None for group in given]
