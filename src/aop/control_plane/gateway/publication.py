"""Routes of trusted publication: Endpoint Bindings, Challenges and Releases."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from aop.base.settings import identifier
from aop.contracts.documents import document
from aop.contracts.errors import Envelope
from aop.contracts.publication import BindingRequest, ReleaseRequest
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.gateway.answers import answer_of, list_response
from aop.control_plane.pages import ListPage, TimePosition
from aop.control_plane.registry.bindings import Bindings
from aop.control_plane.registry.challenges import Challenges
from aop.control_plane.registry.releases import Releases
from aop.serving.edge.body import read_json
from aop.serving.edge.paging import PAGE_QUERY, Paging, SafeIdentifier
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Call, Route

_PROVIDER = "/v1/providers/:providerId"
_BINDINGS = f"{_PROVIDER}/endpoint-bindings"
_BINDING = f"{_BINDINGS}/:bindingId"
_BINDING_NAMES = ("providerId", "bindingId")
_CHALLENGES = f"{_BINDING}/challenges"
_RELEASE = "/v1/releases/:releaseId"
_OF_AGENT = {**PAGE_QUERY, "agentId": identifier}


class PublicationRoutes:
    def __init__(self, bindings: Bindings, challenges: Challenges, releases: Releases, request_max_bytes: int) -> None:
        self._bindings = bindings
        self._challenges = challenges
        self._releases = releases
        self._request_max_bytes = request_max_bytes

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        v2, bindings, releases = Envelope.CATALOG, self._bindings, self._releases
        return [
            access.route("POST", f"{_PROVIDER}/agents/:agentId/endpoint-bindings", self.create_binding, v2),
            access.route("GET", _BINDINGS, _list("provider-bindings", bindings.page), v2, _OF_AGENT),
            access.route("GET", _BINDING, answer_of(bindings.read, *_BINDING_NAMES), v2),
            access.route("POST", _CHALLENGES, answer_of(self._challenges.create, *_BINDING_NAMES, status=201), v2),
            access.route(
                "POST",
                f"{_CHALLENGES}/:challengeId/complete",
                answer_of(self._challenges.complete, *_BINDING_NAMES, "challengeId"),
                v2,
            ),
            access.route("POST", f"{_PROVIDER}/agents/:agentId/releases", self.create_release, v2),
            access.route("GET", f"{_PROVIDER}/releases", _list("provider-releases", releases.page), v2, _OF_AGENT),
            access.route("GET", _RELEASE, answer_of(releases.read, "releaseId"), v2),
            access.route("POST", f"{_RELEASE}/verify", answer_of(releases.verify, "releaseId"), v2),
            access.route("POST", f"{_RELEASE}/publish", answer_of(releases.publish, "releaseId"), v2),
            access.route("POST", f"{_RELEASE}/suspend", answer_of(releases.suspend, "releaseId"), v2),
            access.route("POST", f"{_RELEASE}/revoke", answer_of(releases.revoke, "releaseId"), v2),
        ]

    async def create_binding(self, request: Request) -> Response:
        body = await read_json(request, document("endpoint-binding/1#createRequest"), self._request_max_bytes)
        binding = msgspec.json.decode(body.raw, type=BindingRequest)
        path = request.path
        return json_response(
            201, await self._bindings.create(request.principal, path["providerId"], path["agentId"], binding)
        )

    async def create_release(self, request: Request) -> Response:
        body = await read_json(request, document("release/2#createRequest"), self._request_max_bytes)
        release = msgspec.json.decode(body.raw, type=ReleaseRequest)
        path = request.path
        return json_response(
            201, await self._releases.create(request.principal, path["providerId"], path["agentId"], release)
        )


def _list(name: str, read: Callable[..., Awaitable[ListPage[Any, TimePosition]]]) -> Call:
    """What a provider has, newest first, of all its Agents or of one."""

    async def call(request: Request) -> Response:
        paging = Paging(name, tuple[datetime, SafeIdentifier], request)
        provider_id, agent_id = request.path["providerId"], request.query.get("agentId")
        return list_response(paging, await read(request.principal, provider_id, agent_id, paging.after, paging.limit))

    return call
