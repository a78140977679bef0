"""Connections to the simulated store, as the product knows those of the driver."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from aop.store.database import translated_failures
from tests.ledger.simulated.store import QUICK, STALLED, Backend, Draft, Store, StoreFault
from tests.ledger.simulated.tables import Row, refusal

_KINDS = {
    "FROM ledger.accept(": "accept",
    "FROM ledger.append(": "append",
    "INSERT INTO ledger.invocation (": "accept",
    "INSERT INTO ledger.event (": "append",
    "ledger.request_cancel(": "cancel",
    "SELECT opening_event_id": "probe",
    "SELECT event_id": "probe",
}
_SAID = frozenset({StoreFault.REFUSED, StoreFault.GONE})
_REFUSALS = ("53100", "40P01", "55P03", "57014")

Work = Callable[[], Sequence[Row]]
Reply = asyncio.Future[Sequence[Row]]


async def connect(store: Store) -> "StoreConnection":
    """Fails as the product's own `connect` does."""
    async with translated_failures():
        return StoreConnection(store, *await store.greet())


class StorePool:
    """What `Database` uses of an asyncpg pool."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def acquire(self, timeout: float) -> "StoreConnection":
        async with asyncio.timeout(timeout):
            return await connect(self._store)

    async def release(self, connection: "StoreConnection") -> None:
        connection.terminate()

    def terminate(self) -> None:
        """Nothing is kept."""

    async def expire_connections(self) -> None:
        """Nothing is kept."""


class StoreConnection:
    """What the Ledger uses of an asyncpg connection."""

    is_unreplicated = False
    is_former = False

    def __init__(self, store: Store, backend: Backend, life: int) -> None:
        self._store = store
        self._backend = backend
        self._life = life
        self._closed = False

    @property
    def itself(self) -> "StoreConnection":
        return self

    def is_closed(self) -> bool:
        return self._closed

    def is_in_transaction(self) -> bool:
        return self._backend.draft is not None

    def terminate(self) -> None:
        """The server learns of it later, or never: what it has read it will do."""
        self._closed = self._backend.abandoned = True

    async def execute(self, statement: str, *arguments: Any) -> None:
        await self.fetch(statement, *arguments)

    async def prepare(self, statement: str) -> "Prepared":
        return Prepared(self, statement)

    async def fetchrow(self, statement: str, *arguments: Any) -> Row | None:
        return next(iter(await self.fetch(statement, *arguments)), None)

    async def fetchval(self, statement: str, *arguments: Any) -> Any:
        rows = await self.fetch(statement, *arguments)
        return next(iter(rows[0].values())) if rows else None

    async def fetch(self, statement: str, *arguments: Any) -> Sequence[Row]:
        kind = _kind_of(statement)
        if "ledger.open_epoch(" in statement:
            others = [backend for backend in self._store.backends.values() if backend is not self._backend]
            while any(other.holds_lock for other in others):  # noqa: ASYNC110  as seldom as it is short
                await asyncio.sleep(0.01)
        if "pg_backend_pid" in statement:
            return [self._backend.named]
        draft = self._backend.draft
        commits = draft is None and kind in STALLED
        return await self._ask(kind, lambda: self._store.perform(draft, statement, arguments), commits=commits)

    @asynccontextmanager
    async def transaction(self, **_options: Any) -> AsyncIterator[None]:
        tables = self._store.tables
        draft = self._backend.draft = Draft(tables.fork())

        def commit() -> Sequence[Row]:
            for statement, arguments in draft.sent:
                tables.execute(statement, arguments)
            return ()

        try:
            yield
            kind = "accept" if any(_kind_of(each) == "accept" for each, _ in draft.sent) else "other"
            await self._ask(kind, commit, commits=True)
        finally:
            self._backend.draft = None

    async def _ask(self, kind: str, work: Work, *, commits: bool) -> Sequence[Row]:
        """The work is done on the server, whether or not somebody still waits for its answer."""
        store, loop = self._store, asyncio.get_running_loop()
        if self._closed or self._life < store.life:
            raise asyncpg.InterfaceError("the connection is closed")
        self._backend.frozen = commits and store.is_stalled()
        fault = None
        if not self._backend.frozen:
            fault = StoreFault.UNREACHABLE if store.is_down() else store.fault(kind)
        if fault is not None or self._backend.frozen:
            store.history.hit(f"store: {fault or 'stalled'} {kind}")
            store.history.note("store", f"{fault or 'stalled'}:", kind)
        begins, answers, breaks = self._times(kind, fault)
        reply: Reply = loop.create_future()
        if begins is not None:
            loop.call_later(begins, self._work, work, reply, answers)
        if breaks is not None:
            loop.call_later(breaks, self._break, reply, fault)
        return await reply

    def _times(self, kind: str, fault: StoreFault | None) -> tuple[float | None, float | None, float | None]:
        """When the server begins, how long after that its answer is there, and when the client learns that none will
        come; None is never."""
        store, quick, slow = self._store, self._store.within(QUICK), self._store.plan.write_seconds
        match fault:
            case None if self._backend.frozen:
                return store.plan.stalled_until - store.history.loop.time(), 0.0, None
            case None if store.healed or kind == "other":
                return 0.0, 0.0, None
            case None:
                return quick, store.choose(0.0, store.within(QUICK)), None
            case StoreFault.SLOW:
                return store.within(1.3 * slow), store.within(0.3 * slow), None
            case StoreFault.SILENT:
                return store.choose(None, quick, store.within(2 * slow)), None, None
            case _:
                begins = store.within(0.1) if fault is StoreFault.LOST_AFTER else None
                return begins, None, quick if fault in _SAID else store.within(0.05)

    def _work(self, work: Work, reply: Reply, answers: float | None) -> None:
        frozen, self._backend.frozen = self._backend.frozen, False
        said: Sequence[Row] | Exception
        try:
            said = self._store.broken() if self._backend.ended and not frozen else work()
        except Exception as refused:  # noqa: BLE001  whatever the server says goes to its client
            said = refused
        if answers is not None:
            asyncio.get_running_loop().call_later(answers, _answer, reply, said)

    def _break(self, reply: Reply, fault: StoreFault | None) -> None:
        if fault is StoreFault.REFUSED:
            _answer(reply, refusal(self._store.choose(*_REFUSALS)))
        elif fault is StoreFault.GONE:
            self._backend.ended = self._closed = True
            _answer(reply, refusal("57P01"))
        else:
            self.terminate()
            _answer(reply, self._store.broken())


def _kind_of(statement: str) -> str:
    return next((kind for part, kind in _KINDS.items() if part in statement), "other")


def _answer(reply: Reply, said: Sequence[Row] | Exception) -> None:
    if reply.done():
        return
    if isinstance(said, Exception):
        reply.set_exception(said)
    else:
        reply.set_result(said)


class Prepared:
    def __init__(self, connection: StoreConnection, statement: str) -> None:
        self._connection = connection
        self._statement = statement

    async def fetch(self, *arguments: Any) -> Sequence[Row]:
        return await self._connection.fetch(self._statement, *arguments)
