"""Epochs: each process of a Router has one. A new epoch fences the older ones and ends what they left open."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from aop.base.clock import Clock
from aop.base.ids import new_hex_id
from aop.ledger.model import CANCELED, ROUTER_ENDED, terminal_fact
from aop.ledger.write import store
from aop.store.database import Connection, Database, translated_failures
from aop.store.problems import StoreUnavailable

PROBE_SECONDS = 1.0
MAX_CLOSED_AT_ONCE = 1000


class EpochSuperseded(Exception):
    """Another process opened a newer epoch of this Router: nothing this one accepts could be recorded."""


@dataclass(frozen=True)
class Closing:
    """The epochs that were closed, and how many open Invocations were ended."""

    epochs: Sequence[int]
    ended: int


async def open_epoch(connection: Connection, router_id: str) -> int:
    """From here on no older process of this Router can add a fact."""
    async with translated_failures():
        return await store.open_epoch(connection, router_id)


async def close_earlier(connection: Connection, router_id: str, epoch: int, clock: Clock) -> Closing:
    """Appends exactly one terminal to every open Invocation of earlier epochs: `canceled` where its caller had left,
    else `failed`/DEPENDENCY_ERROR, because its Router ended. No Agent is called and nothing is tried again."""
    ended = 0
    async with translated_failures():
        earlier = await store.unclosed_epochs(connection, router_id, epoch)
        for old in earlier:
            while rows := await store.open_rows(connection, router_id, old, MAX_CLOSED_AT_ONCE):
                facts = [
                    terminal_fact(
                        row.last_fact, new_hex_id(), clock(), CANCELED if row.cancel_requested else ROUTER_ENDED
                    )
                    for row in rows
                ]
                ended += len(await store.append(connection, router_id, epoch, facts))
            await store.close_epoch(connection, router_id, old)
    return Closing(earlier, ended)


async def close_left(connection: Connection, router_id: str, clock: Clock, own: Collection[str] = ()) -> Closing | None:
    """Closes all epochs of the Router and of every worker it ever had, but for those names that are `own`: the units of
    these open their epochs. None when there never was any."""
    async with translated_failures():
        names = await store.worker_names(connection, router_id)
    epochs, ended = list[int](), 0
    for name in names:
        if name not in own:
            epoch = await open_epoch(connection, name)
            closing = await close_earlier(connection, name, epoch, clock)
            epochs += closing.epochs
            ended += closing.ended
    return Closing(epochs, ended) if names else None


class EpochWatch:
    """Notices a newer epoch of this Router before a call meets it and fails."""

    def __init__(self, database: Database, router_id: str, epoch: int, superseded: Callable[[], None]) -> None:
        self._database = database
        self._router_id = router_id
        self._epoch = epoch
        self._superseded = superseded

    async def turn(self) -> None:
        await asyncio.sleep(PROBE_SECONDS)
        with suppress(StoreUnavailable, EpochSuperseded):  # readiness tells of a store that is gone
            await self.check()

    async def check(self) -> None:
        """The readiness check. It also calls `superseded`, which ends the unit."""
        async with self._database.connection() as connection:
            newest = await store.newest_epoch(connection, self._router_id)
        if newest > self._epoch:
            self._superseded()
            raise EpochSuperseded
