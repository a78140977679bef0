"""Serves the Agent: `python -m action_items`, with the settings of PLATFORM_AGENT_*."""

from functools import partial

from aop_a2a_sdk import sdk_application

from action_items.skills import SKILLS
from aop.agent import load_card, serve


def main() -> None:
    card = load_card(__file__)
    serve(card, partial(sdk_application, card, SKILLS))


if __name__ == "__main__":
    main()
