"""Serves the Agent: `python -m my_agent`, with the settings of PLATFORM_AGENT_*."""

import sys

import uvicorn

from aop.agent import AgentSettings
from aop.base.settings import SettingsRefused
from my_agent.server import application


def main() -> None:
    try:
        settings = AgentSettings.from_environment()
    except SettingsRefused as refused:
        sys.exit("\n".join(f"my-agent: {problem.name} {problem.reason}" for problem in refused.problems))
    address = settings.listen_address
    uvicorn.run(
        application(settings),
        host=address.host,
        port=address.port,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )


if __name__ == "__main__":
    main()
