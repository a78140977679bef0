"""The four kinds of entries a Journal writes: how each is written, and how each is probed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from aop.base.clock import Clock
from aop.base.ids import new_hex_id
from aop.ledger import store
from aop.ledger.group_commit import Statements
from aop.ledger.model import Acceptance, Place, terminal_fact
from aop.ledger.open_invocations import AcceptedEnded, Facts
from aop.store.database import Connection
from aop.store.kept_statement import KeptStatement

Accepted = tuple[int, Acceptance]


@dataclass(frozen=True)
class Writer:
    """Who writes: a Router in one epoch of its own."""

    router_id: str
    epoch: int


class Entries:
    def __init__(self, writer: Writer, clock: Clock, wrote: Callable[[float], None]) -> None:
        self._writer = writer
        self._clock = clock
        self._wrote = wrote
        # Of one connection each: acceptances that end at once have one of their own, and are written in a transaction.
        self._accept_one = KeptStatement(store.ACCEPT_ONE)
        self._append_one = KeptStatement(store.APPEND_ONE)
        self.acceptances = Statements(self._write_acceptances, self._probe_acceptances)
        self.endings = Statements(self._write_endings, self._probe_endings)
        self.cancels = Statements(self._write_cancels, self._write_cancels)
        self.facts = Statements(self._write_facts, self._probe_facts)

    async def _write_acceptances(
        self, connection: Connection, entries: Sequence[Accepted]
    ) -> Sequence[datetime | None]:
        started = time.perf_counter()
        writer = self._writer
        accepted = await store.accept(connection, writer.router_id, writer.epoch, entries, self._accept_one)
        self._wrote(time.perf_counter() - started)
        return [accepted.get(acceptance.event) for _, acceptance in entries]

    async def _probe_acceptances(
        self, connection: Connection, entries: Sequence[Accepted]
    ) -> Sequence[datetime | None]:
        found = await store.find_acceptances(connection, [acceptance for _, acceptance in entries])
        return [found.get(acceptance.event) for _, acceptance in entries]

    async def _write_endings(
        self, connection: Connection, entries: Sequence[AcceptedEnded]
    ) -> Sequence[datetime | None]:
        async with connection.transaction():
            created = await self._write_acceptances(connection, [(position, item) for position, item, _ in entries])
            facts = [
                (terminal_fact(Place.opened(item, moment), new_hex_id(), self._clock(), terminal),)
                for (_, item, terminal), moment in zip(entries, created, strict=True)
                if moment is not None
            ]
            await self._write_facts(connection, facts)
        return created

    async def _probe_endings(
        self, connection: Connection, entries: Sequence[AcceptedEnded]
    ) -> Sequence[datetime | None]:
        return await self._probe_acceptances(connection, [(position, item) for position, item, _ in entries])

    async def _write_cancels(self, connection: Connection, invocations: Sequence[str]) -> Sequence[bool | None]:
        await store.request_cancel(connection, self._writer.router_id, self._writer.epoch, invocations)
        return [True] * len(invocations)

    async def _write_facts(self, connection: Connection, groups: Sequence[Facts]) -> Sequence[bool | None]:
        facts = [fact for group in groups for fact in group]
        started = time.perf_counter()
        added = await store.append(connection, self._writer.router_id, self._writer.epoch, facts, self._append_one)
        self._wrote(time.perf_counter() - started)
        return [group[-1].key in added or None for group in groups]

    async def _probe_facts(self, connection: Connection, groups: Sequence[Facts]) -> Sequence[bool | None]:
        found = await store.find_events(connection, [group[-1].key for group in groups])
        return [group[-1].event in found or None for group in groups]
