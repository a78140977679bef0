"""`POST /v1/workspaces/:workspaceId/invocations`: the only northbound result channel."""

from collections.abc import Sequence

import msgspec

from aop.contracts.documents import document
from aop.contracts.errors import Envelope, ErrorCode, code_entries
from aop.contracts.invocation import InvocationRequest, correlated_error
from aop.control_plane.dispatch.invocations import Dispatch, Forwarded, Invocations, RouterFailed, new_dispatch
from aop.control_plane.dispatch.streams import OpenedStream, Streams
from aop.control_plane.gateway.access import GatewayAccess
from aop.serving.body import read_json
from aop.serving.request import Request, require_agreement
from aop.serving.response import JSON, Headers, Response
from aop.serving.routing import Route, RouteAnswer
from aop.serving.streaming import CancelOnDisconnect, EventStream

_decode = msgspec.json.Decoder(InvocationRequest).decode


class InvocationRoutes:
    def __init__(self, invocations: Invocations, streams: Streams, request_max_bytes: int) -> None:
        self._invocations = invocations
        self._streams = streams
        self._max_bytes = request_max_bytes

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        path = "/v1/workspaces/:workspaceId/invocations"
        known = access.callers.authenticate
        return [Route("POST", path, self.invoke, Envelope.INVOCATION, known, access.invocations)]

    async def invoke(self, request: Request) -> RouteAnswer:
        body = await read_json(request, document("invocation-request/1"), self._max_bytes)
        wanted = _decode(body.raw)
        below = _spanned(request, wanted)
        require_agreement(request, stream=wanted.stream)
        pin = await self._invocations.authorize(request.principal, request.path["workspaceId"], wanted)
        dispatch = new_dispatch(request.trace_id)
        run = self._streams.open if wanted.stream else self._invocations.run
        answer: Forwarded | OpenedStream | None = None
        try:
            async with CancelOnDisconnect(request):
                answer = await run(request.principal, pin, wanted, dispatch, below)
        except RouterFailed as failure:
            if not failure.dispatch.correlated:
                raise
            answer = _lost(failure.dispatch)
        request.invocation_id = dispatch.lineage.invocation
        if isinstance(answer, OpenedStream):
            return EventStream(answer.frames)
        return _NOBODY if answer is None else _response(answer)


def _spanned(request: Request, wanted: InvocationRequest) -> Headers:
    """What tells the Router below which span it works; the span says what is asked for, never with what input."""
    span = request.span()
    if span is None:
        return ()
    span.attributes.update(
        {
            "aop.workspace.id": request.path["workspaceId"],
            "aop.agent.id": wanted.agent_id,
            "aop.capability": wanted.capability,
            "aop.stream": wanted.stream,
        }
    )
    return (span.header(),)


_NOBODY = Response(503)
"""RouteAnswer to a caller who has left; it is never sent."""


def _response(forwarded: Forwarded) -> Response:
    retry = ((b"retry-after", b"1"),) if forwarded.code is ErrorCode.OVERLOADED else ()
    return Response(forwarded.status, forwarded.body, (JSON, *retry), forwarded.code, forwarded.reason)


def _lost(dispatch: Dispatch) -> Forwarded:
    """The Router accepted and then fell silent: the caller learns the ids under which to look."""
    entry = code_entries()[ErrorCode.DEPENDENCY_ERROR]
    error = correlated_error(entry.code, None, dispatch.lineage)
    return Forwarded(entry.status, msgspec.json.encode(error), entry.code)
