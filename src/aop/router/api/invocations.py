"""`POST /internal/v1/invocations`: executes an authorized root Invocation for the Control Plane."""

import asyncio
from collections.abc import Sequence

import msgspec

from aop.base.ids import is_trace_id
from aop.contracts.documents import document
from aop.contracts.errors import Envelope
from aop.contracts.invocation import RouterDispatch
from aop.contracts.lineage import CallerType
from aop.router.api.running_answer import RunningAnswers
from aop.router.invocation.acceptance import Accepting, Call
from aop.serving.admission import Slots
from aop.serving.bearer import ServicePrincipals
from aop.serving.body import JsonBody, read_json
from aop.serving.negotiation import require_agreement
from aop.serving.request import Request
from aop.serving.response import TRACE_HEADER
from aop.serving.routing import Answer, Route, Spanned
from aop.telemetry.phases import RequestPhases

CONTEXT_BYTES = 64 * 1024
"""What a dispatch may hold beside the caller's own body."""

_decode = msgspec.json.Decoder(RouterDispatch).decode


class InvocationRoutes:
    def __init__(self, accepting: Accepting, answers: RunningAnswers, request_max_bytes: int) -> None:
        self._accepting = accepting
        self._answers = answers
        self._max_bytes = request_max_bytes + CONTEXT_BYTES

    def routes(self, principals: ServicePrincipals, roots: Slots) -> Sequence[Route]:
        async def authenticate(request: Request) -> None:
            await principals.authenticate(request)
            _take_named_trace(request)

        path = "/internal/v1/invocations"
        return [
            Route("POST", path, self.dispatch, Envelope.INVOCATION, authenticate, roots, spanned=Spanned.BELOW_CALLER)
        ]

    async def dispatch(self, request: Request) -> Answer:
        received, phases = asyncio.get_running_loop().time(), RequestPhases()
        body = await read_json(request, document("router-dispatch/1"), self._max_bytes)
        wanted = _decode(body.raw)
        request.trace_id = wanted.trace_id
        request.phases, phases.span = phases, request.span()
        require_agreement(request, stream=wanted.stream)
        call = _call(wanted, body, received, phases)
        accepted = await self._accepting.accept(call, request.scope["aop.disconnected"].is_set)
        return await self._answers.answer(request, call, accepted)


def _take_named_trace(request: Request) -> None:
    """A refusal that comes before the body is read is still told under the Gateway's trace."""
    named = (request.single_header(TRACE_HEADER) or b"").decode("latin-1")
    if is_trace_id(named):
        request.trace_id = named


def _call(wanted: RouterDispatch, body: JsonBody, received: float, phases: RequestPhases) -> Call:
    return Call(
        invocation_id=wanted.invocation_id,
        root_task_id=wanted.root_task_id,
        trace_id=wanted.trace_id,
        parent_invocation_id=None,
        caller_type=CallerType.USER,
        caller_id=wanted.caller.id,
        workspace_id=wanted.workspace_id,
        agent_id=wanted.target_agent_id,
        version=wanted.agent_card_version,
        release_id=wanted.agent_release_id,
        card_digest=wanted.agent_card_digest,
        capability=wanted.capability,
        content=bytes(wanted.input),
        value=body.member("input"),
        stream=wanted.stream,
        depth=0,
        received=received,
        phases=phases,
    )
