"""The A2A profile as a judge of an Agent's answers: what they may look like and which values they give."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import msgspec

from aop.base import json as strict_json
from aop.contracts.a2a import (
    Artifact,
    ArtifactUpdate,
    Message,
    Part,
    PartKind,
    RpcResponse,
    StatusUpdate,
    Task,
    TaskState,
    last_message,
)

T = TypeVar("T")

RUNNING: Final = frozenset({TaskState.SUBMITTED, TaskState.WORKING})
_KINDS: Final[dict[str, type[Any]]] = {
    "message": Message,
    "task": Task,
    "status-update": StatusUpdate,
    "artifact-update": ArtifactUpdate,
}


class ProfileBroken(Exception):
    """The answer breaks the profile; the text says how and repeats nothing of it."""


class RpcRefused(Exception):
    """The Agent answered with a JSON-RPC error."""

    def __init__(self, code: int) -> None:
        super().__init__(f"JSON-RPC error {code}")
        self.code = code


def rpc_result(body: bytes, request_id: str) -> msgspec.Raw:
    """The result of one JSON-RPC response."""
    try:
        strict_json.parse(body, strict_json.AGENT_DEPTH)
        response = msgspec.json.decode(body, type=RpcResponse)
    except strict_json.JsonRefused as refused:
        raise ProfileBroken(f"not strict JSON: {refused.rule}") from None
    except msgspec.DecodeError as problem:
        raise ProfileBroken(f"not a JSON-RPC response: {problem}") from None
    if response.id != request_id:
        raise ProfileBroken("the id of the response is not that of the request")
    if (response.result is msgspec.UNSET) == (response.error is msgspec.UNSET):
        raise ProfileBroken("a response has exactly one of result and error")
    if response.error is not msgspec.UNSET:
        raise RpcRefused(response.error.code)
    return msgspec.Raw(b"" if response.result is msgspec.UNSET else bytes(response.result))


def message_or_task(result: msgspec.Raw) -> Message | Task:
    found = _read(result, ("message", "task"))
    if isinstance(found, Message | Task):
        return found
    raise ProfileBroken("the result is neither a message nor a task")


def task(result: msgspec.Raw) -> Task:
    found = _read(result, ("task",))
    if isinstance(found, Task):
        return found
    raise ProfileBroken("the result is no task")


def result_value(found: Message | Task, accepts: Callable[[Any], bool] = lambda _: True) -> Any:
    """What the platform gives its caller: the value of a Message or of a completed Task.

    Several texts are one string when the outputSchema `accepts` it, and else an array, as other parts are.
    """
    parts: Sequence[Part] = found.parts if isinstance(found, Message) else _parts_of(found)
    if len(parts) > 1 and all(part.kind is PartKind.TEXT for part in parts):
        text = "".join(map(_part_value, parts))
        if accepts(text):
            return text
    return _value(parts) if parts else None


def _parts_of(found: Task) -> Sequence[Part]:
    """Of the artifacts; without any, of the last Message."""
    parts = [part for artifact in _artifacts(found) for part in artifact.parts]
    message = None if parts else _last_message(found)
    return parts if message is None else message.parts


class StreamJudge:
    """Reads the results of one message/stream answer; `state` is the Task's last one, None for messages alone."""

    def __init__(self) -> None:
        self.state: TaskState | None = None
        self.task_id: str | None = None
        self.ended = False
        self._bound: tuple[str, str] | None = None
        self._messages = False
        self._closed: dict[str, bool] = {}
        self._chunks = 0
        self._working: list[msgspec.Raw] = []

    def read(self, result: msgspec.Raw) -> list[Any]:
        """The chunks that the event gives; nothing after the terminal counts."""
        if self.ended:
            return []
        found = _read(result, tuple(_KINDS))
        self._bind(found)
        if isinstance(found, Message):
            chunks = [_value(found.parts)]
        elif isinstance(found, ArtifactUpdate):
            chunks = [self._artifact(found)]
        else:
            chunks = list(self._status(found))
        self._chunks += len(chunks)
        return chunks

    def end(self) -> None:
        """The answer ended cleanly."""
        if not self.ended and not (self._messages and self._bound is None):
            raise ProfileBroken("the stream ended without a terminal")

    def _bind(self, found: Message | Task | StatusUpdate | ArtifactUpdate) -> None:
        task_id = found.id if isinstance(found, Task) else found.task_id
        if task_id is msgspec.UNSET:
            if self._bound is not None:
                raise ProfileBroken("a message without task in the stream of a task")
            self._messages = True
            return
        context_id = found.context_id
        if self._messages:
            raise ProfileBroken("a task event in a stream of messages")
        if self._bound is None:
            self._bound = (task_id, "" if context_id is msgspec.UNSET else context_id)
            self.task_id = task_id
        if (task_id, context_id) != self._bound:
            raise ProfileBroken("an event of another task or context")

    def _artifact(self, update: ArtifactUpdate) -> Any:
        artifact_id = update.artifact.artifact_id
        if not artifact_id or not update.artifact.parts:
            raise ProfileBroken("an artifact without id or parts")
        is_closed = self._closed.get(artifact_id)
        if update.append is not True and is_closed is not None:
            raise ProfileBroken("an artifact that was sent before is replaced; what was delivered cannot be taken back")
        if update.append is True and is_closed is not False:
            raise ProfileBroken("an appended piece without base, or after lastChunk")
        self._closed[artifact_id] = update.last_chunk is True
        return _value(update.artifact.parts)

    def _status(self, found: Task | StatusUpdate) -> Iterator[Any]:
        self.state = state = found.status.state
        if state is TaskState.UNKNOWN:
            raise ProfileBroken("the state unknown is not one the platform can go on from")
        self.ended = state not in RUNNING
        if state is TaskState.WORKING and found.status.said is not None:
            self._working.append(found.status.said)
        if state is not TaskState.COMPLETED:
            return
        left = [one for one in _artifacts(found) if one.artifact_id not in self._closed and one.parts]
        yield from (_value(artifact.parts) for artifact in left)
        if not self._chunks and not left:
            yield from self._said(found)

    def _said(self, found: Task | StatusUpdate) -> Iterator[Any]:
        """The chunks of a stream without any: the last Message, else the texts of the status messages before."""
        message = _last_message(found)
        if message is not None:
            yield _value(message.parts)
            return
        for said in self._working:
            parts = _status_message(said).parts
            yield from (_part_value(part) for part in parts if part.kind is PartKind.TEXT)


def _read(result: msgspec.Raw, kinds: Sequence[str]) -> Message | Task | StatusUpdate | ArtifactUpdate:
    kind = _decoded(result, dict[str, Any]).get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise ProfileBroken(f"the kind of the result is not one of {', '.join(kinds)}")
    found: Message | Task | StatusUpdate | ArtifactUpdate = _decoded(result, _KINDS[kind])
    if isinstance(found, Message):
        _require_message(found)
    for artifact in _artifacts(found):
        _require_parts(artifact.parts)
    return found


def _last_message(found: Task | StatusUpdate) -> Message | None:
    """That of the status, else the Agent's last one in the history."""
    said = found.status.said
    if said is None and isinstance(found, Task) and found.history is not msgspec.UNSET:
        try:
            said = last_message(found.history, "agent")
        except msgspec.DecodeError as problem:
            raise ProfileBroken(f"the history is no list of messages: {problem}") from None
    return None if said is None else _status_message(said)


def _status_message(raw: msgspec.Raw) -> Message:
    """Judged only where its parts become a value."""
    message = _decoded(raw, Message)
    _require_message(message)
    return message


def _decoded(result: msgspec.Raw, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(result, type=kind)
    except msgspec.DecodeError as problem:
        raise ProfileBroken(f"not an A2A object of the profile: {problem}") from None


def _artifacts(found: Message | Task | StatusUpdate | ArtifactUpdate) -> tuple[Artifact, ...]:
    if isinstance(found, ArtifactUpdate):
        return (found.artifact,)
    return found.artifacts if isinstance(found, Task) and found.artifacts is not msgspec.UNSET else ()


def _require_message(message: Message) -> None:
    if not message.message_id or not message.parts:
        raise ProfileBroken("a message needs an id and at least one part")
    _require_parts(message.parts)


def _require_parts(parts: Sequence[Part]) -> None:
    for part in parts:
        _part_value(part)


def _value(parts: Sequence[Part]) -> Any:
    values = [_part_value(part) for part in parts]
    return values[0] if len(values) == 1 else values


def _part_value(part: Part) -> Any:
    raw = getattr(part, part.kind.value)
    if raw is msgspec.UNSET:
        raise ProfileBroken("a part without the member its kind names")
    value = msgspec.json.decode(raw)
    kind = {"text": str, "file": dict}.get(part.kind.value, object)
    if not isinstance(value, kind):
        raise ProfileBroken("a part whose value is not of its kind")
    return value
