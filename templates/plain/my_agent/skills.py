"""What the Agent can do: one async generator per Skill of card.json, which gives its result piece by piece."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

Given = dict[str, Any]


async def greet(given: Given) -> AsyncIterator[str]:
    """The platform has checked the input against the Skill's inputSchema; what is given here follows it."""
    text = f"Hello, {given['name']}! How good to see you."
    for word in text.split():
        await asyncio.sleep(given.get("paceMs", 0) / 1000)
        yield f"{word} "


SKILLS: dict[str, Callable[[Given], AsyncIterator[Any]]] = {"greet": greet}
