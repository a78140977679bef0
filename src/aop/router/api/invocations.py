"""A call in the Router from its arrival to its answer: this file has every step in order, and each step calls the part
that owns it.

1. *Authenticate* the Control Plane by its service token. An Agent that calls another one shows its delegation.
2. *Admit*: take a free slot. The edge does both before the call (`serving.application`), as the route says.
3. *Read* the document once, as strict JSON by its schema. `api.nested` does this for the call of an Agent, finds its
   parent running and asks which version is installed; from here on both are the same.
4. *Resolve*: the Release may run, and this is its exact Card (`targets.resolution`).
5. *Check the input* by size and by the schema of the Skill (`invocation.acceptance`).
6. *Accept*: the first Ledger transaction. Delegation and credential are made meanwhile. All before may refuse the call;
   from here on its answer is its outcome.
7. *Work*: send the message to the Agent and check what comes back (`invocation.execution`, `a2a`).
8. *Record* exactly one terminal in the Ledger, before anybody learns of it.
9. *Answer*: the result or a correlated error. A stream has given out its frames meanwhile (`stream`).

A root call comes from step 6 of `aop.control_plane.gateway.invocations`, which checks the answer and passes it on. The
call of an Agent comes from `api.nested`.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import msgspec

from aop.base.ids import is_trace_id
from aop.contracts.documents import document
from aop.contracts.errors import Envelope
from aop.contracts.invocation import RouterDispatch
from aop.net.asgi import Disconnect
from aop.router.a2a.outcome import Outcome
from aop.router.api.answers import id_headers, outcome_response
from aop.router.invocation.acceptance import (
    AcceptanceBoundary,
    AuthorizedCall,
    CallLimits,
    EndedAtAcceptance,
    span_attributes,
)
from aop.router.invocation.execution import Execution
from aop.router.invocation.running import RunningInvocation, StopReason
from aop.router.invocation.supervisor import InvocationSupervisor
from aop.router.metrics import InvocationPhases
from aop.router.stream.delivery import StreamDelivery
from aop.router.targets.resolution import Resolution
from aop.serving.edge.admission import Slots
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.edge.body import CallerLeft, checked_json, receive_json
from aop.serving.edge.request import Request, StreamFailure, require_agreement
from aop.serving.edge.response import TRACE_HEADER
from aop.serving.edge.routing import Route, RouteAnswer, Spanned
from aop.serving.edge.streaming import EventStream
from aop.telemetry.phases import RequestPhases
from aop.telemetry.spans import agent_span_id

CONTEXT_BYTES = 64 * 1024
"""Room in a dispatch for what is added to the caller's own body."""

_decode = msgspec.json.Decoder(RouterDispatch).decode


class Invocations:
    def __init__(
        self,
        resolution: Resolution,
        boundary: AcceptanceBoundary,
        execution: Execution,
        supervisor: InvocationSupervisor,
        phase_kinds: InvocationPhases,
        limits: CallLimits,
    ) -> None:
        self._resolution, self._boundary, self._execution = resolution, boundary, execution  # steps 4, 5 and 6, 7 and 8
        self._supervisor = supervisor
        self._phase_kinds = phase_kinds
        self._limits = limits

    def routes(self, principals: ServicePrincipals, roots: Slots) -> Sequence[Route]:
        """`POST /internal/v1/invocations`: executes an authorized root Invocation for the Control Plane."""

        async def authenticate(request: Request) -> None:
            await principals.authenticate(request)  # 1
            _take_named_trace(request)

        path = "/internal/v1/invocations"
        spanned = Spanned.UNDER_CALLER
        return [Route("POST", path, self.dispatch, Envelope.INVOCATION, authenticate, roots, spanned=spanned)]  # 2

    async def dispatch(self, request: Request) -> RouteAnswer:
        raw = await receive_json(request, self._limits.request_bytes + CONTEXT_BYTES)  # 3
        # Its time runs from here: what the sender needed for its body takes nothing from the Agent.
        received, phases = asyncio.get_running_loop().time(), RequestPhases()
        body = await checked_json(request, document("router-dispatch/3"), raw)
        dispatch = _decode(body.raw)
        request.trace_id = dispatch.trace_id
        request.phases, phases.span = phases, request.span()
        require_agreement(request, stream=dispatch.stream)
        value = body.member("input")
        call = AuthorizedCall(dispatch.context, bytes(dispatch.input), value, dispatch.stream, received, phases)
        return await self.answer(request, call)

    async def answer(self, request: Request, call: AuthorizedCall) -> RouteAnswer:
        """Raises a Refusal before the Invocation is accepted; from then on the answer is its outcome."""
        context, phases, disconnect = call.context, call.phases, request.server.disconnect
        if phases.span is not None:
            phases.span.attributes.update(span_attributes(call))
        phases.enter(self._phase_kinds.resolve)
        self._resolution.require_usable(context.pin.release)
        card = await self._resolution.card(context, phases.headers())  # 4
        if phases.span is not None:
            phases.span.attributes["aop.agent.name"] = card.name
        phases.enter(self._phase_kinds.accept)
        deadline = await self._boundary.require_input(call, card)  # 5
        if disconnect.is_set():
            raise CallerLeft("before acceptance")
        # Again, because a change may have arrived while the Card was asked for or the input checked.
        self._resolution.require_usable(context.pin.release)
        accepted = await self._boundary.record(call, card, deadline)  # 6
        request.invocation_id = context.lineage.invocation
        if isinstance(accepted, EndedAtAcceptance):
            self._execution.conclude(phases, accepted.outcome)
            return outcome_response(accepted.outcome, context.lineage)  # 9
        if disconnect.is_set():
            accepted.stop(StopReason.CALLER_LEFT)
        if call.stream:
            return self._streamed(accepted)
        # The slot is held until the terminal is recorded, also when nobody waits for it any more.
        return outcome_response(await self._run_here(accepted, disconnect), context.lineage)  # 7, 8, 9

    async def _run(self, running: RunningInvocation) -> Outcome:
        phases, kinds, execution = running.phases, self._phase_kinds, self._execution
        phases.enter(kinds.agent, None if phases.span is None else agent_span_id(running.lineage.invocation))
        outcome, leaves_task = await execution.worked(running)  # 7
        phases.enter(kinds.terminal, fault=outcome.terminal.error)
        recorded = await execution.recorded(running, outcome)  # 8
        phases.end(None if recorded is outcome else recorded.terminal.error)
        self._supervisor.ended(running, recorded)
        execution.conclude(phases, recorded)
        if running.stream is not None and phases.span is not None:
            phases.span.attributes["aop.stream.chunks"] = running.stream.frames.chunks
        running.ended.set_result(recorded)
        if leaves_task and running.task.may_run:
            self._supervisor.keep(running.conversation.cancel(running.task.task_id or ""))
        return recorded

    async def _run_here(self, running: RunningInvocation, disconnect: Disconnect) -> Outcome:
        """JSON mode: the task of the request does the work itself, until the terminal is recorded."""

        def leave() -> None:
            self._supervisor.keep(self._execution.leave(running))

        self._supervisor.enter(running)
        disconnect.add_callback(leave)
        try:
            return await self._run(running)
        except asyncio.CancelledError:
            await self._execution.abandon(running)
            raise
        finally:
            disconnect.remove_callback(leave)

    def _streamed(self, running: RunningInvocation) -> EventStream:
        """Stream mode: a task of the supervisor does the work, whether or not its caller waits."""
        running.phases.end()  # its task enters the next one, a little later
        delivery = self._execution.open_stream(running, self._limits.frame_bytes)
        self._supervisor.start(running, self._run(running))  # 7, 8
        headers = id_headers(running.lineage)
        return EventStream(  # 9
            self._frames(running, delivery),
            headers,
            failure=lambda: _failure(running),
            write_by=delivery.outbox.write_by,
        )

    async def _frames(self, running: RunningInvocation, delivery: StreamDelivery) -> AsyncGenerator[bytes, None]:
        """A caller who leaves early ends the Invocation `canceled`. This ends when the terminal is recorded."""
        taken_all = False
        try:
            while (piece := await delivery.outbox.take()) is not None:
                yield piece
            taken_all = True
        finally:
            if not taken_all:
                await self._execution.leave(running)
            await asyncio.shield(running.ended)


def _failure(running: RunningInvocation) -> StreamFailure | None:
    if not running.ended.done():
        return None
    terminal = running.ended.result().terminal
    return None if terminal.error is None else (terminal.error, terminal.reason)


def _take_named_trace(request: Request) -> None:
    """Errors that come before the body is read bear the Gateway's trace too."""
    named = (request.single_header(TRACE_HEADER) or b"").decode("latin-1")
    if is_trace_id(named):
        request.trace_id = named
