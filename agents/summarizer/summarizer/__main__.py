"""Serves the Agent: `python -m summarizer`, with the settings of PLATFORM_AGENT_*."""

from aop.agent import AgentServer, load_card
from summarizer.skills import SKILLS


def main() -> None:
    AgentServer(load_card(__file__), SKILLS).run()


if __name__ == "__main__":
    main()
