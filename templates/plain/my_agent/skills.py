"""What the Agent can do: one async function per Skill of card.json, which returns its result or yields it in chunks."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from aop.agent import AgentContext, SkillFunction


async def greet(person: dict[str, Any], context: AgentContext) -> AsyncIterator[str]:
    """The platform has checked the input against the Skill's inputSchema."""
    text = f"Hello, {person['name']}! How good to see you."
    for word in text.split():
        await asyncio.sleep(person.get("paceMs", 0) / 1000)
        yield f"{word} "


SKILLS: dict[str, SkillFunction] = {"greet": greet}
