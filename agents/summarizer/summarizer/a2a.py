"""A2A 0.3.0 by hand: reads JSON-RPC requests, acts on Tasks, and writes what A2A calls them."""

from collections.abc import AsyncGenerator, Iterator
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

from aop.agent import current
from aop.contracts.a2a import TaskState
from summarizer.skills import Piece, Unusable, work_on
from summarizer.tasks import Task, Tasks

ARTIFACT: Final = "result"
PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
UNKNOWN_TASK, NOT_CANCELABLE = -32001, -32002

Json = dict[str, Any]
P = TypeVar("P")


class RpcRefused(Exception):
    """Becomes a JSON-RPC error."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Request(msgspec.Struct, frozen=True):
    jsonrpc: Literal["2.0"]
    id: str | int | None
    method: str
    params: msgspec.Raw = msgspec.Raw(b"{}")


class Part(msgspec.Struct, frozen=True, tag_field="kind"):
    """Of the kinds A2A knows, this Agent works on data."""


class DataPart(Part, frozen=True, tag="data"):
    data: msgspec.Raw


class TextPart(Part, frozen=True, tag="text"):
    text: str


class FilePart(Part, frozen=True, tag="file"):
    file: msgspec.Raw


class Message(msgspec.Struct, frozen=True, rename="camel"):
    kind: Literal["message"]
    message_id: str
    role: Literal["user"]
    parts: Annotated[list[DataPart | TextPart | FilePart], msgspec.Meta(min_length=1)]
    task_id: str | None = None
    context_id: str | None = None


class Configuration(msgspec.Struct, frozen=True):
    blocking: bool = False


class MessageParams(msgspec.Struct, frozen=True):
    message: Message
    configuration: Configuration = Configuration()


class TaskParams(msgspec.Struct, frozen=True):
    id: str


def read_request(body: bytes) -> Request:
    try:
        return msgspec.json.decode(body, type=Request)
    except msgspec.ValidationError as problem:
        raise RpcRefused(INVALID_REQUEST, str(problem)) from None
    except msgspec.DecodeError as problem:
        raise RpcRefused(PARSE_ERROR, str(problem)) from None


def read_params(request: Request, kind: type[P]) -> P:
    try:
        return msgspec.json.decode(request.params, type=kind)
    except msgspec.DecodeError as problem:
        raise RpcRefused(INVALID_PARAMS, str(problem)) from None


def taken(tasks: Tasks, message: Message) -> Task:
    """The Task that a message starts, or goes on with; already at work unless it cannot be."""
    task = tasks.open(message.context_id) if message.task_id is None else _waiting(tasks, message)
    given = next((part.data for part in message.parts if isinstance(part, DataPart)), None)
    capability = current().capability
    if given is None:
        task.ask(f"Send one data part: the input of {capability}.")
        return task
    try:
        task.begin(work_on(capability, bytes(given)))
    except Unusable as problem:
        task.reject(str(problem))
    return task


def known(tasks: Tasks, task_id: str) -> Task:
    task = tasks.get(task_id)
    if task is None:
        raise RpcRefused(UNKNOWN_TASK, "Task not found")
    return task


def canceled(tasks: Tasks, task_id: str) -> Task:
    task = known(tasks, task_id)
    if task.ended:
        raise RpcRefused(NOT_CANCELABLE, "Task cannot be canceled")
    task.cancel()
    return task


def snapshot(task: Task) -> Json:
    """The Task as it is now; words that were sent one by one stand in one part."""
    found: Json = {"kind": "task", "id": task.id, "contextId": task.context_id, "status": task.status()}
    parts = list(_joined(task.pieces))
    return found | {"artifacts": [{"artifactId": ARTIFACT, "parts": parts}]} if parts else found


async def followed(task: Task) -> AsyncGenerator[Json, None]:
    """The Task, each piece as it is made, and the end. One that waits for its caller is told whole, and that is all."""
    lineage = {"taskId": task.id, "contextId": task.context_id}
    if task.state is not TaskState.WORKING:
        yield snapshot(task)
        return
    yield {"kind": "task", "id": task.id, "contextId": task.context_id, "status": {"state": TaskState.WORKING}}
    told = 0
    while True:
        changed = task.changed
        while told < len(task.pieces):
            yield lineage | _update(task.pieces[told], first=told == 0)
            told += 1
        if task.ended:
            yield lineage | {"kind": "status-update", "status": task.status(), "final": True}
            return
        await changed.wait()


def response(request_id: str | int | None, result: Json) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def error(request_id: str | int | None, refused: RpcRefused) -> bytes:
    problem = {"code": refused.code, "message": str(refused)}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "error": problem})


def _waiting(tasks: Tasks, message: Message) -> Task:
    task = known(tasks, str(message.task_id))
    if task.state is not TaskState.INPUT_REQUIRED:
        raise RpcRefused(INVALID_PARAMS, "the Task takes no message")
    if message.context_id not in {None, task.context_id}:
        raise RpcRefused(INVALID_PARAMS, "the Task belongs to another context")
    return task


def _update(piece: Piece, *, first: bool) -> Json:
    artifact = {"artifactId": ARTIFACT, "parts": [piece.part]}
    return {"kind": "artifact-update", "artifact": artifact, "append": not first, "lastChunk": piece.last}


def _joined(pieces: list[Piece]) -> Iterator[Json]:
    words = [piece.part["text"] for piece in pieces if piece.part["kind"] == "text"]
    if words:
        yield {"kind": "text", "text": "".join(words)}
    yield from (piece.part for piece in pieces if piece.part["kind"] != "text")
