"""What the Agent can do: a LangGraph graph per Skill of card.json, whose custom stream is the result."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph

from aop.agent import AgentContext, SkillFunction


class Greeting(TypedDict, total=False):
    """The state of the graph; the first two come from the caller."""

    name: str
    paceMs: int
    words: list[str]


async def compose(state: Greeting) -> Greeting:
    """Put a model of your choice here."""
    return {"words": f"Hello, {state['name']}! How good to see you.".split()}


async def speak(state: Greeting) -> Greeting:
    write = get_stream_writer()
    for word in state["words"]:
        await asyncio.sleep(state.get("paceMs", 0) / 1000)
        write(f"{word} ")
    return {}


graph = StateGraph(Greeting)
graph.add_node("compose", compose)
graph.add_node("speak", speak)
graph.add_edge(START, "compose")
graph.add_edge("compose", "speak")
graph.add_edge("speak", END)
greeter = graph.compile()


async def greet(person: dict[str, Any], context: AgentContext) -> AsyncIterator[Any]:
    """The platform has checked the input against the Skill's inputSchema."""
    begin = Greeting(name=person["name"], paceMs=person.get("paceMs", 0))
    async for word in greeter.astream(begin, stream_mode="custom"):
        yield word


SKILLS: dict[str, SkillFunction] = {"greet": greet}
