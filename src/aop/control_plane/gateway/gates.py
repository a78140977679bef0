"""What stands in front of every Gateway route: who may call, and how many at once."""

from dataclasses import dataclass
from typing import Final

from aop.contracts.errors import Envelope
from aop.control_plane.gateway.callers import Callers
from aop.serving.admission import Slots
from aop.serving.query import QueryRules
from aop.serving.routing import Call, Route

MAX_ANONYMOUS: Final = 64


@dataclass(frozen=True)
class Gates:
    callers: Callers
    invocations: Slots
    requests: Slots
    resolves: Slots
    """What Routers ask on behalf of running Invocations; a drain refuses these last."""
    anonymous: Slots
    """Callers without a token take nothing from those who have one."""

    def route(self, method: str, path: str, call: Call, envelope: Envelope, query: QueryRules | None = None) -> Route:
        """A route for authenticated callers, counted among the other calls than invocations."""
        return Route(method, path, call, envelope, self.callers.authenticate, self.requests, query or {})
