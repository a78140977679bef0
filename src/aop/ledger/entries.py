"""The four kinds of entries a Journal writes: how each is written, and how each is probed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from aop.base.clock import Clock
from aop.base.ids import new_hex_id
from aop.ledger import store
from aop.ledger.group_commit import Statements
from aop.ledger.model import Acceptance, Place, Terminal, terminal_fact
from aop.ledger.open_invocations import Facts
from aop.store.database import Connection

Accepted = tuple[int, Acceptance]
AcceptedEnded = tuple[int, Acceptance, Terminal]


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
        self.acceptances = Statements(self._write_acceptances, self._probe_acceptances)
        self.endings = Statements(self._write_endings, self._probe_endings)
        self.cancels = Statements(self._write_cancels, self._write_cancels)
        self.facts = Statements(self._write_facts, self._probe_facts)

    async def _write_acceptances(self, connection: Connection, given: Sequence[Accepted]) -> Sequence[datetime | None]:
        started = time.perf_counter()
        accepted = await store.accept(connection, self._writer.router_id, self._writer.epoch, given)
        self._wrote(time.perf_counter() - started)
        return [accepted.get(acceptance.event) for _, acceptance in given]

    async def _probe_acceptances(self, connection: Connection, given: Sequence[Accepted]) -> Sequence[datetime | None]:
        known = await store.known_acceptances(connection, [acceptance for _, acceptance in given])
        return [known.get(acceptance.event) for _, acceptance in given]

    async def _write_endings(self, connection: Connection, given: Sequence[AcceptedEnded]) -> Sequence[datetime | None]:
        async with connection.transaction():
            created = await self._write_acceptances(connection, [(position, item) for position, item, _ in given])
            facts = [
                (terminal_fact(Place.opened(item, moment), new_hex_id(), self._clock(), terminal),)
                for (_, item, terminal), moment in zip(given, created, strict=True)
                if moment is not None
            ]
            await self._write_facts(connection, facts)
        return created

    async def _probe_endings(self, connection: Connection, given: Sequence[AcceptedEnded]) -> Sequence[datetime | None]:
        return await self._probe_acceptances(connection, [(position, item) for position, item, _ in given])

    async def _write_cancels(self, connection: Connection, given: Sequence[str]) -> Sequence[bool | None]:
        await store.request_cancel(connection, self._writer.router_id, self._writer.epoch, given)
        return [True] * len(given)

    async def _write_facts(self, connection: Connection, given: Sequence[Facts]) -> Sequence[bool | None]:
        facts = [fact for group in given for fact in group]
        started = time.perf_counter()
        added = await store.append(connection, self._writer.router_id, self._writer.epoch, facts)
        self._wrote(time.perf_counter() - started)
        return [group[-1].key in added or None for group in given]

    async def _probe_facts(self, connection: Connection, given: Sequence[Facts]) -> Sequence[bool | None]:
        known = await store.known_events(connection, [group[-1].key for group in given])
        return [group[-1].event in known or None for group in given]
