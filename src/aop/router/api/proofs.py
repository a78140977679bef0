"""Proofs of the Ledger's tree for the Control Plane: of one Invocation, or of a Trace."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final, Literal, NamedTuple

import msgspec

from aop.contracts.errors import NotFound, Reason
from aop.ledger.tree.reader import ProofPosition, TreeReader
from aop.router.api.ledger_reads import WORKSPACE, Count, ledger_refusals, read_route
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.edge.lineage_query import TRACE_QUERY
from aop.serving.edge.paging import Paging
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route

_Sequence = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]


class _Subject(NamedTuple):
    """What a proof is of, the part of the path that names it, and why there may be none."""

    of: Literal["invocation", "trace"]
    parameter: str
    unknown: Reason


_SUBJECTS: Final = (
    _Subject("invocation", "invocationId", Reason.INVOCATION_UNKNOWN),
    _Subject("trace", "traceId", Reason.TRACE_UNKNOWN),
)


class ProofRoutes:
    def __init__(self, tree: TreeReader) -> None:
        self._tree = tree

    def routes(self, principals: ServicePrincipals) -> Sequence[Route]:
        routes = list[Route]()
        for subject in _SUBJECTS:
            path = f"{WORKSPACE}/{subject.of}s/:{subject.parameter}/proof"
            routes.append(read_route(principals, path, partial(self.whole, subject)))
            routes.append(read_route(principals, f"{path}/pages", partial(self.page, subject), TRACE_QUERY))
        return routes

    async def whole(self, subject: _Subject, request: Request) -> Response:
        read = self._tree.of_invocation if subject.of == "invocation" else self._tree.of_trace
        with ledger_refusals():
            proof = await read(request.path["workspaceId"], request.path[subject.parameter])
        if proof is None:
            raise NotFound("nothing recorded", reason=subject.unknown)
        return json_response(200, proof)

    async def page(self, subject: _Subject, request: Request) -> Response:
        paging = Paging("proof", tuple[Count, Count, _Sequence], request)
        begin = None if paging.after is None else ProofPosition(*paging.after)
        with ledger_refusals():
            found = await self._tree.page(
                request.path["workspaceId"], subject.of, request.path[subject.parameter], begin
            )
        if found is None:
            raise NotFound("nothing recorded", reason=subject.unknown)
        page, following = found
        return json_response(200, msgspec.structs.replace(page, next_cursor=paging.next_cursor(following)))
