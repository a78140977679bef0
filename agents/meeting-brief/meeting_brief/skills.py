"""Which Pydantic AI agent serves which Skill, and how an input becomes a result."""

from typing import Any

from pydantic import ValidationError
from pydantic_ai import Agent

from aop.agent import AgentContext, InputRefused, SkillFunction
from meeting_brief.agents import Work, agenda_writer, briefer, digester
from meeting_brief.documents import AgendaRequest, DigestRequest, Document, Meeting
from meeting_brief.model import rule_model


def _skill(kind: type[Document], agent: Agent[Any, Any]) -> SkillFunction:
    async def run(values: dict[str, Any], context: AgentContext) -> dict[str, Any]:
        try:
            request = kind.model_validate(values)
        except ValidationError as problem:
            places = (".".join(map(str, error["loc"])) + ": " + error["msg"] for error in problem.errors())
            raise InputRefused(f"The input of {context.capability} is not right: {'; '.join(places)}") from None
        done = await agent.run(request.model_dump_json(by_alias=True), deps=Work(request, context))
        output: Document = done.output
        return output.to_json()

    return run


SKILLS: dict[str, SkillFunction] = {
    "write-agenda": _skill(AgendaRequest, agenda_writer(rule_model())),
    "brief-meeting": _skill(Meeting, briefer(rule_model())),
    "digest-meetings": _skill(DigestRequest, digester(rule_model())),
}
