"""Proofs of the Ledger's tree for the Control Plane: of one Invocation, or of a Trace."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Literal

import msgspec

from aop.contracts.errors import (
    Conflict,
    DependencyFailed,
    Envelope,
    InvalidRequest,
    NotFound,
    PayloadTooLarge,
    Reason,
    Violation,
)
from aop.contracts.ledger_tree import LedgerProof
from aop.ledger.months import Archived
from aop.ledger.tree.reader import NotInTree, PartUnknown, ProofPosition, TooManyLeaves, TreeReader
from aop.ledger.tree.store import TreeBroken
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.edge.lineage_query import TRACE_QUERY
from aop.serving.edge.paging import Paging
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route, Spanned

_Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
_Sequence = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
_WORKSPACE = "/internal/v1/workspaces/:workspaceId"


class ProofRoutes:
    def __init__(self, tree: TreeReader) -> None:
        self._tree = tree

    def routes(self, principals: ServicePrincipals) -> Sequence[Route]:
        v4, authenticate, no = Envelope.INVOCATION, principals.authenticate, Spanned.NOT
        of_invocation = f"{_WORKSPACE}/invocations/:invocationId/proof"
        return [
            Route("GET", of_invocation, self.of_invocation, v4, authenticate, spanned=no),
            Route("GET", f"{_WORKSPACE}/traces/:traceId/proof", self.of_trace, v4, authenticate, spanned=no),
            *(
                Route("GET", f"{_WORKSPACE}/{of}/proof/pages", page, v4, authenticate, query=TRACE_QUERY, spanned=no)
                for of, page in (
                    ("invocations/:invocationId", self.page_of_invocation),
                    ("traces/:traceId", self.page_of_trace),
                )
            ),
        ]

    async def of_invocation(self, request: Request) -> Response:
        read = self._tree.of_invocation
        return await _answer(read, request, request.path["invocationId"], Reason.INVOCATION_UNKNOWN)

    async def of_trace(self, request: Request) -> Response:
        return await _answer(self._tree.of_trace, request, request.path["traceId"], Reason.TRACE_UNKNOWN)

    async def page_of_invocation(self, request: Request) -> Response:
        return await self._page(request, "invocation", request.path["invocationId"], Reason.INVOCATION_UNKNOWN)

    async def page_of_trace(self, request: Request) -> Response:
        return await self._page(request, "trace", request.path["traceId"], Reason.TRACE_UNKNOWN)

    async def _page(self, request: Request, of: Literal["invocation", "trace"], name: str, unknown: Reason) -> Response:
        paging = Paging("proof", tuple[_Count, _Count, _Sequence], request)
        begin = None if paging.after is None else ProofPosition(*paging.after)
        with _refusals():
            found = await self._tree.page(request.path["workspaceId"], of, name, begin)
        if found is None:
            raise NotFound("nothing recorded", reason=unknown)
        page, following = found
        cursor = (
            msgspec.UNSET
            if following is None
            else paging.cursor((following.size, following.number, following.sequence))
        )
        return json_response(200, msgspec.structs.replace(page, next_cursor=cursor))


async def _answer(
    read: Callable[[str, str], Awaitable[LedgerProof | None]], request: Request, name: str, unknown: Reason
) -> Response:
    with _refusals():
        proof = await read(request.path["workspaceId"], name)
    if proof is None:
        raise NotFound("nothing recorded", reason=unknown)
    return json_response(200, proof)


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except NotInTree as early:
        raise Conflict(str(early), reason=Reason.NOT_NUMBERED_YET) from None
    except TooManyLeaves:
        raise PayloadTooLarge("the proof") from None
    except PartUnknown:
        raise InvalidRequest(Violation("/cursor", "cursor")) from None
    except Archived:
        raise NotFound("archived", reason=Reason.ARCHIVED) from None
    except TreeBroken as broken:
        raise DependencyFailed(str(broken)) from None
