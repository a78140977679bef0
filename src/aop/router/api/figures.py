"""The figures of a Workspace, for the Control Plane."""

from collections.abc import Sequence

from aop.base.clock import Clock
from aop.contracts.errors import Envelope
from aop.contracts.figures import WINDOW_QUERY, Window
from aop.ledger.figures.reader import FiguresReader
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.edge.request import Request
from aop.serving.edge.response import Response, json_response
from aop.serving.edge.routing import Route, Spanned

_FIGURES = "/internal/v1/workspaces/:workspaceId/figures"


class FiguresReadRoutes:
    def __init__(self, figures: FiguresReader, clock: Clock) -> None:
        self._figures = figures
        self._clock = clock

    def routes(self, principals: ServicePrincipals) -> Sequence[Route]:
        # It has a trace of its own, so that its span would stand alone beside the Gateway's.
        v4, authenticate, no = Envelope.INVOCATION, principals.authenticate, Spanned.NOT
        return [Route("GET", _FIGURES, self.figures, v4, authenticate, query=WINDOW_QUERY, spanned=no)]

    async def figures(self, request: Request) -> Response:
        window = Window.of(request.query, self._clock())
        return json_response(200, await self._figures.read(request.path["workspaceId"], window))
