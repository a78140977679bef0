"""A ready A2A 0.3 server: an Agent is a Card and one function per Skill."""

import sys
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from aop.agent.guard.card import PUBLIC_CARD_PATH, public_card
from aop.agent.guard.guard import Guard
from aop.agent.guard.settings import DEVELOPMENT_ADDRESS, AgentSettings, guarded, handed_sockets
from aop.agent.server.call_log import log_to_stderr
from aop.agent.server.endpoint import HEALTH_PAGES, A2AEndpoint
from aop.agent.server.methods import A2AMethods
from aop.agent.server.skills import AgentSkill, SkillFunction, Skills
from aop.agent.server.tasks import SkillTasks, TaskLimits
from aop.base.settings import SettingsRefused
from aop.contracts.card import AgentCard
from aop.net.address_settings import ListenAddress
from aop.net.asgi import ASGIApp
from aop.net.origin import Endpoint

MAX_CONNECTIONS: Final = 2_000


class AgentServer:
    """An Agent that is served.

        agent = AgentServer(load_card(__file__), {"greet": greet})
        agent.run()

    `run` serves it with uvicorn. For any other ASGI server there is `application`.
    """

    def __init__(
        self,
        card: AgentCard,
        skills: Mapping[str, SkillFunction | AgentSkill],
        limits: TaskLimits | None = None,
    ) -> None:
        self._card = card
        self._skills = Skills(card, skills)
        self._limits = limits or TaskLimits(card.limits.timeout_ms / 1000, card.limits.max_output_bytes)

    def application(self, settings: AgentSettings | None = None) -> Guard:
        """The ASGI application behind its guard; without settings they are read from the environment."""
        used = AgentSettings.from_environment(listen=listen_address(self._card)) if settings is None else settings
        tasks = SkillTasks(self._limits)
        methods = A2AMethods(self._skills, tasks, self._limits, streaming=self._card.limits.streaming)
        public = msgspec.json.encode(public_card(self._card, used.trust.audience))
        pages = {PUBLIC_CARD_PATH: public, **HEALTH_PAGES}
        return guarded(A2AEndpoint(Endpoint.parse(self._card.protocol.endpoint).path, pages, methods), used)

    def run(self) -> None:
        """Serves until the process is stopped."""
        serve(self._card, self.application)


def serve(card: AgentCard, application: Callable[[AgentSettings], ASGIApp]) -> None:
    """Serves any ASGI application of an Agent with uvicorn, on the socket that was handed over or the configured one.

    It writes one line per call to stderr. Wrong settings end the program with a line for each.
    """
    import uvicorn  # noqa: PLC0415  an Agent on another ASGI server does not have it

    try:
        settings = AgentSettings.from_environment(listen=listen_address(card))
    except SettingsRefused as refused:
        sys.exit("\n".join(f"{card.agent_id}: {problem.name} {problem.reason}" for problem in refused.problems))
    log_to_stderr()
    config = uvicorn.Config(
        application(settings),
        host=settings.listen_address.host,
        port=settings.listen_address.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=handed_sockets())


def listen_address(card: AgentCard) -> ListenAddress:
    """Where an Agent listens unless the settings say otherwise: on the endpoint of its Card, if that is loopback."""
    endpoint = Endpoint.parse(card.protocol.endpoint)
    return ListenAddress(endpoint.host, endpoint.port) if endpoint.is_loopback else DEVELOPMENT_ADDRESS
