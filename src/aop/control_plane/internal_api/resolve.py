"""`/internal/v1/resolve-agent` and `resolve-installed-version`: tell Routers what a Workspace may run."""

from collections.abc import Sequence

import msgspec

from aop.contracts.documents import document
from aop.contracts.errors import Envelope
from aop.contracts.resolution import (
    InstalledVersion,
    ResolveAgentRequest,
    ResolvedAgent,
    ResolvedInstallation,
    ResolveInstalledVersionRequest,
)
from aop.control_plane.dispatch.authorization import AccessRequest, Authorization
from aop.serving.edge.admission import Slots
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.edge.body import read_json
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Call, Route, Spanned

_PATH = "/internal/v1"


class ResolveRoutes:
    def __init__(self, authorization: Authorization, request_max_bytes: int) -> None:
        self._authorization = authorization
        self._request_max_bytes = request_max_bytes

    def routes(self, principals: ServicePrincipals, slots: Slots) -> Sequence[Route]:
        def route(path: str, call: Call) -> Route:
            v3, authenticate = Envelope.WORKSPACE, principals.authenticate
            return Route("POST", f"{_PATH}/{path}", call, v3, authenticate, slots, spanned=Spanned.UNDER_CALLER)

        return [
            route("resolve-agent", self.resolve_agent),
            route("resolve-installed-version", self.resolve_installed_version),
        ]

    async def resolve_agent(self, request: Request) -> Response:
        body = await read_json(request, document("resolve-agent/1#request"), self._request_max_bytes)
        query = msgspec.json.decode(body.raw, type=ResolveAgentRequest)
        _set_trace(request, query)
        access = AccessRequest(query.workspace_id, query.agent_id, query.capability, query.version)
        authorized = await self._authorization.for_router(access)
        card = await self._authorization.card(authorized.pin)
        installation = ResolvedInstallation.of(
            authorized.pin, authorized.installation_id, authorized.accepted_permissions
        )
        return json_response(200, ResolvedAgent(card=msgspec.Raw(card), installation=installation))

    async def resolve_installed_version(self, request: Request) -> Response:
        body = await read_json(request, document("resolve-installed-version/2#request"), self._request_max_bytes)
        query = msgspec.json.decode(body.raw, type=ResolveInstalledVersionRequest)
        _set_trace(request, query)
        access = AccessRequest(query.workspace_id, query.agent_id, query.capability)
        authorized = await self._authorization.for_router(access)
        pin = authorized.pin
        answer = InstalledVersion(
            version=pin.version,
            release_id=pin.release,
            agent_card_digest=pin.card_digest,
            authorization_digest=authorized.document.digest,
        )
        return json_response(200, answer)


def _set_trace(request: Request, query: ResolveInstalledVersionRequest) -> None:
    """Puts the request, and its errors, into the Trace of the call that is being resolved."""
    request.trace_id = query.trace_id
    request.invocation_id = query.invocation_id
