"""A PostgreSQL server as its clients know it: backends that may outlive their client, and answers that may not come."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from itertools import count
from typing import Any

import asyncpg

from tests.ledger.simulated.loop import History
from tests.ledger.simulated.tables import Record, Row, Tables, refusal

QUICK = 0.002
"""So many seconds, at most, a step takes that nothing disturbs."""
_STARTED = datetime(2026, 1, 1, tzinfo=UTC)
FAULTED = ("accept", "append", "cancel", "probe")
STALLED = ("accept", "append", "cancel")


class StoreFault(StrEnum):
    REFUSED = "refused"
    GONE = "server gone"
    LOST_BEFORE = "lost before commit"
    LOST_AFTER = "lost after commit"
    SILENT = "silent"
    SLOW = "slow"
    UNREACHABLE = "unreachable"


STATEMENT_FAULTS = tuple(fault for fault in StoreFault if fault is not StoreFault.UNREACHABLE)


@dataclass(frozen=True)
class StorePlan:
    """How often a statement meets a fault; from when to when nobody is reached, and no commit gets through; and how
    long a write may take."""

    fault_rate: float = 0.0
    only: str | None = None
    down_from: float = 0.0
    down_until: float = 0.0
    stalled_from: float = 0.0
    stalled_until: float = 0.0
    write_seconds: float = 1.0


@dataclass(eq=False)
class Backend:
    """`abandoned`: its client is gone, which it has not noticed. `frozen`: in a commit that waits; it can be ended by
    nobody, and what it has read will be committed. `draft` is its open transaction."""

    pid: int
    ended: bool = False
    abandoned: bool = False
    frozen: bool = False
    draft: "Draft | None" = None

    @property
    def named(self) -> Row:
        """As pg_stat_activity shows it."""
        return Record({"pid": self.pid, "backend_start": _STARTED})

    @property
    def holds_lock(self) -> bool:
        """That opening an epoch waits for."""
        return self.frozen or (self.draft is not None and not self.ended and not self.abandoned)


@dataclass(eq=False)
class Draft:
    tables: Tables
    sent: list[tuple[str, Sequence[Any]]] = field(default_factory=list)

    def execute(self, statement: str, arguments: Sequence[Any]) -> Sequence[Row]:
        self.sent.append((statement, arguments))
        return self.tables.execute(statement, arguments)


class Store:
    def __init__(self, plan: StorePlan, seed: int, history: History) -> None:
        self.tables = Tables(history.row)
        self.plan = plan
        self.history = history
        self.healed = False
        self.life = 0
        """Clients of an earlier life are dead: nothing of theirs arrives any more."""
        self.backends: dict[int, Backend] = {}
        self._random = random.Random(seed)
        self._pids = count(1)

    def is_down(self) -> bool:
        return not self.healed and self.plan.down_from <= self.history.loop.time() < self.plan.down_until

    def is_stalled(self) -> bool:
        return not self.healed and self.plan.stalled_from <= self.history.loop.time() < self.plan.stalled_until

    def fault(self, kind: str) -> StoreFault | None:
        if self.healed or kind not in FAULTED or self.plan.only not in {None, kind}:
            return None
        return self._random.choice(STATEMENT_FAULTS) if self._random.random() < self.plan.fault_rate else None

    def within(self, seconds: float) -> float:
        return self._random.random() * seconds

    def choose(self, *options: Any) -> Any:
        return self._random.choice(options)

    def refusal_seconds(self) -> float:
        """How long a client that cannot connect has to wait to learn so."""
        seconds: float = self.choose(0.0, 0.3, 3.0)
        return seconds

    def broken(self) -> Exception:
        """What a client learns of a broken connection comes in several types."""
        kinds = (ConnectionResetError, asyncpg.ConnectionDoesNotExistError, asyncpg.InterfaceError)
        error: Exception = self.choose(*kinds)("the connection was lost")
        return error

    async def greet(self) -> tuple[Backend, int]:
        """A backend for a new client, and the life the client is of."""
        life = self.life
        if not self.healed:
            await asyncio.sleep(self.choose(0.0, self.within(QUICK)))
        if life < self.life or self.is_down():
            self.history.hit(f"store: {StoreFault.UNREACHABLE} connect")
            await asyncio.sleep(self.refusal_seconds())
            raise self.choose(ConnectionRefusedError("no listener"), refusal("57P03"), TimeoutError())
        backend = Backend(next(self._pids))
        self.backends[backend.pid] = backend
        return backend, life

    def perform(self, draft: Draft | None, statement: str, arguments: Sequence[Any]) -> Sequence[Row]:
        """At once and as a whole; within a transaction nobody else sees it yet."""
        if "pg_terminate_backend" in statement:
            self.backends[arguments[0]].ended = True
            return [{"pg_terminate_backend": True}]
        if "pg_stat_activity" in statement:
            other = self.backends[arguments[0]]
            return [{"exists": other.frozen or not other.ended}]
        if "set_config" in statement or "pg_logical_emit_message" in statement:
            return ()
        return (draft or self.tables).execute(statement, arguments)
