"""The Skill: meeting notes in, action items out, each as soon as the graph has found it."""

from collections.abc import AsyncIterator, Sequence
from datetime import date
from typing import Annotated, Any

import msgspec
from langgraph.graph.state import CompiledStateGraph

from action_items.graph import build
from action_items.model import RuleModel
from aop.agent import AgentContext, AgentSkill

Items = dict[str, list[Any]]
Pace = Annotated[int, msgspec.Meta(ge=0, le=1_000)]


class MeetingNotes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    notes: Annotated[str, msgspec.Meta(min_length=1)]
    meeting_date: date | msgspec.UnsetType = msgspec.UNSET
    pace_ms: Pace = 0


class ActionItems:
    def __init__(self, graph: CompiledStateGraph[Any, Any, Any, Any]) -> None:
        self._graph = graph

    async def extract(self, meeting: MeetingNotes, _: AgentContext) -> AsyncIterator[Items]:
        """One chunk per item; each follows the Skill's outputSchema, just as the whole result does."""
        day = None if meeting.meeting_date is msgspec.UNSET else meeting.meeting_date
        state = {"notes": meeting.notes, "meeting_date": day, "pace": meeting.pace_ms / 1_000}
        is_empty = True
        async for item in self._graph.astream(state, stream_mode="custom"):
            is_empty = False
            yield {"items": [item]}
        if is_empty:
            yield {"items": []}


def _join(chunks: Sequence[Items]) -> Items:
    return {"items": [item for chunk in chunks for item in chunk["items"]]}


SKILLS = {"extract-action-items": AgentSkill(ActionItems(build(RuleModel())).extract, join=_join)}
