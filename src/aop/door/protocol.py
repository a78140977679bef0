"""The seam between the door and the protocols that it speaks: what a protocol gets, and what it gives.

A protocol is a package below `aop.door` with a function of the type `Speaks`: it takes the DoorParts, once, and gives
its DoorRoutes. `aop.door.app` lists these functions. For every request that comes to one of its routes, the door has
already done this:

- Host and Origin are allowed, and the path is known;
- there is exactly one bearer, and the Gateway knows it, at this moment or some seconds ago. What it may do is not
  judged yet: whatever is said about the Workspace must have come from the Gateway in this request, through
  `request.caller`;
- a place is free, and the identifiers of the path are well-formed. Nothing of the body has been read;
- a caller who leaves before the answer begins cancels `serve`; one who leaves later cancels the source of an
  EventStream. Both end the Invocation, because leaving `caller.invoke` or `caller.stream` does.

What `serve` raises becomes the answer: a GatewayFault or another Refusal as the Gateway would answer it, anything else
as INTERNAL_ERROR. A failure after acceptance (`fault.invocation_id` is set) is sent in the form of the protocol.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from aop.base.loops import Loops
from aop.door.gateway import Gateway
from aop.door.request import DoorRequest
from aop.door.settings import DoorSettings
from aop.serving.edge.metrics import UnitMetrics
from aop.serving.edge.request_log import UnitLog
from aop.serving.edge.routing import RouteAnswer
from aop.serving.workers.worker_group import WorkerGroup

Serve = Callable[[DoorRequest], Awaitable[RouteAnswer]]


@dataclass(frozen=True)
class DoorRoute:
    """`path` begins with `/a2a/:workspaceId` or `/mcp/:workspaceId`."""

    method: str
    path: str
    serve: Serve
    watches: bool = False
    """An answer that goes on for as long as its reader likes. It takes a place of its own kind, and must end when
    `parts.ending` is set."""


@dataclass(frozen=True)
class DoorParts:
    """What all requests of a protocol share; `opened` closes what the protocol opens, before the way to the Gateway."""

    settings: DoorSettings
    gateway: Gateway
    log: UnitLog
    metrics: UnitMetrics
    loops: Loops
    opened: AsyncExitStack
    group: WorkerGroup
    """The workers of this door: a second message about a call may come to another one than the call did."""
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when new work is refused, at the end."""


Speaks = Callable[[DoorParts], Sequence[DoorRoute]]
