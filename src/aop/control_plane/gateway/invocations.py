"""A call in the Control Plane from its arrival to its answer: this file has every step in order, and each step calls
the part that owns it.

1. *Authenticate* the caller by an access token or a token of the OpenID provider (`gateway.access`).
2. *Admit*: take a free slot. The edge does both before the call (`serving.application`), as the route says.
3. *Read* the body once, as strict JSON by its schema. The bytes of `input` stay as they are.
4. *Authorize*: Workspace, role, Installation, Release, Card and permissions, read anew for each call
   (`dispatch.authorization`). The store is asked as soon as the body says for which Agent. While it works, the checks
   of 3 and step 5 are done; what it says is looked at after them, so that they refuse first.
5. *Mint* the ids of the Invocation and its root Task.
6. *Dispatch*: write it, and send it to the Router (`dispatch.router_client`), once.
7. *Check* that the answer is about this Invocation and as the contract says (`dispatch.invocations`, and
   `dispatch.streams` for a stream, whose frames are relayed as they come).
8. *Answer*: the Router's bytes. If it accepted and then did not answer, the caller gets the ids to ask for the outcome.

It is the only route that returns the result of an Agent to a caller. `aop.router.api.invocations` goes on from step 6.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from aop.base.ids import is_safe_identifier
from aop.base.json import NOT_READ
from aop.cards.checks import IN_LOOP_BYTES
from aop.contracts.documents import document
from aop.contracts.errors import Envelope, ErrorCode, code_entries
from aop.contracts.invocation import InvocationRequest, correlated_error
from aop.control_plane.dispatch.authorization import AccessRequest, Authorization
from aop.control_plane.dispatch.invocations import Dispatches, RouterAnswer, RouterFailed, dispatch_body, new_dispatch
from aop.control_plane.dispatch.streams import OpenedStream, Streams
from aop.control_plane.gateway.access import GatewayAccess
from aop.serving.edge.body import checked_json, checked_value, receive_json
from aop.serving.edge.request import Request, require_agreement
from aop.serving.edge.response import JSON, Headers, Response
from aop.serving.edge.routing import Route, RouteAnswer
from aop.serving.edge.streaming import CancelOnDisconnect, EventStream

_decode = msgspec.json.Decoder(InvocationRequest).decode


class InvocationRoutes:
    def __init__(
        self,
        authorization: Authorization,
        dispatches: Dispatches,
        streams: Streams,
        request_max_bytes: int,
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
        authorization, caller = self._authorization, request.principal
        raw = await receive_json(request, self._max_bytes)  # 3
        invocation = _legible(raw)
        is_checked = invocation is None
        if invocation is None:
            await checked_json(request, self._document, raw)
            invocation = _decode(raw)
        access = AccessRequest(request.path["workspaceId"], invocation.agent_id, invocation.capability)
        reading = authorization.begin(caller, access)  # 4
        try:
            await asyncio.sleep(0)  # in this turn of the loop the statement leaves
            if not is_checked:
                checked_value(self._document, raw)  # 3
            require_agreement(request, stream=invocation.stream)
            trace_headers, dispatch = _spanned(request, invocation), new_dispatch(request.trace_id)  # 5
            authorized = await authorization.for_caller(access, reading)  # 4
        except BaseException:
            reading.cancel()
            raise
        sent = dispatch_body(caller, authorized, invocation, dispatch.lineage)  # 6
        answer: RouterAnswer | OpenedStream | None = None
        try:
            with CancelOnDisconnect(request.server.disconnect):  # 6, 7
                if invocation.stream:
                    answer = await self._streams.open(sent, dispatch, trace_headers)
                else:
                    answer = await self._dispatches.send(sent, dispatch, trace_headers)
        except RouterFailed as failure:
            if not failure.dispatch.correlated:
                raise
            answer = _lost(failure)
        request.invocation_id = dispatch.lineage.invocation
        if isinstance(answer, OpenedStream):
            return EventStream(answer.frames, failure=answer.failure)
        return _NOBODY if answer is None else _response(answer)  # 8


def _legible(raw: bytes) -> InvocationRequest | None:
    """What an unchecked body asks for, if the store can be asked for it; None when the body has to be checked first: it
    is long, so that this takes a while, or something is wrong with it. A statement of several calls would fail for all
    of them by a text that PostgreSQL cannot take."""
    if len(raw) > IN_LOOP_BYTES:
        return None
    try:
        invocation = _decode(raw)
    except NOT_READ:
        return None
    return invocation if is_safe_identifier(invocation.agent_id) else None


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


def _response(forwarded: RouterAnswer) -> Response:
    headers = _JSON_LATER if forwarded.code is ErrorCode.OVERLOADED else _JSON
    return Response(forwarded.status, forwarded.body, headers, forwarded.code, forwarded.reason)


def _lost(failure: RouterFailed) -> RouterAnswer:
    """The Router accepted and then did not answer: the caller gets the ids to read the Invocation with."""
    entry = code_entries()[failure.code]
    error = correlated_error(entry.code, failure.reason, failure.dispatch.lineage)
    return RouterAnswer(entry.status, msgspec.json.encode(error), entry.code, failure.reason)
