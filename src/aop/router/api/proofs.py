"""Proofs of the Ledger's tree for the Control Plane: of one Invocation, or of a Trace."""

from collections.abc import Awaitable, Callable, Sequence

from aop.contracts.errors import Conflict, DependencyFailed, Envelope, NotFound, PayloadTooLarge, Reason
from aop.contracts.ledger_tree import LedgerProof
from aop.ledger.archived import Archived
from aop.ledger.tree.reader import NotInTree, TooManyLeaves, TreeReader
from aop.ledger.tree.store import TreeBroken
from aop.serving.bearer import ServicePrincipals
from aop.serving.request import Request
from aop.serving.response import Response, json_response
from aop.serving.routing import Route, Spanned

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
        ]

    async def of_invocation(self, request: Request) -> Response:
        read = self._tree.of_invocation
        return await _answer(read, request, request.path["invocationId"], Reason.INVOCATION_UNKNOWN)

    async def of_trace(self, request: Request) -> Response:
        return await _answer(self._tree.of_trace, request, request.path["traceId"], Reason.TRACE_UNKNOWN)


async def _answer(
    read: Callable[[str, str], Awaitable[LedgerProof | None]], request: Request, name: str, unknown: Reason
) -> Response:
    try:
        proof = await read(request.path["workspaceId"], name)
    except NotInTree as early:
        raise Conflict(str(early), reason=Reason.NOT_NUMBERED_YET) from None
    except TooManyLeaves:
        raise PayloadTooLarge("the proof") from None
    except Archived:
        raise NotFound("archived", reason=Reason.ARCHIVED) from None
    except TreeBroken as broken:
        raise DependencyFailed(str(broken)) from None
    if proof is None:
        raise NotFound("nothing recorded", reason=unknown)
    return json_response(200, proof)
