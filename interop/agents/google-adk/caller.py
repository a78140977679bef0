"""RemoteA2aAgent of Google ADK at the door: makes the calls of a plan (stdin) and says what came of each (stdout).

ADK puts a text into a message and nothing else, so only the calls of a Skill that takes a text are made.
"""

import asyncio
import json
import os
import sys
from contextlib import aclosing
from typing import Any

import httpx
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, Part

PREFIX = "a2a:"


async def call(http: httpx.AsyncClient, plan: dict[str, Any]) -> dict[str, Any]:
    outcome: dict[str, Any] = {"name": plan["name"], "states": [], "values": [], "error": None}
    agent = RemoteA2aAgent("remote", f"{plan['url']}/.well-known/agent-card.json", httpx_client=http)
    runner = InMemoryRunner(agent)
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="user")
    message = Content(role="user", parts=[Part(text=plan["parts"][0])])
    async with aclosing(runner.run_async(user_id="user", session_id=session.id, new_message=message)) as events:
        async for event in events:
            take(event, outcome)
            if plan["mode"] == "leave":
                break
    return outcome


def take(event: Any, outcome: dict[str, Any]) -> None:
    response = (event.custom_metadata or {}).get(f"{PREFIX}response") or {}
    outcome["task"] = response.get("id") or response.get("taskId") or outcome.get("task")
    if "status" in response:
        outcome["states"].append(response["status"]["state"].removeprefix("TASK_STATE_").lower())
        outcome["facts"] = response.get("metadata")
    texts = [part.text for part in (event.content.parts if event.content else None) or [] if part.text]
    if event.error_message:
        outcome["said"] = event.error_message
    elif response.get("status", {}).get("message"):
        outcome["said"] = "".join(texts)
    else:
        outcome["values"] += texts


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['AOP_TOKEN']}"}  # noqa: TID251
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        for plan in json.load(sys.stdin):
            if not isinstance(plan["parts"][0], str) or plan["skill"]:
                continue
            try:
                outcome = await call(http, plan)
            except Exception as problem:  # noqa: BLE001  what it came to is the result
                outcome = {"name": plan["name"], "error": {"kind": type(problem).__name__, "text": str(problem)}}
            print(json.dumps(outcome), flush=True)


asyncio.run(main())
