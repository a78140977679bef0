"""Runs one unit: limits, listener, readiness, and a drain that refuses new work while running work ends."""

import asyncio
import gc
import logging
import resource
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from aop.base.ids import new_trace_id
from aop.contracts.errors import ErrorCode
from aop.net.asgi import ASGIApp
from aop.net.server import (
    ConnectionEvent,
    HttpServer,
    Neighbours,
    NoNeighbours,
    ServerLimits,
    WorkerSocket,
    whole_answer,
)
from aop.serving.edge.admission import Slots
from aop.serving.edge.metrics import UnitMetrics
from aop.serving.edge.request_log import Level, RuntimeRecords, UnitLog
from aop.serving.edge.response import TRACE_HEADER, error_answer
from aop.serving.unit.health import Readiness
from aop.serving.unit.huge_pages import use_huge_pages
from aop.serving.unit.listeners import unit_listeners
from aop.serving.unit.unit_settings import MAX_CONNECTIONS, CannotStart, Descriptors, Serving
from aop.serving.unit.waiting import once_store_answers, stop_event

_SPARE_DESCRIPTORS = 128
"""Listener, log, store notifications, and connections that are just being refused or closed."""
_CLOSING_SECONDS = 5.0
"""For the last answers. One of a call that was being accepted when the grace was over waits for two writes first."""
_COLLECTED_AFTER = 50_000
_RECORD_SECONDS = 10.0


class MustEnd(Exception):
    """The unit may not go on; a restart would change nothing. The text is for the operator."""


async def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Unit:
    application: ASGIApp
    readiness: Readiness
    slots: Sequence[Sequence[Slots]]
    """Groups in the order in which a drain closes them, each after the one before it is empty."""
    log: UnitLog
    metrics: UnitMetrics
    close: Callable[[], Awaitable[None]]
    end_watches: Callable[[], None] = lambda: None
    """Called when new work is refused: ends answers that would otherwise go on for as long as their reader likes."""
    abandon: Callable[[], Awaitable[None]] = _nothing
    """Called when the grace is over: ends and records what still runs, while its callers can still get an answer."""
    must_end: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by the unit when it may not go on."""
    ending: str = ""
    """Why that is then so."""


async def serve(
    serving: Serving,
    build: Callable[[], Awaitable[Unit]],
    log: UnitLog,
    handed: Sequence[socket.socket] = (),
    neighbours: Neighbours | None = None,
    by_worker: Sequence[WorkerSocket] = (),
    stop: asyncio.Event | None = None,
) -> None:
    """Builds the unit, serves until SIGTERM or SIGINT, drains, and returns when nothing of it is left.

    While the store is away it waits instead of building. A caller that has a `stop_event` already gives it as `stop`.

    `handed` are sockets that already listen, from the process that started this one; `neighbours` accept from them
    too, and each of them has one of `by_worker`.
    """
    max_connections = require_descriptors(serving.use, serving.max_connections)
    stop = stop or stop_event()
    with unit_listeners(serving, handed) as listeners:
        unit = await once_store_answers(build, listeners, stop, log)
        if unit is None:
            return
        logging.basicConfig(handlers=[RuntimeRecords(unit.log)], level=logging.WARNING, force=True)
        try:
            server = _server(unit, max_connections, neighbours or NoNeighbours())
            await server.start(listeners, by_worker)
            tune_gc()
            use_huge_pages()
            unit.log.event("unit.listening")
            await _either(stop, unit.must_end)
            if unit.must_end.is_set():
                await server.stop(0)
                raise MustEnd(unit.ending)
            await _accept_last_work(unit, server, serving.stopping.drain_seconds)
            await _drain(unit, serving.stopping.grace_seconds)
            await server.stop(_CLOSING_SECONDS)
        finally:
            await unit.close()
        unit.log.event("unit.stopped")


class ConnectionRecords:
    """One record of a kind in ten seconds, which says how many there were since the one before; the metric has all."""

    def __init__(self, log: UnitLog, metrics: UnitMetrics) -> None:
        self._log = log
        self._count = metrics.connection_events(ConnectionEvent)
        self._unlogged: Counter[ConnectionEvent] = Counter()
        self._logged_at: dict[ConnectionEvent, float] = {}

    def note(self, event: ConnectionEvent) -> None:
        self._count[event]()
        self._unlogged[event] += 1
        now = time.monotonic()
        if now - self._logged_at.get(event, float("-inf")) >= _RECORD_SECONDS:
            self._logged_at[event] = now
            count = self._unlogged.pop(event)
            self._log.event(f"connections.{event}", level=Level.WARNING, cause=f"{count} since the last such record")

    def refusal(self) -> bytes:
        """OVERLOADED, for a connection that no request was read from."""
        trace_id = new_trace_id()
        answer = error_answer(ErrorCode.OVERLOADED, trace_id)
        headers = ((TRACE_HEADER, trace_id.encode()), (b"cache-control", b"no-store"), *answer.headers)
        return whole_answer(answer.status, headers, answer.body)


def _server(unit: Unit, max_connections: int, neighbours: Neighbours) -> HttpServer:
    records = ConnectionRecords(unit.log, unit.metrics)
    limits = ServerLimits(max_connections=max_connections)
    server = HttpServer(unit.application, limits, note=records.note, refusal=records.refusal, neighbours=neighbours)
    unit.metrics.gauge("aop_connections", "Connections that are open.", lambda: server.connection_count)
    return server


def tune_gc() -> None:
    """What a unit is built of stays for good: it is not searched for cycles again, and requests leave hardly any."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECTED_AFTER)


async def _accept_last_work(unit: Unit, server: HttpServer, seconds: int) -> None:
    """A balancer needs some time to learn that the unit is not ready. What it sends until then is served.

    Idle connections are closed at the end: a request that just then comes on one would be lost, and by now no one
    sends any more. Watches are ended then too, or their readers would come back to this very unit.
    """
    unit.log.event("unit.draining")
    unit.readiness.drain()
    server.drain()
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await unit.must_end.wait()
    server.close_idle()


async def _drain(unit: Unit, grace_seconds: int) -> None:
    """Refuses new work and lets running work end."""
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


def require_descriptors(use: Descriptors, max_connections: int | None) -> int:
    """Raises the soft limit to the hard one. The answer is how many connections the unit may have: as many as are
    configured, else what the limit leaves, but not so many that their memory counts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    own = use.calls + use.pool_size + _SPARE_DESCRIPTORS
    left = ServerLimits().max_connections if hard == resource.RLIM_INFINITY else hard - own
    if left < use.calls:
        raise CannotStart(f"{use.settings}: needs {own + use.calls} open files, the process may have {hard}")
    if max_connections is None:
        return max(1, min(left, ServerLimits().max_connections))
    if hard != resource.RLIM_INFINITY and max_connections > left:
        needed = own + max_connections
        raise CannotStart(f"{MAX_CONNECTIONS}: needs {needed} open files, the process may have {hard}")
    return max_connections
