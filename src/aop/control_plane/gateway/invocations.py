"""A call in the Control Plane from its arrival to its answer: this file has every step in order, and each step calls
the part that owns it.

1. *Authenticate* the caller by an access token or a token of the OpenID provider (`gateway.access`).
2. *Admit*: take a free slot. The edge does both before the call (`serving.application`), as the route says.
3. *Read* the body once, as strict JSON by its schema. The bytes of `input` stay as they are.
4. *Authorize*: Workspace, role, Installation, Release, Card and permissions, read anew for each call
   (`dispatch.authorization`).
5. *Mint* the ids of the Invocation and its root Task.
6. *Dispatch*: send it to the Router (`dispatch.router_client`), once.
7. *Check* that the answer is about this Invocation and as the contract says (`dispatch.invocations`, and
   `dispatch.streams` for a stream, whose frames are relayed as they come).
8. *Answer*: the Router's bytes. If it accepted and then did not answer, the caller gets the ids to ask for the outcome.

It is the only route that returns the result of an Agent to a caller. `aop.router.api.invocations` goes on from step 6.
"""

from collections.abc import Sequence

import msgspec

from aop.contracts.documents import document
from aop.contracts.errors import Envelope, ErrorCode, code_entries
from aop.contracts.invocation import InvocationRequest, correlated_error
from aop.control_plane.dispatch.authorization import AccessRequest, Authorization
from aop.control_plane.dispatch.invocations import Dispatches, Forwarded, RouterFailed, dispatch_body, new_dispatch
from aop.control_plane.dispatch.streams import OpenedStream, Streams
from aop.control_plane.gateway.access import GatewayAccess
from aop.serving.body import read_json
from aop.serving.request import Request, require_agreement
from aop.serving.response import JSON, Headers, Response
from aop.serving.routing import Route, RouteAnswer
from aop.serving.streaming import CancelOnDisconnect, EventStream

_decode = msgspec.json.Decoder(InvocationRequest).decode


class InvocationRoutes:
    def __init__(
        self, authorization: Authorization, dispatches: Dispatches, streams: Streams, request_max_bytes: int
    ) -> None:
        self._authorization = authorization
        self._dispatches = dispatches
        self._streams = streams
        self._document = document("invocation-request/2")
        self._max_bytes = request_max_bytes

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        """`POST /v1/workspaces/:workspaceId/invocations`"""
        path = "/v1/workspaces/:workspaceId/invocations"
        authenticate = access.callers.authenticate  # 1
        return [Route("POST", path, self.invoke, Envelope.INVOCATION, authenticate, access.invocations)]  # 2

    async def invoke(self, request: Request) -> RouteAnswer:
        body = await read_json(request, self._document, self._max_bytes)  # 3
        invocation = _decode(body.raw)
        trace_headers = _spanned(request, invocation)
        require_agreement(request, stream=invocation.stream)
        access = AccessRequest(request.path["workspaceId"], invocation.agent_id, invocation.capability)
        authorized = await self._authorization.for_caller(request.principal, access)  # 4
        dispatch = new_dispatch(request.trace_id)  # 5
        sent = dispatch_body(request.principal, authorized, invocation, dispatch.lineage)
        send = self._streams.open if invocation.stream else self._dispatches.send
        answer: Forwarded | OpenedStream | None = None
        try:
            with CancelOnDisconnect(request):
                answer = await send(sent, dispatch, trace_headers)  # 6, 7
        except RouterFailed as failure:
            if not failure.dispatch.correlated:
                raise
            answer = _lost(failure)
        request.invocation_id = dispatch.lineage.invocation
        if isinstance(answer, OpenedStream):
            return EventStream(answer.frames, failure=answer.failure)
        return _NOBODY if answer is None else _response(answer)  # 8


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
