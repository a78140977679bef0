"""Spans as OTLP messages, and what a collector says about them."""

from collections.abc import Iterable

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from aop.telemetry.resource import Origin, attribute_messages
from aop.telemetry.spans import EndedSpan, SpanKind

_KINDS = {
    SpanKind.INTERNAL: Span.SPAN_KIND_INTERNAL,
    SpanKind.SERVER: Span.SPAN_KIND_SERVER,
    SpanKind.CLIENT: Span.SPAN_KIND_CLIENT,
}
_FAILED = Status(code=Status.STATUS_CODE_ERROR)


def trace_request(origin: Origin, spans: Iterable[EndedSpan]) -> bytes:
    scope = ScopeSpans(scope=origin.scope, spans=map(_message, spans))
    request = ExportTraceServiceRequest(resource_spans=[ResourceSpans(resource=origin.resource, scope_spans=[scope])])
    encoded: bytes = request.SerializeToString()
    return encoded


def _message(span: EndedSpan) -> Span:
    return Span(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=b"" if span.parent_id is None else bytes.fromhex(span.parent_id),
        name=span.name,
        kind=_KINDS[span.kind],
        start_time_unix_nano=span.start,
        end_time_unix_nano=span.end,
        attributes=attribute_messages(span.attributes),
        status=_FAILED if span.failed else None,
    )


def rejected_spans(answer: bytes) -> int:
    """How many of them the collector did not take, though it took the request."""
    try:
        response: ExportTraceServiceResponse = ExportTraceServiceResponse.FromString(answer)
    except DecodeError:
        return 0
    return max(response.partial_success.rejected_spans, 0)
