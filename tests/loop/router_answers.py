"""Answers of a scripted Router to a dispatch: right ones, and every way to be wrong."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aop.contracts.errors import ErrorCode, code_entries
from tests.support.peers import Behaviour, Received, hold, reset

IDS = ("invocationId", "rootTaskId")
OTHER: dict[str, Any] = {"invocationId": "inv_" + "e" * 32, "rootTaskId": "task_" + "e" * 32, "traceId": "f" * 32}


@dataclass
class ScriptedRouter:
    behave: Behaviour = hold
    received: list[Received] = field(default_factory=list)

    async def meet(self, request: Received) -> None:
        self.received.append(request)
        await self.behave(request)


def id_lines(request: Received, *, trace: str | None = None) -> list[bytes]:
    named = request.json
    return [
        f"x-platform-trace-id: {trace or named['traceId']}".encode(),
        f"x-platform-invocation-id: {named['invocationId']}".encode(),
        f"x-platform-root-task-id: {named['rootTaskId']}".encode(),
    ]


def result_body(request: Received, **members: object) -> bytes:
    named = {name: request.json[name] for name in ("invocationId", "rootTaskId", "traceId")}
    return json.dumps({"schemaVersion": "1", **named, "status": "succeeded", "result": 1, **members}).encode()


def error_body(request: Received, code: str, correlated: bool, /, **members: object) -> bytes:
    names = ("traceId", *IDS) if correlated else ("traceId",)
    named = {name: request.json[name] for name in names}
    return json.dumps({"code": code, "message": code_entries()[ErrorCode(code)].message, **named, **members}).encode()


def result(lines: Callable[[Received], list[bytes]] = id_lines, **members: object) -> Behaviour:
    async def behave(request: Received) -> None:
        await request.answer(result_body(request, **members), 200, b"content-type: application/json", *lines(request))

    return behave


def error(code: str, /, *, correlated: bool = False, status: int | None = None, **members: object) -> Behaviour:
    async def behave(request: Received) -> None:
        lines = id_lines(request) if correlated else id_lines(request)[:1]
        body = error_body(request, code, correlated, **members)
        number = status or code_entries()[ErrorCode(code)].status
        await request.answer(body, number, b"content-type: application/json", *lines)

    return behave


def typed(*media_types: bytes) -> Behaviour:
    """A right result under these lines of `Content-Type`."""

    async def behave(request: Received) -> None:
        lines = [b"content-type: " + media_type for media_type in media_types]
        await request.answer(result_body(request), 200, *lines, *id_lines(request))

    return behave


def raw(content: bytes, *, ended: bool = True) -> Behaviour:
    """An accepted head, then this much of a body, and the end of the connection or nothing more."""

    async def behave(request: Received) -> None:
        head = [b"HTTP/1.1 200 Said", b"content-type: application/json", b"content-length: 300", *id_lines(request)]
        await request.send(b"\r\n".join([*head, b"", content]))
        await (asyncio.sleep(0) if ended else request.wait_for_leaving())
        request.writer.close()

    return behave


WITHOUT_IDS: dict[str, Behaviour] = {
    "wrong trace": result(lambda request: id_lines(request, trace="f" * 32)),
    "no trace": result(lambda request: id_lines(request)[1:]),
    "two traces": result(lambda request: [*id_lines(request), id_lines(request)[0]]),
    "result without id headers": result(lambda request: id_lines(request)[:1]),
    "one id header": result(lambda request: id_lines(request)[:2]),
    "ids of another": result(lambda request: [id_lines(request)[0], b"x-platform-invocation-id: inv_" + b"0" * 32]),
    "refused the token": error("UNAUTHENTICATED"),
    "did not know the token": error("FORBIDDEN"),
    "not found": error("NOT_FOUND"),
    "conflict": error("CONFLICT"),
    "violations of the dispatch": error("VALIDATION_ERROR", violations=[{"pointer": "/caller", "rule": "type"}]),
    "no violations": error("VALIDATION_ERROR"),
    "other status": error("OVERLOADED", status=500),
    "other message": error("OVERLOADED", message="Come back later."),
    "unknown code": error("OVERLOADED", code="MADE_UP"),
    "code of another envelope": error("WRONG_PROOF"),
    "ids without acceptance": error("DEPENDENCY_ERROR", **OTHER),
    "after-acceptance code without ids": error("TIMEOUT"),
    "unknown member": error("OVERLOADED", hint="x"),
    "reset": reset,
    "redirect": error("OVERLOADED", status=302),
    "reason of another code": error("DEPENDENCY_ERROR", reason="input_size"),
    "reason of a code without any": error("OVERLOADED", reason="store_unavailable"),
    "unknown reason": error("DEPENDENCY_ERROR", reason="the text of an Agent"),
}
# The Router said so itself, in its form before acceptance: nothing was accepted, which is known.
REFUSED = frozenset(
    {
        *("refused the token", "did not know the token", "not found", "conflict"),
        *("violations of the dispatch", "no violations"),
    }
)
WITH_IDS: dict[str, Behaviour] = {
    "breaks off after the id headers": raw(b""),
    "breaks off inside the body": raw(b'{"schemaVersion":"1"'),
    "other invocation in the body": result(invocationId=OTHER["invocationId"]),
    "other root task in the body": result(rootTaskId=OTHER["rootTaskId"]),
    "other trace in the body": result(traceId=OTHER["traceId"]),
    "unknown member": result(extra=1),
    "no media type": typed(),
    "two media types": typed(b"application/json", b"application/json"),
    "text": typed(b"text/plain; charset=utf-8"),
    "events": typed(b"text/event-stream"),
    "a media type with JSON inside": typed(b"application/json-seq"),
    "not succeeded": result(status="failed"),
    "too large": result(result="x" * 2000),
    "error too large": error("TIMEOUT", correlated=True, message="x" * 70_000),
    "before-acceptance code": error("NOT_ACCEPTABLE", correlated=True),
    "error ids of another": error("TIMEOUT", correlated=True, **OTHER),
    "error of another status": error("TIMEOUT", correlated=True, status=500),
    "reason of another code": error("AGENT_UNAVAILABLE", correlated=True, reason="schema_work"),
}
