"""Routes that show the owner of a Release what depends on it, and whether the Router has learned of its state."""

from collections.abc import Sequence

import msgspec

from aop.contracts.errors import DependencyFailed, Envelope, Reason
from aop.contracts.reach import ReleaseObservation, ReleaseReach
from aop.control_plane.dispatch.lineage import LineageReads
from aop.control_plane.dispatch.router_client import RouterClient, RouterUnavailable
from aop.control_plane.gateway.access import GatewayAccess
from aop.control_plane.registry.releases import Releases
from aop.control_plane.workspace.installations import Installations
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route

_RELEASE = "/v1/releases/:releaseId"


class ReachRoutes:
    def __init__(
        self, releases: Releases, installations: Installations, lineage: LineageReads, router: RouterClient
    ) -> None:
        self._releases = releases
        self._installations = installations
        self._lineage = lineage
        self._router = router

    def routes(self, access: GatewayAccess) -> Sequence[Route]:
        v2 = Envelope.CATALOG
        return [
            access.route("GET", f"{_RELEASE}/reach", self.reach, v2),
            access.route("GET", f"{_RELEASE}/observation", self.observation, v2),
        ]

    async def reach(self, request: Request) -> Response:
        release_id = await self._own_release(request)
        installed = await self._installations.count(release_id)
        calls = await self._lineage.calls_of(release_id)
        reach = ReleaseReach(
            **msgspec.structs.asdict(calls),
            # A Workspace has at most one current Installation of an Agent.
            workspaces=installed.enabled + installed.disabled,
            enabled_installations=installed.enabled,
            disabled_installations=installed.disabled,
        )
        return json_response(200, reach)

    async def observation(self, request: Request) -> Response:
        release_id = await self._own_release(request)
        try:
            status = await self._router.topology_status(release_id)
        except RouterUnavailable as failure:
            raise DependencyFailed(f"observation: {failure}", reason=Reason.ROUTER_UNREACHABLE) from failure
        observed = [one for one in status.observations if one.release_id == release_id]
        return json_response(
            200,
            ReleaseObservation(
                release_id=release_id,
                source=status.source.state,
                state=observed[0].state if observed else msgspec.UNSET,
                observed_at=observed[0].observed_at if observed else msgspec.UNSET,
            ),
        )

    async def _own_release(self, request: Request) -> str:
        release_id = request.path["releaseId"]
        await self._releases.require_own(request.principal, release_id)
        return release_id
