"""The server: the A2A application of a2a-sdk, behind the guard of aop.agent."""

import json
from pathlib import Path
from typing import Any

from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.types import AgentCapabilities, AgentCard, AgentSkill
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from aop.agent import AgentSettings, Guard, guarded
from meeting_brief.executor import MeetingBrief
from meeting_brief.model import rule_model
from meeting_brief.skills import Skills
from meeting_brief.tasks import RecentTasks


def application(settings: AgentSettings) -> Guard:
    tasks = RecentTasks()
    answering = DefaultRequestHandler(MeetingBrief(Skills(rule_model), tasks), tasks)
    a2a = A2AStarletteApplication(_public_card(settings.trust.audience), answering)
    return guarded(a2a.build(routes=[Route("/livez", _ok), Route("/readyz", _ok)]), settings)


def platform_card() -> dict[str, Any]:
    """The Agent Card of the platform, from which the public one is made."""
    here = Path(__file__).parent
    path = next(path for path in (here / "card.json", here.parent / "card.json") if path.is_file())
    card: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return card


def _public_card(origin: str) -> AgentCard:
    card = platform_card()
    return AgentCard(
        name=card["name"],
        description=card["description"],
        url=f"{origin}/",
        version=card["version"],
        protocol_version=card["protocol"]["version"],
        preferred_transport=card["protocol"]["transport"],
        capabilities=AgentCapabilities(streaming=card["limits"]["streaming"]),
        default_input_modes=["application/json"],
        default_output_modes=["application/json"],
        skills=[
            AgentSkill(id=skill["id"], name=skill["name"], description=skill["description"], tags=[])
            for skill in card["skills"]
        ],
    )


async def _ok(_: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})
