"""`/internal/v1/resolve-agent` and `resolve-installed-version`: what a Workspace may run, answered to Routers."""

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
from aop.control_plane.dispatch.authorization import Authorization, Authorized, Wanted
from aop.serving.admission import Slots
from aop.serving.bearer import ServicePrincipals
from aop.serving.body import read_json
from aop.serving.request import Request
from aop.serving.response import Response, json_response
from aop.serving.routing import Call, Route, Spanned

_PATH = "/internal/v1"


class ResolveRoutes:
    def __init__(self, authorization: Authorization, request_max_bytes: int) -> None:
        self._authorization = authorization
        self._request_max_bytes = request_max_bytes

    def routes(self, principals: ServicePrincipals, slots: Slots) -> Sequence[Route]:
        def route(path: str, call: Call) -> Route:
            v3, known, below = Envelope.WORKSPACE, principals.authenticate, Spanned.BELOW_CALLER
            return Route("POST", f"{_PATH}/{path}", call, v3, known, slots, spanned=below)

        return [
            route("resolve-agent", self.resolve_agent),
            route("resolve-installed-version", self.resolve_installed_version),
        ]

    async def resolve_agent(self, request: Request) -> Response:
        body = await read_json(request, document("resolve-agent/1#request"), self._request_max_bytes)
        asked = msgspec.json.decode(body.raw, type=ResolveAgentRequest)
        _name(request, asked)
        wanted = Wanted(asked.workspace_id, asked.agent_id, asked.capability, asked.version)
        authorized = await self._authorization.for_router(wanted)
        card = await self._authorization.card(authorized)
        return json_response(200, ResolvedAgent(card=msgspec.Raw(card), installation=_installation(authorized)))

    async def resolve_installed_version(self, request: Request) -> Response:
        body = await read_json(request, document("resolve-installed-version/1#request"), self._request_max_bytes)
        asked = msgspec.json.decode(body.raw, type=ResolveInstalledVersionRequest)
        _name(request, asked)
        found = await self._authorization.for_router(Wanted(asked.workspace_id, asked.agent_id, asked.capability))
        answer = InstalledVersion(
            version=found.version, release_id=found.release_id, agent_card_digest=found.card_digest
        )
        return json_response(200, answer)


def _name(request: Request, asked: ResolveAgentRequest | ResolveInstalledVersionRequest) -> None:
    """From here on the exchange belongs to the Trace of the call that is being resolved, its errors too."""
    request.trace_id = asked.trace_id
    request.invocation_id = asked.invocation_id


def _installation(authorized: Authorized) -> ResolvedInstallation:
    return ResolvedInstallation(
        installation_id=authorized.installation_id,
        workspace_id=authorized.workspace_id,
        agent_id=authorized.agent_id,
        installed_version=authorized.version,
        installed_release_id=authorized.release_id,
        agent_card_digest=authorized.card_digest,
        accepted_permissions=tuple(authorized.accepted_permissions),
        status="enabled",
    )
