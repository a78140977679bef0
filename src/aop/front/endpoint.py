"""The side of the Router: JSON-RPC of A2A 0.3 at the path of each Agent, and the public pages."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from aop.a2a.rpc import MethodNotFound, RequestId, RpcFault, TooManyTasks, read_request
from aop.agent.guard.guard import JSON, NO_STORE, Verified, reject, respond
from aop.agent.server.call_log import LoggedCall
from aop.agent.server.endpoint import NOT_FOUND, WRONG_METHOD, refuse, require_json
from aop.agent.server.methods import SEND, STREAM
from aop.contracts.errors import Overloaded
from aop.contracts.health import Health, HealthStatus
from aop.front.agent import FrontedAgent
from aop.front.call import FrontCall
from aop.front.limits import FrontMemory
from aop.front.routes import HttpRoutes
from aop.net.asgi import Receive, Scope, Send
from aop.serving.edge.admission import Slots
from aop.serving.unit.health import Readiness

GET: Final = "tasks/get"
CANCEL: Final = "tasks/cancel"
READY_PATH: Final = "/readyz"
_NOT_READY: Final = msgspec.json.encode(Health(status=HealthStatus.UNAVAILABLE))
_METHODS: Final = frozenset({SEND, STREAM, GET, CANCEL})


@dataclass(frozen=True)
class FrontEndpoint:
    """Behind the guard: what comes here is from the Router, or a read of a public page."""

    agents: Mapping[str, FrontedAgent]
    """By path."""
    pages: Mapping[str, bytes]
    slots: Slots
    readiness: Readiness
    memory: FrontMemory = field(default_factory=FrontMemory)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What calls no Agent."""
        path = scope["path"]
        if path == READY_PATH and not await self.readiness.ready():
            await respond(send, 503, [JSON, NO_STORE], _NOT_READY)
        elif path in self.pages:
            await respond(send, 200, [JSON], self.pages[path])
        elif path not in self.agents:
            await respond(send, 404, [JSON], NOT_FOUND)
        else:
            await respond(send, 405, [JSON, (b"allow", b"POST")], WRONG_METHOD)

    async def post(self, found: Verified, scope: Scope, receive: Receive, send: Send) -> None:
        agent = self.agents.get(scope["path"])
        if agent is None:
            await self(scope, receive, send)
        elif not agent.is_addressed_by(found.claims.agent_id, found.claims.agent_version):
            await reject(403, send)
        else:
            await self._serve(agent, found, scope, send)

    async def _serve(self, agent: FrontedAgent, found: Verified, scope: Scope, send: Send) -> None:
        call = LoggedCall(found.claims, "unknown")
        request_id: RequestId = None
        try:
            require_json(found.sent.single(b"content-type"))
            request = read_request(found.body)
            request_id = request.id
            if request.method not in _METHODS:
                raise MethodNotFound
            call.method = request.method
            self.slots.take()
            try:
                await _act(FrontCall(agent, call, request, found.sent, scope, send, self.memory))
            finally:
                self.slots.give_back()
        except RpcFault as fault:
            call.record("refused", fault)
            await refuse(send, fault.request_id if request_id is None else request_id, fault)
        except Overloaded as full:
            call.record("refused", full)
            await refuse(send, request_id, TooManyTasks())


def _act(call: FrontCall) -> Awaitable[None]:
    if call.request.method == GET:
        return call.get()
    if call.request.method == CANCEL:
        return call.cancel()
    speaks = call.agent.speaks
    return call.through_route(speaks) if isinstance(speaks, HttpRoutes) else call.through(speaks)
