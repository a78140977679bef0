"""The change feed: a snapshot of every watched Release, and each later change in the order of commits."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from aop.base.settings import Secret
from aop.contracts.topology import FrameKind, TopologyEvent, WatchedRelease, WatchedState
from aop.control_plane.registry.store import changes
from aop.control_plane.registry.store.releases import CHANNEL
from aop.store.database import Connection, Database, StoreUnavailable, connect, translated_failures

FRAME_ENTRIES = 500
_RECONNECT_SECONDS = 1.0


class Changes:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def revision(self) -> int:
        async with self._database.connection() as connection:
            return await changes.current_revision(connection)

    async def after(self, revision: int) -> Sequence[TopologyEvent]:
        async with self._database.connection() as connection:
            rows = await changes.after(connection, revision, FRAME_ENTRIES)
        return [
            TopologyEvent(schema_version="1", kind=FrameKind.CHANGE, revision=row["revision"], release=_entry(row))
            for row in rows
        ]

    async def snapshot(self) -> AsyncGenerator[TopologyEvent, None]:
        """All frames are read in one transaction and bear the revision it was read at; only one batch is held."""
        async with self._database.transaction(isolation="repeatable_read", readonly=True) as connection:
            revision = await changes.current_revision(connection)
            rows = changes.all_watched(connection, FRAME_ENTRIES)
            batch: list[WatchedRelease] = []
            async for row in rows:
                if len(batch) == FRAME_ENTRIES:
                    yield _snapshot_frame(revision, batch, complete=False)
                    batch = []
                batch.append(_entry(row))
            yield _snapshot_frame(revision, batch, complete=True)


class ChangeSignal:
    """Wakes readers of the feed when a change commits anywhere. A lost wake-up costs them a moment, never a change:
    they look again by themselves."""

    def __init__(self, database_url: Secret) -> None:
        self._database_url = database_url
        self._next = asyncio.Event()
        self.ended = False

    def end(self) -> None:
        """Tells every reader to stop; nothing is woken any more."""
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
            pass  # readers look again by themselves, and readiness tells of a store that is gone
        await asyncio.sleep(_RECONNECT_SECONDS)

    async def _until_lost(self, connection: Connection) -> None:
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        try:
            await connection.add_listener(CHANNEL, self._wake)
            self._wake()
            await lost.wait()
        finally:
            connection.terminate()


def _snapshot_frame(revision: int, releases: Sequence[WatchedRelease], *, complete: bool) -> TopologyEvent:
    return TopologyEvent(
        schema_version="1", kind=FrameKind.SNAPSHOT, revision=revision, releases=tuple(releases), complete=complete
    )


def _entry(row: Any) -> WatchedRelease:
    return WatchedRelease(
        agent_id=row["agent_id"],
        version=row["version"],
        release_id=row["release_id"],
        card_digest=row["card_digest"],
        state=WatchedState(row["state"]),
    )
