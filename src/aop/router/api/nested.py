"""`POST /agent/v1/invocations`: an Agent calls another one, as part of the Invocation it is running.

These are the first steps of such a call; `api.invocations` has the rest.
"""

import asyncio
from collections.abc import Sequence
from typing import cast

import msgspec

from aop.base.ids import new_id
from aop.contracts.delegation import DelegationClaims
from aop.contracts.documents import document
from aop.contracts.errors import Envelope
from aop.contracts.identity import Caller, CallerType, InvocationContext
from aop.contracts.invocation import NestedInvocationRequest
from aop.contracts.resolution import ResolveInstalledVersionRequest
from aop.ledger.read.reader import LedgerReader
from aop.router.api.delegation import Delegations
from aop.router.api.invocations import Invocations
from aop.router.invocation.acceptance import AuthorizedCall
from aop.router.invocation.parents import require_one_more_child
from aop.router.targets.resolution import Resolution
from aop.serving.edge.admission import Slots
from aop.serving.edge.body import read_json
from aop.serving.edge.request import Request, require_agreement
from aop.serving.edge.routing import Route, RouteAnswer, Spanned
from aop.telemetry.phases import PhaseKind, RequestPhases

_decode = msgspec.json.Decoder(NestedInvocationRequest).decode


class NestedInvocationRoutes:
    def __init__(
        self, ledger: LedgerReader, resolution: Resolution, invocations: Invocations, phase: PhaseKind, max_bytes: int
    ) -> None:
        """`phase` is what the search for the installed version counts as."""
        self._ledger = ledger
        self._resolution = resolution
        self._invocations = invocations
        self._phase = phase
        self._max_bytes = max_bytes

    def routes(self, delegations: Delegations, children: Slots) -> Sequence[Route]:
        path = "/agent/v1/invocations"
        authenticate, spanned = delegations.authenticate, Spanned.UNDER_CALLER
        return [Route("POST", path, self.invoke, Envelope.INVOCATION, authenticate, children, spanned=spanned)]

    async def invoke(self, request: Request) -> RouteAnswer:
        received, phases = asyncio.get_running_loop().time(), RequestPhases()
        claims = cast("DelegationClaims", request.grant)
        request.phases, phases.span = phases, request.span(called_by=claims.invocation_id)
        body = await read_json(request, document("nested-invocation-request/2"), self._max_bytes)
        nested = _decode(body.raw)
        require_agreement(request, stream=nested.stream)
        require_one_more_child(await self._ledger.parent(claims.invocation_id, claims.root_task_id), claims)
        lineage = claims.child(new_id("inv"))
        phases.enter(self._phase)
        version = await self._resolution.installed(
            ResolveInstalledVersionRequest(
                **lineage.ids,
                workspace_id=claims.workspace_id,
                agent_id=nested.target_agent_id,
                capability=nested.capability,
            ),
            phases.headers(),
        )
        pin = version.pin(claims.workspace_id, nested.target_agent_id)
        caller = Caller(type=CallerType.AGENT, id=claims.agent_id)
        context = InvocationContext(lineage, pin, caller, nested.capability, version.authorization_digest)
        value = body.member("input")
        call = AuthorizedCall(context, bytes(nested.input), value, nested.stream, received, phases)
        return await self._invocations.answer(request, call)
