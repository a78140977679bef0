"""What the Agent can do: a Pydantic AI agent per Skill of card.json, whose streamed text is the result."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from aop.agent import AgentContext, SkillFunction


async def rules(messages: list[ModelMessage], _: AgentInfo) -> AsyncIterator[str]:
    """Stands in for a model and needs no network and no key; name any model of Pydantic AI in its place."""
    prompt = next(str(part.content) for part in messages[-1].parts if isinstance(part, UserPromptPart))
    person = json.loads(prompt)
    for word in f"Hello, {person['name']}! How good to see you.".split():
        await asyncio.sleep(person.get("paceMs", 0) / 1000)
        yield f"{word} "


greeter = Agent(FunctionModel(stream_function=rules), instructions="Greet the person named in the JSON of the prompt.")


async def greet(person: dict[str, Any], context: AgentContext) -> AsyncIterator[str]:
    """The platform has checked the input against the Skill's inputSchema."""
    async with greeter.run_stream(json.dumps(person)) as answer:
        async for text in answer.stream_text(delta=True, debounce_by=None):
            yield text


SKILLS: dict[str, SkillFunction] = {"greet": greet}
