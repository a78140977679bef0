"""What an Agent of A2A 1.0 says, as the JSON form of its protocol buffers."""

import json
from typing import Any

from tests.support.peers import Behaviour, Received
from tests.support.streaming_agent import HEAD, End, send_body

IDS = {"taskId": "t-1", "contextId": "c-1"}


def task(state: str, **members: Any) -> dict[str, Any]:
    return {"task": {"id": "t-1", "contextId": "c-1", "status": {"state": f"TASK_STATE_{state}"}, **members}}


def status(state: str, **members: Any) -> dict[str, Any]:
    return {"statusUpdate": {**IDS, "status": {"state": f"TASK_STATE_{state}", **members}}}


def artifact(*parts: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"artifactUpdate": {**IDS, "artifact": {"artifactId": "a", "parts": list(parts)}, **members}}


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"message": {"messageId": "m-1", "role": "ROLE_AGENT", "parts": list(parts)}}


def answered(result: object) -> Behaviour:
    async def behave(request: Received) -> None:
        await request.answer(_response(request, result))

    return behave


def streamed(*results: object, end: End = "clean") -> Behaviour:
    """`open` keeps the connection for as long as the front does."""

    async def behave(request: Received) -> None:
        await request.send(HEAD)
        for result in results:
            await send_body(request, b"data: " + _response(request, result) + b"\r\n\r\n")
        if end == "open":
            await request.wait_for_leaving()
        else:
            await request.send(b"0\r\n\r\n")

    return behave


def _response(request: Received, result: object) -> bytes:
    return json.dumps({"id": request.json["id"], "jsonrpc": "2.0", "result": result}).encode()
