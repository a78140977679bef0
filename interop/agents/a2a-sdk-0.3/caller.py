"""The client of a2a-sdk 0.3 at the door: makes the calls of a plan (stdin) and says what came of each (stdout)."""

import asyncio
import json
import os
import sys
from contextlib import aclosing
from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, TaskIdParams, TaskQueryParams

ENDED = {"completed", "failed", "canceled", "rejected"}


async def call(http: httpx.AsyncClient, plan: dict[str, Any]) -> dict[str, Any]:
    outcome: dict[str, Any] = {"name": plan["name"], "states": [], "values": [], "error": None}
    try:
        card = await A2ACardResolver(http, plan["url"]).get_agent_card()
        outcome["card"] = {"name": card.name, "url": card.url, "skills": [skill.id for skill in card.skills]}
        await follow(http, card, plan, outcome)
    except Exception as problem:  # noqa: BLE001  what it came to is the result
        data = getattr(getattr(problem, "error", None), "data", None)
        facts = data[0]["metadata"] if data else None
        outcome["error"] = {"kind": type(problem).__name__, "text": str(problem), "facts": facts}
    return outcome


async def follow(http: httpx.AsyncClient, card: Any, plan: dict[str, Any], outcome: dict[str, Any]) -> None:
    client = ClientFactory(ClientConfig(httpx_client=http, streaming=plan["mode"] != "send")).create(card)
    task, canceling = None, None
    async with aclosing(client.send_message(Message.model_validate(message(plan)))) as events:
        async for task, _ in events:
            outcome["states"].append(task.status.state.value)
            if plan["mode"] == "leave":
                break
            if plan["mode"] == "cancel" and canceling is None:
                canceling = asyncio.create_task(client.cancel_task(TaskIdParams(id=task.id)))
    if canceling is not None:
        outcome["canceled"] = (await canceling).status.state.value
    outcome |= {"task": task.id, "context": task.context_id, "facts": task.metadata}
    for artifact in task.artifacts or []:
        outcome["values"] += [part.root.text if part.root.kind == "text" else part.root.data for part in artifact.parts]
    if task.status.message is not None:
        outcome["said"] = task.status.message.parts[0].root.text
    if task.status.state.value in ENDED:
        outcome["read"] = (await client.get_task(TaskQueryParams(id=task.id))).status.state.value


def message(plan: dict[str, Any]) -> dict[str, Any]:
    parts = [
        {"kind": "text", "text": value} if isinstance(value, str) else {"kind": "data", "data": value}
        for value in plan["parts"]
    ]
    skill = {"metadata": {"skillId": plan["skill"]}} if plan["skill"] else {}
    return {"kind": "message", "messageId": plan["name"], "role": "user", "parts": parts, "contextId": "ctx-1", **skill}


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['AOP_TOKEN']}"}  # noqa: TID251
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        for plan in json.load(sys.stdin):
            print(json.dumps(await call(http, plan)), flush=True)


asyncio.run(main())
