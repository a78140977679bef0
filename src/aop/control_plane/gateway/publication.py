"""Routes of trusted publication: Endpoint Bindings, Challenges and Releases."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from aop.contracts.documents import document
from aop.contracts.errors import Envelope
from aop.contracts.publication import BindingRequest, Release, ReleaseRequest
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.registry.bindings import Bindings
from aop.control_plane.registry.challenges import Challenges
from aop.control_plane.registry.releases import Releases
from aop.serving.edge.body import read_json
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Call, Route

_PROVIDER = "/v1/providers/:providerId"
_BINDING = f"{_PROVIDER}/endpoint-bindings/:bindingId"
_RELEASE = "/v1/releases/:releaseId"


class PublicationRoutes:
    def __init__(self, bindings: Bindings, challenges: Challenges, releases: Releases, request_max_bytes: int) -> None:
        self._bindings = bindings
        self._challenges = challenges
        self._releases = releases
        self._request_max_bytes = request_max_bytes

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        v2, releases = Envelope.CATALOG, self._releases
        return [
            access.route("POST", f"{_PROVIDER}/agents/:agentId/endpoint-bindings", self.create_binding, v2),
            access.route("GET", _BINDING, self.read_binding, v2),
            access.route("POST", f"{_BINDING}/challenges", self.create_challenge, v2),
            access.route("POST", f"{_BINDING}/challenges/:challengeId/complete", self.complete_challenge, v2),
            access.route("POST", f"{_PROVIDER}/agents/:agentId/releases", self.create_release, v2),
            access.route("GET", _RELEASE, _on_release(releases.read), v2),
            access.route("POST", f"{_RELEASE}/verify", _on_release(releases.verify), v2),
            access.route("POST", f"{_RELEASE}/publish", _on_release(releases.publish), v2),
            access.route("POST", f"{_RELEASE}/suspend", _on_release(releases.suspend), v2),
            access.route("POST", f"{_RELEASE}/revoke", _on_release(releases.revoke), v2),
        ]

    async def create_binding(self, request: Request) -> Response:
        body = await read_json(request, document("endpoint-binding/1#createRequest"), self._request_max_bytes)
        binding = msgspec.json.decode(body.raw, type=BindingRequest)
        path = request.path
        return json_response(
            201, await self._bindings.create(request.principal, path["providerId"], path["agentId"], binding)
        )

    async def read_binding(self, request: Request) -> Response:
        path = request.path
        return json_response(200, await self._bindings.read(request.principal, path["providerId"], path["bindingId"]))

    async def create_challenge(self, request: Request) -> Response:
        path = request.path
        return json_response(
            201, await self._challenges.create(request.principal, path["providerId"], path["bindingId"])
        )

    async def complete_challenge(self, request: Request) -> Response:
        path = request.path
        binding = await self._challenges.complete(
            request.principal, path["providerId"], path["bindingId"], path["challengeId"]
        )
        return json_response(200, binding)

    async def create_release(self, request: Request) -> Response:
        body = await read_json(request, document("release/2#createRequest"), self._request_max_bytes)
        release = msgspec.json.decode(body.raw, type=ReleaseRequest)
        path = request.path
        return json_response(
            201, await self._releases.create(request.principal, path["providerId"], path["agentId"], release)
        )


def _on_release(act: Callable[[str, str], Awaitable[Release]]) -> Call:
    async def call(request: Request) -> Response:
        return json_response(200, await act(request.principal, request.path["releaseId"]))

    return call
