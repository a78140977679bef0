"""The change feed: a snapshot of every watched Release, and each later change in the order of commits."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress

from aop.base.settings import Secret
from aop.contracts.topology import FrameKind, TopologyEvent, WatchedRelease
from aop.control_plane.registry.store import releases
from aop.store.database import Connection, Database, connect, translated_failures
from aop.store.problems import StoreUnavailable

FRAME_ENTRIES = 500
_RECONNECT_SECONDS = 1.0
_ASK_SECONDS = 5.0


class Changes:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def revision(self) -> int:
        async with self._database.connection() as connection:
            return await releases.current_revision(connection)

    async def after(self, revision: int) -> Sequence[TopologyEvent]:
        async with self._database.connection() as connection:
            return await releases.changes_after(connection, revision, FRAME_ENTRIES)

    async def snapshot(self) -> AsyncGenerator[TopologyEvent, None]:
        """Reads all frames in one transaction, whose revision they bear, and holds one batch at a time."""
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            revision = await releases.current_revision(connection)
            batch: list[WatchedRelease] = []
            async with aclosing(releases.all_watched(connection, FRAME_ENTRIES)) as watched:
                async for release in watched:
                    if len(batch) == FRAME_ENTRIES:
                        yield _snapshot_frame(revision, batch, complete=False)
                        batch = []
                    batch.append(release)
            yield _snapshot_frame(revision, batch, complete=True)


class ChangeSignal:
    """Wakes readers of the feed when any process commits a change. A lost wake-up costs them a moment, never a change:
    they also poll."""

    def __init__(self, database_url: Secret) -> None:
        self._database_url = database_url
        self._next = asyncio.Event()
        self.ended = False

    def end(self) -> None:
        """Stops every reader."""
        self.ended = True
        self._wake()

    def next(self) -> asyncio.Event:
        """Set by the first change that commits after this call."""
        return self._next

    def _wake(self, *_: object) -> None:
        woken, self._next = self._next, asyncio.Event()
        woken.set()

    async def turn(self) -> None:
        """Listens on one connection until it is lost, and pauses before the next."""
        try:
            connection = await connect(self._database_url.reveal(), application="aop control-plane changes")
            async with translated_failures():
                await self._until_lost(connection)
        except StoreUnavailable:
            pass  # readers also poll, and readiness reports a store that is gone
        await asyncio.sleep(_RECONNECT_SECONDS)

    async def _until_lost(self, connection: Connection) -> None:
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        try:
            await connection.add_listener(releases.CHANNEL, self._wake)
            self._wake()
            while not lost.is_set():
                # A server that is frozen or cut off ends no connection; it only says nothing more.
                await connection.fetchval("SELECT true", timeout=_ASK_SECONDS)
                with suppress(TimeoutError):
                    async with asyncio.timeout(_ASK_SECONDS):
                        await lost.wait()
        finally:
            connection.terminate()


def _snapshot_frame(revision: int, releases: Sequence[WatchedRelease], *, complete: bool) -> TopologyEvent:
    return TopologyEvent(
        schema_version="1", kind=FrameKind.SNAPSHOT, revision=revision, releases=tuple(releases), complete=complete
    )
