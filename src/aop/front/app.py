"""Composes the front: the guard before its endpoint, one upstream per Agent, one process."""

import socket
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Final

import msgspec

from aop.agent.call_log import log_to_stderr
from aop.agent.calls import NestedCalls
from aop.agent.card import PUBLIC_CARD_PATH, public_card
from aop.agent.endpoint import HEALTH_PAGES
from aop.agent.guard import NO_STORE, OPEN_PATHS, Guard, respond
from aop.agent.proofs import ProofDirectory
from aop.agent.replay import ReplayMemory
from aop.agent.verifier import Verifier
from aop.contracts.front_settings import Speaks
from aop.front.agent import FrontedAgent
from aop.front.dialect import Dialect, SameDialect
from aop.front.endpoint import FrontEndpoint
from aop.front.limits import FrontMemory
from aop.front.proto_dialect import ProtoDialect
from aop.front.routes import HttpRoutes
from aop.front.settings import AgentBehind, ReadFrontSettings
from aop.front.upstream import AddressNotUsable, Upstream
from aop.net.asgi import ASGIApp, Receive, Scope, Send
from aop.net.policy import Resolver
from aop.serving.admission import Slots
from aop.serving.health import Readiness
from aop.serving.metrics import UnitMetrics
from aop.serving.request_log import UnitLog
from aop.serving.unit import Unit, serve
from aop.serving.unit_settings import CannotStart, Descriptors, Serving, Stopping

UNIT: Final = "front"
GRACE_SECONDS: Final = 30


async def run(settings: ReadFrontSettings, handed: Sequence[socket.socket] = ()) -> None:
    """Serves until SIGTERM or SIGINT; running calls then have a grace to end."""
    log_to_stderr()
    use = Descriptors(settings.max_calls, 0, "/limits/maxCalls")
    serving = Serving(settings.listen, "/listen", Stopping(grace_seconds=GRACE_SECONDS), None, use)
    await serve(serving, lambda: build(settings), handed)


async def build(settings: ReadFrontSettings, resolver: Resolver | None = None) -> Unit:
    """CannotStart when the address of an Agent may not be contacted."""
    log, metrics = UnitLog(UNIT), UnitMetrics(UNIT)
    names = resolver or Resolver()
    async with AsyncExitStack() as opened:
        agents = []
        for behind in settings.agents:
            agents.append(fronted(behind, names))
            opened.push_async_callback(agents[-1].close)
            try:
                await agents[-1].upstream.judge()
            except AddressNotUsable as problem:
                raise CannotStart(f"{behind.card.agent_id}: its address cannot be used: {problem}") from None
        slots = Slots(settings.max_calls)
        readiness = Readiness({}, log, metrics)
        application = _application(settings, agents, slots, readiness)
        return Unit(application, readiness, ((slots,),), log, metrics, opened.pop_all().aclose)


def fronted(behind: AgentBehind, resolver: Resolver) -> FrontedAgent:
    speaks = _spoken(behind)
    headers = () if isinstance(speaks, HttpRoutes) else speaks.headers
    upstream = Upstream(behind.endpoint, resolver, behind.headers, behind.tls, headers)
    return FrontedAgent(behind.card, upstream, speaks, behind.forwards_delegation, behind.skill_ids)


def _spoken(behind: AgentBehind) -> Dialect | HttpRoutes:
    if behind.speaks is Speaks.HTTP:
        return HttpRoutes(behind.routes)
    return ProtoDialect(behind.tenant) if behind.speaks is Speaks.A2A_1_0 else SameDialect()


def _application(
    settings: ReadFrontSettings, agents: list[FrontedAgent], slots: Slots, readiness: Readiness
) -> ASGIApp:
    origin = settings.trust.audience
    cards = {agent.path + PUBLIC_CARD_PATH: msgspec.json.encode(public_card(agent.card, origin)) for agent in agents}
    if len(cards) == 1:
        cards[PUBLIC_CARD_PATH] = next(iter(cards.values()))
    memory = FrontMemory(settings.max_held_bytes)
    pages = {**cards, **HEALTH_PAGES}
    endpoint = FrontEndpoint({agent.path: agent for agent in agents}, pages, slots, readiness, memory)
    guard = Guard(
        endpoint,
        Verifier(settings.trust, ReplayMemory()),
        NestedCalls(settings.trust.issuer),
        ProofDirectory(settings.challenge_directory),
        max_body=settings.max_request_bytes,
        open_paths=OPEN_PATHS | cards.keys(),
    )

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["aop.ambiguity"] is not None:
            await respond(send, 400, [NO_STORE], b"")
        elif scope["method"] != "POST":
            await guard(scope, receive, send)
        else:
            found = await guard.verified(scope, receive, send)
            if found is not None:
                await endpoint.post(found, scope, receive, send)

    return application
