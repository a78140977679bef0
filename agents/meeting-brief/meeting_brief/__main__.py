"""Serves the Agent: `python -m meeting_brief`, with the settings of PLATFORM_AGENT_*."""

from functools import partial

from aop_a2a_sdk import sdk_application

from aop.agent import load_card, serve
from meeting_brief.skills import SKILLS


def main() -> None:
    card = load_card(__file__)
    serve(card, partial(sdk_application, card, SKILLS))


if __name__ == "__main__":
    main()
