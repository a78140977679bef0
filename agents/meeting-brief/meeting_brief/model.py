"""The model: a FunctionModel of Pydantic AI that needs no network and no key, and answers the same way each time.

Any other model of Pydantic AI fits in its place: it sees the request and the tools, asks for tools, and ends with the
output. This one asks for everything it needs at once, which Pydantic AI then runs side by side.
"""

import json
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel


def rule_model() -> FunctionModel:
    return FunctionModel(_answer, model_name="rules")


def _answer(messages: list[ModelMessage], tools: AgentInfo) -> ModelResponse:
    request = json.loads(next(str(part.content) for part in messages[0].parts if isinstance(part, UserPromptPart)))
    results = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
    names = {tool.name for tool in tools.function_tools}
    if not results and names:
        return ModelResponse(parts=_brief_calls(request) if "summarize" in names else _digest_calls(request))
    (output,) = tools.output_tools
    return ModelResponse(parts=[ToolCallPart(output.name, _COMPOSED[output.name](request, results))])


def _brief_calls(request: dict[str, Any]) -> list[ToolCallPart]:
    return [ToolCallPart("summarize", {}), ToolCallPart("find_action_items", {})]


def _digest_calls(request: dict[str, Any]) -> list[ToolCallPart]:
    return [ToolCallPart("brief_meeting", {"number": number}) for number in range(len(request["meetings"]))]


def _agenda(request: dict[str, Any], _: list[ToolReturnPart]) -> dict[str, Any]:
    """Equal time for each topic; what does not divide goes to the first ones."""
    topics, minutes = request["topics"], request["minutes"]
    each, more = divmod(minutes, len(topics))
    slots, start = [], 0
    for number, topic in enumerate(topics):
        length = each + (number < more)
        slots.append({"topic": topic, "startMinute": start, "minutes": length})
        start += length
    return {"slots": slots}


def _brief(request: dict[str, Any], results: list[ToolReturnPart]) -> dict[str, Any]:
    found = {part.tool_name: _content(part) for part in results}
    title = next((line.strip() for line in request["notes"].splitlines() if line.strip()), "")
    return {
        "title": title.partition(". ")[0].strip(" .#")[:120],
        "summary": found["summarize"].get("summary"),
        "actionItems": found["find_action_items"].get("items"),
        "missing": [part["missing"] for part in found.values() if "missing" in part],
    }


def _digest(_: dict[str, Any], results: list[ToolReturnPart]) -> dict[str, Any]:
    parts = [_content(part) for part in results]
    briefs = [part["brief"] for part in parts if "brief" in part]
    tasks: dict[str, list[str]] = {}
    for item in (item for brief in briefs for item in brief["actionItems"] or ()):
        tasks.setdefault(item["owner"] or "", []).append(item["task"])
    return {
        "briefs": briefs,
        "tasksByOwner": tasks,
        "missing": [part["missing"] for part in parts if "missing" in part],
    }


def _content(part: ToolReturnPart) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(part.model_response_str())
    return content


_COMPOSED = {"agenda": _agenda, "brief": _brief, "digest": _digest}
