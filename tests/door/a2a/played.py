"""The Agent behind the door in these tests: what it does follows from the text or the object it is given."""

import json
from typing import Any

from tests.support.agent import a_task, data, text
from tests.support.peers import Received, hold
from tests.support.streaming_agent import HEAD, event_of, send_body, status, streamed, task

HELLO, BREAK, EARLY, WAIT = "hello", "break", "early", "wait"
PIECES = ("You ", "said: ", HELLO)


async def played(request: Received) -> None:
    """Answers, breaks, stops too early or waits, in either mode."""
    (part,) = request.json["params"]["message"]["parts"]
    word = part.get("text") or part["data"].get("do", HELLO)
    if request.json["method"] == "message/stream":
        await _stream(request, word)
    elif word == WAIT:
        await hold(request)
    elif word == BREAK:
        await a_task("failed")(request)
    elif word == EARLY:
        await a_task("working")(request)
    else:
        value = data(part["data"]) if "data" in part else text("".join(PIECES))
        await a_task("completed", [value])(request)


async def _stream(request: Received, word: str) -> None:
    pieces = [_piece(text, number) for number, text in enumerate(PIECES)]
    if word == BREAK:
        await streamed(task(), pieces[0], status("failed"))(request)
    elif word == EARLY:
        await streamed(task(), *pieces)(request)
    elif word == WAIT:
        await request.send(HEAD)
        await send_body(request, event_of(request, task()) + event_of(request, pieces[0]))
        await request.wait_for_leaving()
    else:
        await streamed(task(), *pieces, status("completed"))(request)


def _piece(words: str, number: int) -> dict[str, Any]:
    artifact = {"artifactId": "a", "parts": [text(words)]}
    ids = {"taskId": "task-7", "contextId": "ctx-1"}
    return {"kind": "artifact-update", **ids, "artifact": artifact, "append": number > 0}


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
