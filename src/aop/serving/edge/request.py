"""One HTTP request as the units see it: routed, traced and, once checked, with a known caller."""

from collections.abc import Sequence
from typing import Any

import msgspec

from aop.base.ids import new_trace_id
from aop.cards.workers import SchemaWorkers
from aop.contracts.errors import ErrorCode, NotAcceptable, Reason
from aop.net.accept import allows_event_stream, allows_json
from aop.net.asgi import Receive, Scope
from aop.net.headers import TRACEPARENT, HeaderMap
from aop.net.own_server import OwnServer, own_server
from aop.telemetry.phases import RequestPhases
from aop.telemetry.spans import OpenSpan
from aop.telemetry.tracing import Tracing

StreamFailure = tuple[ErrorCode, Reason | None]


class Request(msgspec.Struct):
    scope: Scope
    receive: Receive
    trace_id: str = msgspec.field(default_factory=new_trace_id)
    path: dict[str, str] = {}
    query: dict[str, Any] = {}
    caller: str | None = None
    invocation_id: str | None = None
    failure: StreamFailure | None = None
    """How the stream failed that answered it: its status was sent before that was certain."""
    grant: object = None
    """What authentication returns with the caller, for the one route that needs it."""
    close_connection: bool = False
    workers: SchemaWorkers | None = None
    """Where long bodies are read; without them they are read at once."""
    tracing: Tracing | None = None
    """None unless spans are sent."""
    joins_trace: bool = False
    """Whether the caller is one of us, so that the span it names counts."""
    phases: RequestPhases | None = None
    _span: OpenSpan | None = None
    _headers: HeaderMap | None = None

    @property
    def principal(self) -> str:
        """Who is calling, on a route that authenticates its callers."""
        if self.caller is None:
            raise RuntimeError("the route does not authenticate its callers")
        return self.caller

    def span(self, called_by: str | None = None) -> OpenSpan | None:
        """The span of this request, to be read once its trace is certain; None unless spans are sent.

        `called_by` is the Invocation whose Agent makes the request, should it not say itself under which span.
        """
        if self._span is None and self.tracing is not None:
            named = self.single_header(TRACEPARENT) if self.joins_trace else None
            self._span = self.tracing.open(self.trace_id, named, called_by)
        return self._span

    @property
    def method(self) -> str:
        return str(self.scope["method"])

    @property
    def query_string(self) -> bytes:
        return bytes(self.scope["query_string"])

    @property
    def server(self) -> OwnServer:
        return own_server(self.scope)

    def header_values(self, name: bytes) -> Sequence[bytes]:
        """Every value sent under this lowercase name, in order."""
        headers = self._headers
        if headers is None:
            headers = self._headers = HeaderMap(self.scope["headers"])
        return headers.values(name)

    def single_header(self, name: bytes) -> bytes | None:
        """The value when the header was sent exactly once."""
        headers = self._headers
        if headers is None:
            headers = self._headers = HeaderMap(self.scope["headers"])
        return headers.single(name)


def require_agreement(request: Request, *, stream: bool) -> None:
    values = request.header_values(b"accept")
    if not (allows_event_stream(values) if stream else allows_json(values)):
        raise NotAcceptable("the mode and the Accept header disagree")


def holds_copy(request: Request, digest: str) -> bool:
    """Whether If-None-Match names the entity with this digest, by a strong or a weak tag."""
    tags = b",".join(request.header_values(b"if-none-match")).decode("latin-1").split(",")
    return any(tag == "*" or tag.removeprefix("W/") == f'"{digest}"' for tag in map(str.strip, tags))
