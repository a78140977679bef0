"""`POST /agent/v1/invocations`: an Agent calls another one, as part of the Invocation it is running."""

import asyncio
from collections.abc import Sequence
from typing import cast

import msgspec

from aop.base.ids import new_id
from aop.contracts.delegation import DelegationClaims
from aop.contracts.documents import document
from aop.contracts.errors import Envelope
from aop.contracts.invocation import NestedInvocationRequest
from aop.contracts.lineage import CallerType
from aop.contracts.resolution import InstalledVersion, ResolveInstalledVersionRequest
from aop.ledger.lineage import Lineage
from aop.router.api.delegation import Delegations
from aop.router.api.running_answer import RunningAnswers
from aop.router.invocation.acceptance import Accepting, Call
from aop.router.invocation.parents import require_running_parent
from aop.router.metrics import InvocationPhases
from aop.router.targets.resolution import Resolution
from aop.serving.admission import Slots
from aop.serving.body import JsonBody, read_json
from aop.serving.negotiation import require_agreement
from aop.serving.request import Request
from aop.serving.routing import Answer, Route, Spanned
from aop.telemetry.phases import RequestPhases

_decode = msgspec.json.Decoder(NestedInvocationRequest).decode


class NestedInvocationRoutes:
    def __init__(
        self,
        lineage: Lineage,
        resolution: Resolution,
        accepting: Accepting,
        answers: RunningAnswers,
        phase_kinds: InvocationPhases,
        max_bytes: int,
    ) -> None:
        self._lineage = lineage
        self._resolution = resolution
        self._accepting = accepting
        self._answers = answers
        self._phase_kinds = phase_kinds
        self._max_bytes = max_bytes

    def routes(self, delegations: Delegations, children: Slots) -> Sequence[Route]:
        path = "/agent/v1/invocations"
        authenticate, spanned = delegations.authenticate, Spanned.BELOW_CALLER
        return [Route("POST", path, self.invoke, Envelope.INVOCATION, authenticate, children, spanned=spanned)]

    async def invoke(self, request: Request) -> Answer:
        received, phases = asyncio.get_running_loop().time(), RequestPhases()
        claims = cast("DelegationClaims", request.grant)
        request.phases, phases.span = phases, request.span(called_by=claims.invocation_id)
        body = await read_json(request, document("nested-invocation-request/1"), self._max_bytes)
        wanted = _decode(body.raw)
        require_agreement(request, stream=wanted.stream)
        await require_running_parent(self._lineage, claims)
        invocation_id = new_id("inv")
        phases.enter(self._phase_kinds.resolve)
        pin = await self._resolution.installed(
            ResolveInstalledVersionRequest(
                invocation_id=invocation_id,
                root_task_id=claims.root_task_id,
                trace_id=claims.trace_id,
                workspace_id=claims.workspace_id,
                agent_id=wanted.target_agent_id,
                capability=wanted.capability,
            ),
            phases.headers(),
        )
        call = _call(invocation_id, wanted, claims, pin, body, received, phases)
        accepted = await self._accepting.accept(call, request.scope["aop.disconnected"].is_set)
        return await self._answers.answer(request, call, accepted)


def _call(
    invocation_id: str,
    wanted: NestedInvocationRequest,
    claims: DelegationClaims,
    pin: InstalledVersion,
    body: JsonBody,
    received: float,
    phases: RequestPhases,
) -> Call:
    return Call(
        invocation_id=invocation_id,
        root_task_id=claims.root_task_id,
        trace_id=claims.trace_id,
        parent_invocation_id=claims.invocation_id,
        caller_type=CallerType.AGENT,
        caller_id=claims.agent_id,
        workspace_id=claims.workspace_id,
        agent_id=wanted.target_agent_id,
        version=pin.version,
        release_id=pin.release_id,
        card_digest=pin.agent_card_digest,
        capability=wanted.capability,
        content=bytes(wanted.input),
        value=body.member("input"),
        stream=wanted.stream,
        depth=claims.depth + 1,
        received=received,
        phases=phases,
    )
