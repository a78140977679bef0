"""Runs one unit: limits, listener, readiness, and a drain that refuses new work while running work ends."""

import asyncio
import gc
import logging
import os
import resource
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from aop.base.server import ASGIApp, HttpServer, listening_socket
from aop.base.settings import ListenAddress
from aop.serving.admission import Slots
from aop.serving.health import Readiness
from aop.serving.request_log import RuntimeRecords, UnitLog

_SPARE_DESCRIPTORS = 64
_CLOSING_SECONDS = 1.0
_COLLECTED_AFTER = 50_000


class MustEnd(Exception):
    """The unit found out that it may not go on; a restart would change nothing."""


class CannotStart(Exception):
    """The unit cannot start as configured; the text is for the operator and holds no value of a setting."""


async def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Unit:
    application: ASGIApp
    readiness: Readiness
    slots: Sequence[Sequence[Slots]]
    """Groups in the order in which a drain closes them, each after the one before it is empty."""
    log: UnitLog
    close: Callable[[], Awaitable[None]]
    end_watches: Callable[[], None] = lambda: None
    """Called when the drain begins: ends answers that would otherwise go on for as long as their reader likes."""
    abandon: Callable[[], Awaitable[None]] = _nothing
    """Called when the grace is over: ends what still runs, with a record of it, while its callers can still be told."""
    must_end: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by the unit when it may not go on."""


@dataclass(frozen=True)
class Serving:
    """How a unit is to be served: its address, the name of the setting that gives it, and its grace."""

    address: ListenAddress
    address_setting: str
    grace_seconds: int


async def serve(serving: Serving, build: Callable[[], Awaitable[Unit]]) -> None:
    """Builds the unit, serves until SIGTERM or SIGINT, drains, and returns when nothing of it is left."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    address = serving.address
    try:
        listener = listening_socket(address.host, address.port)
    except OSError as failure:
        reason = os.strerror(failure.errno or 0)
        raise CannotStart(f"{serving.address_setting}: the address cannot be listened on ({reason})") from None
    with listener:
        unit = await build()
        logging.basicConfig(handlers=[RuntimeRecords(unit.log)], level=logging.WARNING, force=True)
        try:
            server = HttpServer(unit.application)
            await server.start([listener])
            calm_collector()
            unit.log.event("unit.listening")
            await _either(stop, unit.must_end)
            if unit.must_end.is_set():
                await server.stop(0)
                raise MustEnd
            await _drain(unit, serving.grace_seconds)
            await server.stop(_CLOSING_SECONDS)
        finally:
            await unit.close()
        unit.log.event("unit.stopped")


def calm_collector() -> None:
    """What a unit is built of stays for good: it is not searched for cycles again, and requests leave hardly any."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECTED_AFTER)


async def _drain(unit: Unit, grace_seconds: int) -> None:
    unit.log.event("unit.draining")
    unit.readiness.drain()
    unit.end_watches()
    try:
        async with asyncio.timeout(grace_seconds):
            for group in unit.slots:
                for slots in group:
                    slots.close()
                for slots in group:
                    await slots.emptied()
    except TimeoutError:
        unit.log.event("unit.grace_over")
        await unit.abandon()


async def _either(*events: asyncio.Event) -> None:
    waiting = {asyncio.create_task(event.wait()) for event in events}
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)


def require_descriptors(calls: int, pool_size: int, settings: str) -> None:
    """Raises the soft limit to the hard one; each call may hold two sockets, each pool entry one."""
    needed = 2 * calls + pool_size + _SPARE_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise CannotStart(f"{settings}: needs {needed} open files, the process may have {hard}")
