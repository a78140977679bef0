"""The client of a2a-sdk 1.x at the door: makes the calls of a plan (stdin) and says what came of each (stdout)."""

import asyncio
import json
import os
import sys
from contextlib import aclosing
from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import CancelTaskRequest, GetTaskRequest, SendMessageRequest, Task
from google.protobuf.json_format import MessageToDict, ParseDict

ENDED = {"completed", "failed", "canceled", "rejected"}


async def call(http: httpx.AsyncClient, plan: dict[str, Any]) -> dict[str, Any]:
    outcome: dict[str, Any] = {"name": plan["name"], "states": [], "values": [], "error": None}
    try:
        card = await A2ACardResolver(http, plan["url"]).get_agent_card()
        interface = card.supported_interfaces[0]
        outcome["card"] = {"name": card.name, "url": interface.url, "skills": [skill.id for skill in card.skills]}
        await follow(http, card, plan, outcome)
    except Exception as problem:  # noqa: BLE001  what it came to is the result
        facts = getattr(problem, "data", None)
        outcome["error"] = {"kind": type(problem).__name__, "text": str(problem), "facts": facts}
    return outcome


async def follow(http: httpx.AsyncClient, card: Any, plan: dict[str, Any], outcome: dict[str, Any]) -> None:
    client = ClientFactory(ClientConfig(httpx_client=http, streaming=plan["mode"] != "send")).create(card)
    canceling = None
    request = ParseDict({"message": message(plan)}, SendMessageRequest())
    async with aclosing(client.send_message(request)) as events:
        async for event in events:
            take(MessageToDict(event), outcome)
            if plan["mode"] == "leave":
                break
            if plan["mode"] == "cancel" and canceling is None:
                canceling = asyncio.create_task(client.cancel_task(CancelTaskRequest(id=outcome["task"])))
    if canceling is not None:
        outcome["canceled"] = state(MessageToDict(await canceling)["status"])
    if outcome["states"][-1] in ENDED:
        read: Task = await client.get_task(GetTaskRequest(id=outcome["task"]))
        outcome["read"] = state(MessageToDict(read)["status"])


def take(event: dict[str, Any], outcome: dict[str, Any]) -> None:
    found = event.get("task") or event.get("statusUpdate") or event.get("artifactUpdate") or {}
    outcome |= {"task": found.get("id") or found.get("taskId"), "context": found["contextId"]}
    artifacts = found.get("artifacts", []) + ([found["artifact"]] if "artifact" in found else [])
    for part in (part for artifact in artifacts for part in artifact["parts"]):
        outcome["values"].append(part.get("text", part.get("data")))
    if "status" in found:
        outcome["states"].append(state(found["status"]))
        outcome["facts"] = found.get("metadata")
        if "message" in found["status"]:
            outcome["said"] = found["status"]["message"]["parts"][0]["text"]


def state(status: dict[str, Any]) -> str:
    return str(status["state"]).removeprefix("TASK_STATE_").lower()


def message(plan: dict[str, Any]) -> dict[str, Any]:
    parts = [{"text": value} if isinstance(value, str) else {"data": value} for value in plan["parts"]]
    skill = {"metadata": {"skillId": plan["skill"]}} if plan["skill"] else {}
    return {"messageId": plan["name"], "role": "ROLE_USER", "parts": parts, "contextId": "ctx-1", **skill}


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['AOP_TOKEN']}"}  # noqa: TID251
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        for plan in json.load(sys.stdin):
            print(json.dumps(await call(http, plan)), flush=True)


asyncio.run(main())
