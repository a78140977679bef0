"""The three ways in which a process runs a unit: alone, as one of its workers, or as their parent."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass

from aop.serving.edge.request_log import Level, UnitLog
from aop.serving.edge.worker_metrics import with_ended
from aop.serving.unit.health import METRICS
from aop.serving.unit.listeners import unit_listeners, worker_listeners
from aop.serving.unit.unit import Unit, serve
from aop.serving.unit.unit_settings import Serving
from aop.serving.unit.waiting import once_store_answers, stop_event
from aop.serving.workers.parent import Parent, WorkersPlan
from aop.serving.workers.worker_group import WorkerGroup, WorkerPlace
from aop.store.problems import StoreAway

Holding = Callable[[int | None, UnitLog], AbstractAsyncContextManager[None]]
"""What the unit as a whole holds while it runs, by the number of its workers; None when it is one process."""


@dataclass(frozen=True)
class ServedUnit:
    """A unit as this process serves it."""

    log: UnitLog
    group: WorkerGroup
    serving: Serving
    build: Callable[[], Awaitable[Unit]]
    holding: Holding = lambda _, __: nullcontext()


async def serve_alone(unit: ServedUnit, handed: Sequence[socket.socket]) -> None:
    async with _opened(unit, None, handed) as (listeners, stop):
        await serve(unit.serving, unit.build, unit.log, listeners, stop=stop)


async def serve_as_worker(unit: ServedUnit, place: WorkerPlace) -> None:
    def orphaned() -> None:
        # As if the unit had been killed: the address must be free for the next one, whatever still runs here.
        unit.log.event("worker.orphaned", level=Level.ERROR, cause="the process that started this worker is gone")
        os._exit(1)

    async def build() -> Unit:
        built = await unit.build()
        await unit.group.built()
        return built

    link = await unit.group.join(place, orphaned)
    try:
        neighbours = place.neighbours()
        by_worker = place.listening_by_worker(neighbours)
        await serve(unit.serving, build, unit.log, place.listening(), neighbours, by_worker)
    finally:
        link.cancel()
        await asyncio.wait({link})


async def serve_with_workers(unit: ServedUnit, plan: WorkersPlan, handed: Sequence[socket.socket]) -> None:
    """A worker that finds the store away waits by itself."""
    stopping = unit.serving.stopping
    async with _opened(unit, plan.count, handed) as (listeners, stop):
        with worker_listeners(unit.serving, plan.count, unit.log) as by_worker:
            parent = Parent(plan, listeners, by_worker, unit.log, {METRICS: with_ended})
            if not stop.is_set():
                await parent.run(stop, stopping.drain_seconds + stopping.grace_seconds)


@asynccontextmanager
async def _opened(
    unit: ServedUnit, workers: int | None, handed: Sequence[socket.socket]
) -> AsyncIterator[tuple[Sequence[socket.socket], asyncio.Event]]:
    """What the unit holds, where it listens, and the event that tells it to stop.

    What it holds comes first, so that a second unit fails at that and not at an address in use. Only one that has to
    wait for its store listens before.
    """
    async with AsyncExitStack() as held:

        async def hold() -> None:
            await held.enter_async_context(unit.holding(workers, unit.log))

        is_away = False
        try:
            await hold()
        except StoreAway:
            is_away = True
        with unit_listeners(unit.serving, handed) as listeners:
            stop = stop_event()
            if is_away:
                await once_store_answers(hold, listeners, stop, unit.log)
            yield listeners, stop
