"""Connections to the simulated store, as the product knows those of the driver."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from aop.store.database import translated_failures
from proof.simulation.array_literals import Row
from proof.simulation.store import QUICK, STALLED, Backend, Draft, Store, StoreFault
from proof.simulation.tables import refusal

_KINDS = {
    "FROM ledger.accept(": "accept",
    "FROM ledger.append(": "append",
    "ledger.request_cancel(": "cancel",
    "SELECT opening_event_id": "probe",
    "SELECT event_id": "probe",
}
_REFUSALS = ("53100", "40P01", "55P03", "57014")


async def connect(store: Store) -> "StoreConnection":
    """Fails as the product's own `connect` does."""
    async with translated_failures():
        return StoreConnection(store, *await store.greet())


class StoreConnection:
    """What the Ledger uses of an asyncpg connection."""

    def __init__(self, store: Store, backend: Backend, life: int) -> None:
        self._store = store
        self._backend = backend
        self._life = life
        self._closed = False

    def is_closed(self) -> bool:
        return self._closed

    def terminate(self) -> None:
        """The server learns of it later, or never: what it has read it will do."""
        self._closed = self._backend.abandoned = True

    def get_server_pid(self) -> int:
        return self._backend.pid

    async def execute(self, statement: str, *arguments: Any) -> None:
        await self.fetch(statement, *arguments)

    async def fetchrow(self, statement: str, *arguments: Any) -> Row | None:
        return next(iter(await self.fetch(statement, *arguments)), None)

    async def fetchval(self, statement: str, *arguments: Any) -> Any:
        rows = await self.fetch(statement, *arguments)
        return next(iter(rows[0].values())) if rows else None

    async def fetch(self, statement: str, *arguments: Any) -> Sequence[Row]:
        kind = next((kind for part, kind in _KINDS.items() if part in statement), "other")
        if "ledger.open_epoch(" in statement:
            while self._store.in_transaction(self._backend):  # noqa: ASYNC110  as seldom as it is short
                await asyncio.sleep(0.01)
        draft = self._backend.draft
        commits = draft is None and kind in STALLED
        return await self._ask(kind, lambda: self._store.perform(draft, statement, arguments), commits=commits)

    @asynccontextmanager
    async def transaction(self, **_options: Any) -> AsyncIterator[None]:
        backend = self._backend
        draft = backend.draft = Draft(self._store.tables.fork())
        try:
            yield
        except BaseException:
            backend.draft = None
            raise

        def commit() -> Sequence[Row]:
            for statement, arguments in draft.sent:
                self._store.tables.execute(statement, arguments)
            return ()

        kind = "accept" if any("ledger.accept(" in each for each, _ in draft.sent) else "other"
        try:
            await self._ask(kind, commit, commits=True)
        finally:
            backend.draft = None

    async def _ask(self, kind: str, work: Callable[[], Sequence[Row]], *, commits: bool) -> Sequence[Row]:
        """The work is done on the server, whether or not somebody still waits for its answer."""
        store = self._store
        if self._closed or self._life < store.life:
            raise asyncpg.InterfaceError("the connection is closed")
        if commits and store.is_stalled():
            return await self._stalled(kind, work)
        fault = StoreFault.UNREACHABLE if store.is_down() else store.fault(kind)
        if fault is None and (store.healed or kind == "other"):
            return await self._at_once(work)
        if fault is not None:
            store.history.hit(f"store: {fault} {kind}")
            store.history.note("store", f"{fault}:", kind)
        reply = asyncio.get_running_loop().create_future()
        begins, answers = self._times(fault)
        if begins is not None:
            asyncio.get_running_loop().call_later(begins, self._work, work, reply, answers)
        if fault in {StoreFault.UNREACHABLE, StoreFault.LOST_BEFORE, StoreFault.LOST_AFTER}:
            asyncio.get_running_loop().call_later(store.within(0.05), self._break, reply)
        elif fault in {StoreFault.REFUSED, StoreFault.GONE}:
            asyncio.get_running_loop().call_later(store.within(QUICK), self._refuse, reply, fault)
        result: Sequence[Row] = await reply
        return result

    async def _at_once(self, work: Callable[[], Sequence[Row]]) -> Sequence[Row]:
        """For what is no part of an Invocation, or of no interest any more."""
        if not self._store.healed:
            await asyncio.sleep(0)
        if self._backend.ended:
            raise self._store.broken()
        return work()

    async def _stalled(self, kind: str, work: Callable[[], Sequence[Row]]) -> Sequence[Row]:
        """The commit waits, and gets through in the end, whoever is gone by then."""
        loop = asyncio.get_running_loop()
        self._store.history.hit(f"store: stalled {kind}")
        self._store.history.note("store", "stalled:", kind)
        self._backend.frozen = True
        reply = loop.create_future()
        loop.call_at(self._store.stalled_until, self._thaw, work, reply)
        result: Sequence[Row] = await reply
        return result

    def _thaw(self, work: Callable[[], Sequence[Row]], reply: "asyncio.Future[Sequence[Row]]") -> None:
        self._backend.frozen = False
        _answer(reply, *_done(work))

    def _times(self, fault: StoreFault | None) -> tuple[float | None, float | None]:
        """When the server begins, and how long after that its answer is there; None is never."""
        store = self._store
        if fault is None:
            return store.within(QUICK), store.choose(0.0, store.within(QUICK))
        if fault is StoreFault.SLOW:
            return store.within(1.3 * store.write_seconds), store.within(0.3 * store.write_seconds)
        if fault is StoreFault.SILENT:
            return store.choose(None, store.within(QUICK), store.within(2 * store.write_seconds)), None
        return (store.within(0.1), None) if fault is StoreFault.LOST_AFTER else (None, None)

    def _work(
        self, work: Callable[[], Sequence[Row]], reply: "asyncio.Future[Sequence[Row]]", answers: float | None
    ) -> None:
        if self._backend.ended:
            if not reply.done() and answers is not None:
                reply.set_exception(self._store.broken())
            return
        rows, refused = _done(work)
        if answers:
            asyncio.get_running_loop().call_later(answers, _answer, reply, rows, refused)
        elif answers is not None:
            _answer(reply, rows, refused)

    def _break(self, reply: "asyncio.Future[Sequence[Row]]") -> None:
        self.terminate()
        if not reply.done():
            reply.set_exception(self._store.broken())

    def _refuse(self, reply: "asyncio.Future[Sequence[Row]]", fault: StoreFault) -> None:
        if fault is StoreFault.GONE:
            self._backend.ended = self._closed = True
        if not reply.done():
            reply.set_exception(refusal("57P01" if fault is StoreFault.GONE else self._store.choose(*_REFUSALS)))


def _done(work: Callable[[], Sequence[Row]]) -> tuple[Sequence[Row], Exception | None]:
    """Its rows, or what the server says instead, which goes to its client whatever it is."""
    try:
        return work(), None
    except Exception as said:  # noqa: BLE001
        return (), said


def _answer(reply: "asyncio.Future[Sequence[Row]]", rows: Sequence[Row], refused: Exception | None) -> None:
    if reply.done():
        return
    if refused is None:
        reply.set_result(rows)
    else:
        reply.set_exception(refused)


class StorePool:
    """What `Database` uses of an asyncpg pool."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @asynccontextmanager
    async def acquire(self, timeout: float) -> AsyncIterator[StoreConnection]:
        async with asyncio.timeout(timeout):
            connection = await connect(self._store)
        try:
            yield connection
        finally:
            connection.terminate()

    def terminate(self) -> None:
        """Nothing is kept."""
