"""`POST /v1/workspaces/:workspaceId/invocations`: the only route that returns the result of an Agent to a caller."""

from collections.abc import Sequence

import msgspec

from aop.contracts.documents import document
from aop.contracts.errors import Envelope, ErrorCode, code_entries
from aop.contracts.invocation import InvocationRequest, correlated_error
from aop.control_plane.dispatch.invocations import Forwarded, Invocations, RouterFailed, new_dispatch
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
        self._document = document("invocation-request/2")
        self._max_bytes = request_max_bytes

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        path = "/v1/workspaces/:workspaceId/invocations"
        authenticate = access.callers.authenticate
        return [Route("POST", path, self.invoke, Envelope.INVOCATION, authenticate, access.invocations)]

    async def invoke(self, request: Request) -> RouteAnswer:
        body = await read_json(request, self._document, self._max_bytes)
        invocation = _decode(body.raw)
        below = _spanned(request, invocation)
        require_agreement(request, stream=invocation.stream)
        authorized = await self._invocations.authorize(request.principal, request.path["workspaceId"], invocation)
        dispatch = new_dispatch(request.trace_id)
        run = self._streams.open if invocation.stream else self._invocations.run
        answer: Forwarded | OpenedStream | None = None
        try:
            with CancelOnDisconnect(request):
                answer = await run(request.principal, authorized, invocation, dispatch, below)
        except RouterFailed as failure:
            if not failure.dispatch.correlated:
                raise
            answer = _lost(failure)
        request.invocation_id = dispatch.lineage.invocation
        if isinstance(answer, OpenedStream):
            return EventStream(answer.frames, failure=answer.failure)
        return _NOBODY if answer is None else _response(answer)


def _spanned(request: Request, invocation: InvocationRequest) -> Headers:
    """Headers that name the span of the request to the Router. The span never has the input."""
    span = request.span()
    if span is None:
        return ()
    span.attributes.update(
        {
            "aop.workspace.id": request.path["workspaceId"],
            "aop.agent.id": invocation.agent_id,
            "aop.capability": invocation.capability,
            "aop.stream": invocation.stream,
        }
    )
    return (span.header(),)


_JSON, _JSON_LATER = (JSON,), (JSON, (b"retry-after", b"1"))
_NOBODY = Response(503)
"""The answer to a caller who has disconnected; it is never sent."""


def _response(forwarded: Forwarded) -> Response:
    headers = _JSON_LATER if forwarded.code is ErrorCode.OVERLOADED else _JSON
    return Response(forwarded.status, forwarded.body, headers, forwarded.code, forwarded.reason)


def _lost(failure: RouterFailed) -> Forwarded:
    """The Router accepted and then did not answer: the caller gets the ids to read the Invocation with."""
    entry = code_entries()[failure.code]
    error = correlated_error(entry.code, failure.reason, failure.dispatch.lineage)
    return Forwarded(entry.status, msgspec.json.encode(error), entry.code, failure.reason)
