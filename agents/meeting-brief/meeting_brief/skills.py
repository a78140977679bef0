"""Which Pydantic AI agent serves which Skill, and how an input becomes a result."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_ai import Agent
from pydantic_ai.models import Model

from aop.agent import AgentContext
from meeting_brief.agents import Work, agenda_writer, briefer, digester
from meeting_brief.documents import AgendaRequest, DigestRequest, Document, Meeting


class Unusable(Exception):
    """The input is not what the Skill asks for; the text is for the caller."""


@dataclass(frozen=True)
class Skill:
    request: type[Document]
    agent: Agent[Any, Any]


class Skills:
    def __init__(self, model: Callable[[], Model]) -> None:
        self._skills = {
            "write-agenda": Skill(AgendaRequest, agenda_writer(model())),
            "brief-meeting": Skill(Meeting, briefer(model())),
            "digest-meetings": Skill(DigestRequest, digester(model())),
        }

    async def result(self, given: dict[str, Any], context: AgentContext) -> dict[str, Any]:
        """The Router has checked the input against the Card; this Agent still looks, as anyone may run it alone."""
        skill = self._skills.get(context.capability)
        if skill is None:
            raise Unusable(f"This Agent offers {', '.join(self._skills)}.")
        try:
            request = skill.request.model_validate(given)
        except ValidationError as problem:
            places = (".".join(map(str, error["loc"])) + ": " + error["msg"] for error in problem.errors())
            raise Unusable(f"The input of {context.capability} is not right: {'; '.join(places)}") from None
        run = await skill.agent.run(request.model_dump_json(by_alias=True), deps=Work(request, context))
        output: Document = run.output
        return output.to_json()
