"""Serves the Agent: `python -m my_agent`, with the settings of PLATFORM_AGENT_*."""

from aop.agent import AgentServer, load_card
from my_agent.skills import SKILLS

if __name__ == "__main__":
    AgentServer(load_card(__file__), SKILLS).run()
