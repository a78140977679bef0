"""A unit made for tests: one route per part of the edge, on a real socket."""

import asyncio
import io
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field

import pytest_asyncio

from aop.cards.workers import SchemaWorkers
from aop.contracts.documents import document
from aop.contracts.errors import Envelope, Forbidden
from aop.serving.edge.admission import Slots
from aop.serving.edge.application import Application
from aop.serving.edge.body import read_json
from aop.serving.edge.metrics import UnitMetrics
from aop.serving.edge.query import boolean
from aop.serving.edge.request import Request
from aop.serving.edge.request_log import UnitLog
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route, RouteAnswer
from aop.serving.edge.streaming import EventStream
from aop.serving.unit.health import Readiness, health_routes
from aop.serving.unit.unit import Unit
from aop.serving.workers.worker_group import WorkerGroup
from aop.store.problems import StoreUnavailable
from tests.support.units import RunningUnit, running

LIMIT = 2000
LONG_LIMIT = 2_000_000


@dataclass
class Workbench:
    """What the routes do and what tests can see of it."""

    log: io.BytesIO = field(default_factory=io.BytesIO)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    slots: Slots = field(default_factory=lambda: Slots(2))
    silence: float = 8.0
    breaks: Exception = field(default_factory=lambda: StoreUnavailable("ConnectionRefusedError"))
    """What ends a stream in its middle."""
    workers: SchemaWorkers = field(default_factory=SchemaWorkers)

    async def unit(self) -> Unit:
        log, metrics = UnitLog("bench", "info", self.log), UnitMetrics("bench")
        readiness = Readiness({}, log, metrics)
        application = Application(
            [*health_routes(readiness, metrics, WorkerGroup()), *self.routes()], log, metrics, workers=self.workers
        )
        return Unit(application, readiness, ((self.slots,),), log, metrics, self.close)

    async def close(self) -> None:
        await self.workers.close()

    def routes(self) -> list[Route]:
        v3 = Envelope.WORKSPACE
        return [
            Route("POST", "/echo", self.echo, v3, slots=self.slots),
            Route("POST", "/echo-long", self.echo_long, v3),
            Route("GET", "/hold", self.hold, v3, slots=self.slots),
            Route("GET", "/stream", self.stream, v3, slots=self.slots),
            Route("GET", "/broken", self.broken, v3, slots=self.slots),
            Route("GET", "/fault", self.fault, v3),
            Route("GET", "/store", self.store, v3),
            Route("GET", "/refused", self.refused, v3),
            Route("GET", "/things/:thingId/versions/:version", self.path, v3, query={"latest": boolean, "name": str}),
        ]

    async def echo(self, request: Request) -> Response:
        body = await read_json(request, document("workspace/1#createRequest"), LIMIT)
        return Response(200, body.raw)

    async def echo_long(self, request: Request) -> Response:
        body = await read_json(request, document("workspace/1#createRequest"), LONG_LIMIT)
        return Response(200, body.raw)

    async def hold(self, request: Request) -> Response:
        self.started.set()
        await self.release.wait()
        return json_response(200, {"held": True})

    async def stream(self, request: Request) -> RouteAnswer:
        return EventStream(self._events(), silence_seconds=self.silence)

    async def _events(self) -> AsyncGenerator[bytes, None]:
        try:
            yield b"data: 0\n\n"
            self.started.set()
            await self.release.wait()
            yield b"data: 1\n\n"
        finally:
            self.closed.set()

    async def broken(self, request: Request) -> RouteAnswer:
        return EventStream(self._broken_events())

    async def _broken_events(self) -> AsyncGenerator[bytes, None]:
        yield b"data: 0\n\n"
        raise self.breaks

    async def fault(self, request: Request) -> Response:
        raise KeyError("canary-payload")

    async def store(self, request: Request) -> Response:
        raise StoreUnavailable("ConnectionRefusedError")

    async def refused(self, request: Request) -> Response:
        request.caller = "alice"
        raise Forbidden("thing belongs to somebody else")

    async def path(self, request: Request) -> Response:
        return json_response(200, {"path": request.path, "query": request.query})


@pytest_asyncio.fixture
async def bench() -> Workbench:
    return Workbench()


@pytest_asyncio.fixture
async def unit(bench: Workbench) -> AsyncIterator[RunningUnit]:
    async with running(bench.unit) as started:
        yield started
