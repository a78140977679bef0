"""The graph: splits notes into remarks, asks the model about each, and turns words like `Friday` into dates."""

import asyncio
import json
import re
from datetime import date, timedelta
from typing import Any, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from action_items.model import INSTRUCTION

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z@\[])")


class Item(TypedDict):
    task: str
    owner: str | None
    due: str | None
    line: int


class Notes(TypedDict, total=False):
    """The state of the graph; the first three come from the caller."""

    notes: str
    meeting_date: date | None
    pace: float
    remarks: list[tuple[int, str]]
    items: list[Item]


def build(model: BaseChatModel) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Each item is also written to the graph's custom stream as soon as it is found."""

    async def split(state: Notes) -> Notes:
        lines = enumerate(state["notes"].splitlines(), 1)
        return {"remarks": [(number, part) for number, line in lines for part in _SENTENCE_END.split(line) if part]}

    async def extract(state: Notes) -> Notes:
        found: list[Item] = []
        write = get_stream_writer()
        for line, remark in state["remarks"]:
            answer = await model.ainvoke([SystemMessage(INSTRUCTION), HumanMessage(remark)])
            read = json.loads(str(answer.content))
            if read is not None:
                await asyncio.sleep(state["pace"])
                item = Item(
                    task=read["task"], owner=read["owner"], due=_day(read["due"], state["meeting_date"]), line=line
                )
                found.append(item)
                write(item)
        return {"items": found}

    graph = StateGraph(Notes)
    graph.add_node("split", split)
    graph.add_node("extract", extract)
    graph.add_edge(START, "split")
    graph.add_edge("split", "extract")
    graph.add_edge("extract", END)
    return graph.compile()


def _day(words: str | None, today: date | None) -> str | None:
    """The date that words mean on a day; the words themselves when the day is not known."""
    if words is None or today is None:
        return words
    text = words.lower()
    days = {"today": 0, "tomorrow": 1, "next week": 7 - today.weekday()}.get(text)
    if text.startswith("end of"):
        days = (4 - today.weekday()) % 7
    elif text.startswith("in "):
        days = int(text.split()[1])
    elif text.split()[-1] in _WEEKDAYS:
        ahead = (_WEEKDAYS.index(text.split()[-1]) - today.weekday() - 1) % 7 + 1
        days = ahead + 7 if text.startswith("next ") and ahead <= 6 - today.weekday() else ahead
    return words if days is None else (today + timedelta(days=days)).isoformat()
