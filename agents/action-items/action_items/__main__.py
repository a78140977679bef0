"""Serves the Agent: `python -m action_items`, with the settings of PLATFORM_AGENT_*."""

import sys

import uvicorn

from action_items.server import application
from aop.agent import AgentSettings, handed_sockets
from aop.base.settings import SettingsRefused
from aop.net.address_settings import ListenAddress

DEFAULT_ADDRESS = ListenAddress("127.0.0.1", 8091)


def main() -> None:
    try:
        settings = AgentSettings.from_environment(listen=DEFAULT_ADDRESS)
    except SettingsRefused as refused:
        sys.exit("\n".join(f"action-items: {problem.name} {problem.reason}" for problem in refused.problems))
    config = uvicorn.Config(
        application(settings),
        host=settings.listen_address.host,
        port=settings.listen_address.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=handed_sockets())


if __name__ == "__main__":
    main()
