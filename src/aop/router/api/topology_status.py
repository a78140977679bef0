"""`GET /internal/v1/topology/status`: the read-only view of the watched topology, of the worker furthest behind."""

from collections.abc import Sequence

import msgspec

from aop.base.clock import now_text
from aop.base.settings import identifier
from aop.contracts.topology import SourceState, TopologySource, TopologyStatus
from aop.router.api.ledger_reads import read_route
from aop.router.targets.topology import STATES, Topology
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.edge.query import QueryRules
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route
from aop.serving.workers.worker_group import WorkerGroup

_QUERY: QueryRules = {"releaseId": identifier}
_QUESTION = "topology"


class View(msgspec.Struct, array_like=True):
    """What a worker knows, and up to which revision of the source."""

    revision: int
    status: TopologyStatus


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(View).decode


def topology_status_routes(topology: Topology, principals: ServicePrincipals, group: WorkerGroup) -> Sequence[Route]:
    async def answer(release_id: bytes) -> bytes:
        return _encode(View(topology.after or 0, topology.status(release_id.decode() or None)))

    async def read(request: Request) -> Response:
        if group.is_alone:  # packing all of it for nobody else would hold up the loop
            return json_response(200, topology.status(request.query.get("releaseId")))
        answers = await group.ask_all(_QUESTION, request.query.get("releaseId", "").encode())
        return json_response(200, least_advanced([None if one is None else _decode(one) for one in answers]))

    group.answers(_QUESTION, answer)
    return [read_route(principals, "/internal/v1/topology/status", read, _QUERY)]


def least_advanced(views: Sequence[View | None]) -> TopologyStatus:
    """What a worker that does not answer has seen is not known: the source then counts as lost."""
    known = [view for view in views if view is not None]
    if not known:
        return TopologyStatus(schema_version="1", source=_unknown(), observations=())
    status = min(known, key=lambda view: (STATES.index(view.status.source.state), view.revision)).status
    if len(known) < len(views) and status.source.state is SourceState.LIVE:
        return msgspec.structs.replace(status, source=_unknown())
    return status


def _unknown() -> TopologySource:
    return TopologySource(state=SourceState.LOST, since=now_text())
