"""The Pydantic AI agents behind the Skills; their tools are calls to other Agents of the Workspace."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic_ai import Agent, RunContext, ToolOutput
from pydantic_ai.models import Model

from aop.agent import AgentContext, NestedCallFailed
from aop.contracts.errors import ErrorCode
from meeting_brief.documents import Agenda, AgendaRequest, Brief, Digest, DigestRequest, Document, Meeting

ACTION_ITEMS = "aop:action-items"
SUMMARIZER = "aop:summarizer"

G = TypeVar("G", bound=Document)


@dataclass(frozen=True)
class Work(Generic[G]):
    """What a tool may use: the input of the Skill, and the context of the call with its right to call others."""

    request: G
    context: AgentContext


def agenda_writer(model: Model) -> Agent[Work[AgendaRequest], Agenda]:
    output = ToolOutput(Agenda, name="agenda")
    return Agent(model, deps_type=Work[AgendaRequest], output_type=output, instructions="Share out the time.")


def briefer(model: Model) -> Agent[Work[Meeting], Brief]:
    output = ToolOutput(Brief, name="brief")
    agent = Agent(
        model, deps_type=Work[Meeting], output_type=output, instructions="Brief someone who was not at the meeting."
    )

    @agent.tool
    async def summarize(run: RunContext[Work[Meeting]]) -> dict[str, Any]:
        """What was said, in a few sentences."""
        meeting = run.deps.request
        values = {"text": meeting.notes, "sentences": meeting.sentences, "paceMs": meeting.pace_ms}
        return await _call(run.deps.context, SUMMARIZER, "summarize", values, "summary")

    @agent.tool
    async def find_action_items(run: RunContext[Work[Meeting]]) -> dict[str, Any]:
        """Who has to do what, and until when."""
        meeting = run.deps.request
        values: dict[str, Any] = {"notes": meeting.notes, "paceMs": meeting.pace_ms}
        if meeting.meeting_date is not None:
            values["meetingDate"] = meeting.meeting_date.isoformat()
        found = await _call(run.deps.context, ACTION_ITEMS, "extract-action-items", values, "found")
        return {"items": found["found"]["items"]} if "found" in found else found

    return agent


def digester(model: Model) -> Agent[Work[DigestRequest], Digest]:
    output = ToolOutput(Digest, name="digest")
    agent = Agent(model, deps_type=Work[DigestRequest], output_type=output, instructions="Brief about all meetings.")

    @agent.tool
    async def brief_meeting(run: RunContext[Work[DigestRequest]], number: int) -> dict[str, Any]:
        """The brief of one meeting: a call to this Agent itself, with its own place in the Trace."""
        values = run.deps.request.meetings[number].model_dump(mode="json", by_alias=True, exclude_none=True)
        return await _call(run.deps.context, run.deps.context.agent_id, "brief-meeting", values, "brief")

    return agent


async def _call(
    context: AgentContext, agent_id: str, capability: str, values: dict[str, Any], name: str
) -> dict[str, Any]:
    """The other Agent's result under that name; when there is none, who did not deliver and why.

    A brief without one of its parts is still of use, so one failure does not end the whole. A child that was canceled
    was so because this call is: then there is nobody left to brief.
    """
    try:
        return {name: await context.call(agent_id, capability, values)}
    except NestedCallFailed as failed:
        if failed.code is ErrorCode.CANCELED:
            raise
        return {"missing": {"agentId": agent_id, "code": failed.code}}
