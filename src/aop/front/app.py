"""Composes the front: the guard before its endpoint, one upstream per Agent, one process."""

import socket
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Final

from aop.agent.call.calls import NestedCalls
from aop.agent.guard.guard import NO_STORE, Guard, respond
from aop.agent.guard.proofs import ProofDirectory
from aop.agent.guard.replay import ReplayMemory
from aop.agent.guard.verifier import Verifier
from aop.agent.server.call_log import log_to_stderr
from aop.front.agents import FrontedAgents, Reread, SettingsWatch
from aop.front.endpoint import FrontEndpoint
from aop.front.limits import FrontMemory
from aop.front.settings import ReadFrontSettings
from aop.net.asgi import ASGIApp, Receive, Scope, Send
from aop.net.own_server import own_server
from aop.net.policy import Resolver
from aop.serving.edge.admission import Slots
from aop.serving.edge.metrics import UnitMetrics
from aop.serving.edge.request_log import UnitLog
from aop.serving.unit.background import unit_loops
from aop.serving.unit.health import Readiness
from aop.serving.unit.unit import Unit, serve
from aop.serving.unit.unit_settings import Descriptors, Serving, Stopping

UNIT: Final = "front"
GRACE_SECONDS: Final = 30


async def run(settings: ReadFrontSettings, handed: Sequence[socket.socket] = (), reread: Reread | None = None) -> None:
    """Serves until SIGTERM or SIGINT; running calls then have a grace to end. `reread` finds what the settings gain."""
    log_to_stderr()
    use = Descriptors(settings.max_calls, 0, "/limits/maxCalls")
    serving = Serving(settings.listen, "/listen", Stopping(grace_seconds=GRACE_SECONDS), None, use)
    await serve(serving, lambda: build(settings, reread=reread), UnitLog(UNIT), handed)


async def build(settings: ReadFrontSettings, resolver: Resolver | None = None, reread: Reread | None = None) -> Unit:
    """CannotStart when the address of an Agent may not be contacted."""
    log, metrics = UnitLog(UNIT), UnitMetrics(UNIT)
    async with AsyncExitStack() as opened:
        agents = FrontedAgents(resolver or Resolver())
        opened.push_async_callback(agents.close)
        await agents.add(settings)
        loops = unit_loops(log, metrics)
        opened.push_async_callback(loops.close)
        if reread is not None:
            loops.start("settings", SettingsWatch(settings, reread, agents, log).turn, needed=False)
        slots = Slots(settings.max_calls)
        readiness = Readiness({}, log, metrics)
        application = _application(settings, agents, slots, readiness)
        return Unit(application, readiness, ((slots,),), log, metrics, opened.pop_all().aclose)


def _application(settings: ReadFrontSettings, agents: FrontedAgents, slots: Slots, readiness: Readiness) -> ASGIApp:
    memory = FrontMemory(settings.max_held_bytes)
    endpoint = FrontEndpoint(agents.by_path, agents.pages, slots, readiness, memory)
    guard = Guard(
        endpoint,
        Verifier(settings.trust, ReplayMemory()),
        NestedCalls(settings.trust.issuer),
        ProofDirectory(settings.challenge_directory),
        max_body=settings.max_request_bytes,
        open_paths=agents.open_paths,
    )

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if own_server(scope).ambiguity is not None:
            await respond(send, 400, [NO_STORE], b"")
        elif scope["method"] != "POST":
            await guard(scope, receive, send)
        else:
            found = await guard.verified(scope, receive, send)
            if found is not None:
                await endpoint.post(found, scope, receive, send)

    return application
