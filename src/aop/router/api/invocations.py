"""`POST /internal/v1/invocations`: executes an authorized root Invocation for the Control Plane."""

import asyncio
from collections.abc import Sequence

import msgspec

from aop.base.ids import is_trace_id
from aop.contracts.documents import document
from aop.contracts.errors import Envelope
from aop.contracts.invocation import RouterDispatch
from aop.router.api.invocation_answers import InvocationAnswers
from aop.router.invocation.acceptance import AuthorizedCall
from aop.serving.admission import Slots
from aop.serving.bearer import ServicePrincipals
from aop.serving.body import read_json
from aop.serving.request import Request, require_agreement
from aop.serving.response import TRACE_HEADER
from aop.serving.routing import Route, RouteAnswer, Spanned
from aop.telemetry.phases import RequestPhases

CONTEXT_BYTES = 64 * 1024
"""Room in a dispatch for what is added to the caller's own body."""

_decode = msgspec.json.Decoder(RouterDispatch).decode


class DispatchRoutes:
    def __init__(self, answers: InvocationAnswers, request_max_bytes: int) -> None:
        self._answers = answers
        self._max_bytes = request_max_bytes + CONTEXT_BYTES

    def routes(self, principals: ServicePrincipals, roots: Slots) -> Sequence[Route]:
        async def authenticate(request: Request) -> None:
            await principals.authenticate(request)
            _take_named_trace(request)

        path = "/internal/v1/invocations"
        return [
            Route("POST", path, self.dispatch, Envelope.INVOCATION, authenticate, roots, spanned=Spanned.UNDER_CALLER)
        ]

    async def dispatch(self, request: Request) -> RouteAnswer:
        received, phases = asyncio.get_running_loop().time(), RequestPhases()
        body = await read_json(request, document("router-dispatch/3"), self._max_bytes)
        dispatch = _decode(body.raw)
        request.trace_id = dispatch.trace_id
        request.phases, phases.span = phases, request.span()
        require_agreement(request, stream=dispatch.stream)
        value = body.member("input")
        call = AuthorizedCall(dispatch.context, bytes(dispatch.input), value, dispatch.stream, received, phases)
        return await self._answers.answer(request, call)


def _take_named_trace(request: Request) -> None:
    """Errors that come before the body is read bear the Gateway's trace too."""
    named = (request.single_header(TRACE_HEADER) or b"").decode("latin-1")
    if is_trace_id(named):
        request.trace_id = named
