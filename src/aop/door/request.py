"""One request at the door: what HTTP has of it, and the caller as whom the Gateway is asked."""

from dataclasses import dataclass

from aop.door.gateway import DoorCaller
from aop.serving.edge.request import Request


@dataclass(frozen=True, slots=True)
class DoorRequest:
    """One request at a route of a protocol, and who makes it. `http.path` has the identifiers of the path."""

    http: Request
    caller: DoorCaller

    def ran(self, trace_id: str | None, invocation_id: str | None) -> None:
        """The Trace and the Invocation that the Gateway gave this request; log, span and answer then name these."""
        if trace_id is not None:
            self.http.trace_id = trace_id
        self.http.invocation_id = invocation_id
