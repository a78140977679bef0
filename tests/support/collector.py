"""An OTLP/HTTP collector for tests: takes what units send, decoded, or refuses it as told."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from aop.net.asgi import Receive, Scope, Send
from aop.net.server import HttpServer, listening_socket
from tests.support.waiting import PATIENCE_SECONDS, becomes_true


@dataclass(frozen=True)
class Seen:
    """A span as a collector sees it; `failed` is its error status."""

    unit: str
    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: int
    start: int
    end: int
    attributes: dict[str, Any]
    failed: bool


@dataclass
class OtlpCollector:
    port: int = 0
    status: int = 200
    rejected: int = 0
    silent: bool = False
    spans: list[Seen] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[bytes, bytes]] = field(default_factory=list)

    def settings(self, **more: str) -> dict[str, str]:
        """What a unit is told to send here, soon."""
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.port}",
            "OTEL_BSP_SCHEDULE_DELAY": "20",
            **more,
        }

    async def trace(self, trace_id: str, count: int, seconds: float = PATIENCE_SECONDS) -> list[Seen]:
        """The spans of a trace, once there are at least so many of them."""

        async def complete() -> bool:
            return len(self._spans_of(trace_id)) >= count

        await becomes_true(complete, seconds)
        return self._spans_of(trace_id)

    async def whole_trace(self, trace_id: str, least: int) -> list[Seen]:
        """The spans of a trace that may have more: units send by themselves, so the root may come before the rest."""

        async def complete() -> bool:
            spans = self._spans_of(trace_id)
            arrived = {span.span_id for span in spans} | {""}
            parents = {span.parent_id for span in spans}
            return len(spans) >= least and "" in parents and parents <= arrived

        await becomes_true(complete)
        return self._spans_of(trace_id)

    def _spans_of(self, trace_id: str) -> list[Seen]:
        return [span for span in self.spans if span.trace_id == trace_id]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        if self.silent:
            await asyncio.sleep(60)
        self.headers.append(dict(scope["headers"]))
        if self.status == 200:
            self.bodies.append(body)
            self._take(scope["path"], body)
        answer = ExportTraceServiceResponse()
        if self.rejected:
            answer.partial_success.rejected_spans = self.rejected
        content: bytes = answer.SerializeToString()
        headers = [(b"content-type", b"application/x-protobuf"), (b"content-length", b"%d" % len(content))]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def _take(self, path: str, body: bytes) -> None:
        assert path == "/v1/traces"
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            unit = attributes_of(resource.resource.attributes)["service.name"]
            for scope in resource.scope_spans:
                self.spans += [_seen(unit, span) for span in scope.spans]


def _seen(unit: str, span: Any) -> Seen:
    return Seen(
        unit,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.name,
        span.kind,
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        attributes_of(span.attributes),
        span.status.code == 2,
    )


def attributes_of(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


def require_connected(spans: Sequence[Seen]) -> Seen:
    """One trace, one root, every parent present and no span outside of the time of its parent: the root."""
    by_id = {span.span_id: span for span in spans}
    assert len(by_id) == len(spans)
    assert len({span.trace_id for span in spans}) == 1
    roots = [span for span in spans if not span.parent_id]
    assert len(roots) == 1, [(span.unit, span.name) for span in roots]
    for span in spans:
        assert not span.parent_id or span.parent_id in by_id, (span.unit, span.name)
        assert span.start <= span.end
    return roots[0]


def children_of(spans: Sequence[Seen], parent: Seen) -> list[Seen]:
    return sorted((span for span in spans if span.parent_id == parent.span_id), key=lambda span: span.start)


@asynccontextmanager
async def running_collector() -> AsyncIterator[OtlpCollector]:
    listener = listening_socket("127.0.0.1", 0)
    collector = OtlpCollector(listener.getsockname()[1])
    server = HttpServer(collector)
    await server.start([listener])
    try:
        yield collector
    finally:
        await server.stop(0)
