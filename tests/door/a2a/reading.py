"""Writes requests to the door and reads its answers, in either version of A2A."""

import json
from typing import Any

import pytest

from aop.control_plane.gateway.tokens import issue_token
from tests.support.agent import data
from tests.support.door_agents import PIECES, A2AAgents
from tests.support.units import Reply

SAID = "".join(PIECES)
SEND = {"0.3": "message/send", "1.0": "SendMessage"}
STREAM = {"0.3": "message/stream", "1.0": "SendStreamingMessage"}
GET = {"0.3": "tasks/get", "1.0": "GetTask"}
CANCEL = {"0.3": "tasks/cancel", "1.0": "CancelTask"}
RESUBSCRIBE = {"0.3": "tasks/resubscribe", "1.0": "SubscribeToTask"}
both_versions = pytest.mark.parametrize("version", ["0.3", "1.0"])


def task_of(answer: dict[str, Any]) -> dict[str, Any]:
    """The Task of an answer, or the part of it that an event tells."""
    result = answer["result"]
    found: dict[str, Any] = result.get("task") or result.get("statusUpdate") or result.get("artifactUpdate") or result
    return found


def state_of(answer: dict[str, Any]) -> str:
    return str(task_of(answer)["status"]["state"]).removeprefix("TASK_STATE_").lower()


def values_of(artifacts: list[dict[str, Any]]) -> list[Any]:
    return [part.get("text", part.get("data")) for artifact in artifacts for part in artifact["parts"]]


def events_of(body: bytes) -> list[dict[str, Any]]:
    return [json.loads(frame.removeprefix(b"data: ")) for frame in body.split(b"\n\n") if frame.startswith(b"data: ")]


def params(*values: Any, version: str = "0.3", skill: str | None = None, **members: Any) -> dict[str, Any]:
    """The parameters of a message with these texts and objects."""
    message: dict[str, Any] = {"messageId": "m-1", **members}
    if version == "0.3":
        kinds = [{"kind": "text", "text": one} if isinstance(one, str) else data(one) for one in values]
        message |= {"kind": "message", "role": "user", "parts": kinds}
    else:
        message |= {"role": "ROLE_USER", "parts": [{"text" if isinstance(one, str) else "data": one} for one in values]}
    return {"message": {**message, **({"metadata": {"skillId": skill}} if skill else {})}}


def rpc(method: str, parameters: Any, request_id: Any = "r-1") -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": parameters}).encode()


async def ask(
    agents: A2AAgents, address: str, method: str, parameters: Any, *, version: str | None = None, token: str = ""
) -> Reply:
    """One request at that address, by default of the owner of the Workspace."""
    headers = [] if version is None else [(b"a2a-version", version.encode())]
    path, bearer = address.removeprefix(agents.door.unit.origin), token or agents.door.platform.token
    return await agents.door.unit.ask("POST", path, rpc(method, parameters), token=bearer, headers=headers)


async def token_of(agents: A2AAgents, principal: str) -> str:
    return (await issue_token(agents.door.platform.stores.control_plane, principal)).token.reveal()
