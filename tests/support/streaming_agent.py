"""What a scripted Agent says in a stream: A2A events, and behaviours that send them, pause, and end as told."""

import asyncio
import json
from typing import Any, Literal

from tests.support.peers import Behaviour, Received

HEAD = b"HTTP/1.1 200 Said\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
End = Literal["clean", "open", "cut"]
Step = dict[str, Any] | bytes | float | asyncio.Event
"""A result to be sent as an event; bytes of the body as they are; seconds or an event to wait for."""

_TASK = {"taskId": "task-7", "contextId": "ctx-1"}


def task(state: str = "working", **members: Any) -> dict[str, Any]:
    return {"kind": "task", "id": "task-7", "contextId": "ctx-1", "status": {"state": state}, **members}


def status(state: str, *, final: bool | None = None, **members: Any) -> dict[str, Any]:
    ends = state in {"completed", "failed", "rejected", "canceled"}
    return {"kind": "status-update", **_TASK, "status": {"state": state}, "final": ends if final is None else final} | (
        members
    )


def artifact(
    value: Any, name: str = "a", *, append: bool = False, last: bool = False, **members: Any
) -> dict[str, Any]:
    """One data part of an artifact."""
    named = {"artifactId": name, "parts": [{"kind": "data", "data": value}]}
    return {"kind": "artifact-update", **_TASK, "artifact": named, "append": append, "lastChunk": last, **members}


def piece(value: Any, number: int, count: int) -> dict[str, Any]:
    """One of the pieces of a single artifact."""
    return artifact(value, append=number > 0, last=number == count - 1)


def message(value: Any, **members: Any) -> dict[str, Any]:
    part = {"kind": "data", "data": value}
    return {"kind": "message", "messageId": "m-1", "role": "agent", "parts": [part], **members}


def a_whole_stream(count: int) -> list[dict[str, Any]]:
    """A Task with so many chunks."""
    return [task(), *(piece(number, number, count) for number in range(count)), status("completed")]


def event_of(request: Received, result: object) -> bytes:
    return b"data: " + json.dumps({"jsonrpc": "2.0", "id": request.json["id"], "result": result}).encode() + b"\n\n"


async def send_body(request: Received, content: bytes) -> None:
    await request.send(b"%x\r\n%b\r\n" % (len(content), content))


def streamed(*steps: Step, end: End = "clean") -> Behaviour:
    """`open` keeps the connection for as long as the Router does; `cut` closes it in the middle."""

    async def behave(request: Received) -> None:
        await request.send(HEAD)
        for step in steps:
            if isinstance(step, asyncio.Event):
                await step.wait()
            elif isinstance(step, float):
                await asyncio.sleep(step)
            else:
                await send_body(request, step if isinstance(step, bytes) else event_of(request, step))
        if end == "clean":
            await request.send(b"0\r\n\r\n")
        elif end == "open":
            await request.wait_for_leaving()
        else:
            request.writer.close()

    return behave


def endless(value: Any, *, seconds: float = 0.0) -> Behaviour:
    """Pieces of one artifact that never has a last one, until the Router leaves."""

    async def behave(request: Received) -> None:
        await request.send(HEAD)
        await send_body(request, event_of(request, task()))
        leaving = asyncio.create_task(request.wait_for_leaving())
        try:
            first, more = (event_of(request, artifact(value, append=append)) for append in (False, True))
            await send_body(request, first)
            while not leaving.done():
                await asyncio.sleep(seconds)
                await send_body(request, more)
        finally:
            leaving.cancel()
            await asyncio.wait({leaving})

    return behave
