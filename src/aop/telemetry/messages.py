"""Spans as OTLP messages, with the unit that sends them, and what a collector says about them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from aop import __version__
from aop.telemetry.spans import Attributes, EndedSpan, SpanKind

_KINDS = {
    SpanKind.INTERNAL: Span.SPAN_KIND_INTERNAL,
    SpanKind.SERVER: Span.SPAN_KIND_SERVER,
    SpanKind.CLIENT: Span.SPAN_KIND_CLIENT,
}
_FAILED = Status(code=Status.STATUS_CODE_ERROR)


@dataclass(frozen=True)
class Origin:
    resource: Resource
    scope: InstrumentationScope


def origin_of(attributes: Mapping[str, str]) -> Origin:
    return Origin(
        Resource(attributes=attribute_messages(attributes)), InstrumentationScope(name="aop", version=__version__)
    )


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


def attribute_messages(attributes: Attributes) -> list[KeyValue]:
    return [KeyValue(key=name, value=_value(value)) for name, value in attributes.items()]


def _value(value: str | int | bool) -> AnyValue:
    if isinstance(value, str):
        return AnyValue(string_value=value)
    return AnyValue(bool_value=value) if isinstance(value, bool) else AnyValue(int_value=value)
