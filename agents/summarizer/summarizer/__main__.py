"""Serves the Agent: `python -m summarizer`, with the settings of PLATFORM_AGENT_*."""

import sys

import uvicorn

from aop.agent import AgentSettings, handed_sockets
from aop.base.settings import SettingsRefused
from aop.net.address_settings import ListenAddress
from summarizer.server import application

DEFAULT_ADDRESS = ListenAddress("127.0.0.1", 8093)


def main() -> None:
    try:
        settings = AgentSettings.from_environment(listen=DEFAULT_ADDRESS)
    except SettingsRefused as refused:
        sys.exit("\n".join(f"summarizer: {problem.name} {problem.reason}" for problem in refused.problems))
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
