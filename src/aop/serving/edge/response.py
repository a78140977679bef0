"""Answers: whole bodies and the error envelopes of contract section 8."""

from collections.abc import Mapping, Sequence
from functools import cache

import msgspec

from aop.contracts.errors import ErrorCode, Reason, Violation, code_entries
from aop.contracts.platform_error import PreAcceptanceError
from aop.net.asgi import Send
from aop.net.own_server import FixedHead
from aop.serving.edge.request import Request

Headers = Sequence[tuple[bytes, bytes]]
JSON = (b"content-type", b"application/json")
TRACE_HEADER = b"x-platform-trace-id"
_MORE_HEADERS: Mapping[ErrorCode, Headers] = {
    ErrorCode.OVERLOADED: ((b"retry-after", b"1"),),
    ErrorCode.UNAUTHENTICATED: ((b"www-authenticate", b"Bearer"),),
}
_WITHOUT_BODY = frozenset({204, 304})
_encode = msgspec.json.Encoder().encode


class Response(msgspec.Struct, frozen=True):
    status: int
    body: bytes = b""
    headers: Headers = ()
    code: ErrorCode | None = None
    reason: Reason | None = None
    cacheable: bool = False

    async def deliver(self, request: Request, extra: Headers, _: Send) -> None:
        server, own = request.server, self.headers
        if own and own[0] is JSON and not extra and not self.cacheable and not request.close_connection:
            head = _json_head(self.status, *[name for name, _ in own[1:]])
            await server.answer_fixed(head, self.body, request.trace_id.encode(), *[value for _, value in own[1:]])
            return
        headers = [(TRACE_HEADER, request.trace_id.encode()), *self.headers, *extra]
        if self.status not in _WITHOUT_BODY:
            headers.append((b"content-length", str(len(self.body)).encode()))
        if request.close_connection:
            headers.append((b"connection", b"close"))
        if not self.cacheable:
            headers.append((b"cache-control", b"no-store"))
        await server.answer(self.status, headers, self.body)


@cache
def _json_head(status: int, *more: bytes) -> FixedHead:
    """Of JSON answers with the same headers, which are those of a few places in the code."""
    return FixedHead(status, (JSON, (b"cache-control", b"no-store")), TRACE_HEADER, *more)


def json_response(status: int, value: object, headers: Headers = ()) -> Response:
    return Response(status, _encode(value), (JSON, *headers))


def error_answer(
    code: ErrorCode, trace_id: str, violations: Sequence[Violation] = (), reason: Reason | None = None
) -> Response:
    """Platform Error in its pre-acceptance form, which is the same on the wire in all three envelopes."""
    entry = code_entries()[code]
    error = PreAcceptanceError(
        code=code,
        message=entry.message,
        reason=reason or msgspec.UNSET,
        trace_id=trace_id,
        violations=tuple(violations) or msgspec.UNSET,
    )
    return Response(entry.status, _encode(error), (JSON, *_MORE_HEADERS.get(code, ())), code, reason)
