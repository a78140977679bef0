"""A graph with one node that answers the last message."""

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph

from interop.script import reply


async def respond(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage(await reply(str(state["messages"][-1].text)))]}


chat = StateGraph(MessagesState).add_node(respond).add_edge(START, "respond").add_edge("respond", END).compile()
