"""A2A 1.0 over JSON-RPC: the JSON form of its protocol buffers, translated to and from A2A 0.3.

Values of parts keep their bytes: only the members around them are written anew. A result that is not one of A2A 1.0 is
passed on as an empty object, which the Router refuses: as it is, it could be one of A2A 0.3.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from aop.a2a.rpc import MODES, DataPart, FilePart, RequestId, TextPart
from aop.a2a.v0_3 import last_message
from aop.a2a.v1_0 import AGENT, STATE_PREFIX, USER, ProtoMessage, ProtoObject, ProtoPart
from aop.a2a.versions import VERSION_HEADER, A2AVersion
from aop.base import json as strict_json
from aop.front.dialect import Question, rpc
from aop.front.reading import NOT_READ, RUNNING, Kind, Seen, SeenArtifact, SeenResult, SeenStatus
from aop.net.http import Headers

_UNKNOWN: Final = "unknown"
_FILE: Final = {"bytes": "raw", "uri": "url", "name": "filename", "mimeType": "mediaType"}
_ROLES: Final = {USER: "user", AGENT: "agent"}


class _Status(ProtoObject, frozen=True):
    state: str = ""
    message: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Artifact(ProtoObject, frozen=True):
    artifact_id: str
    parts: tuple[ProtoPart, ...] = ()


class _Task(ProtoObject, frozen=True):
    id: str
    status: _Status
    context_id: str = ""
    artifacts: tuple[_Artifact, ...] = ()
    history: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _StatusUpdate(ProtoObject, frozen=True):
    task_id: str
    status: _Status
    context_id: str = ""


class _ArtifactUpdate(ProtoObject, frozen=True):
    task_id: str
    artifact: _Artifact
    context_id: str = ""
    append: bool = False
    last_chunk: bool = False


class _Payload(ProtoObject, frozen=True):
    """The one member that is there says what it is."""

    task: _Task | None = None
    message: ProtoMessage | None = None
    status_update: _StatusUpdate | None = None
    artifact_update: _ArtifactUpdate | None = None


class _Response(msgspec.Struct, frozen=True, gc=False):
    id: str | int | float | None
    result: _Payload | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _AnyResponse(msgspec.Struct, frozen=True, gc=False):
    id: str | int | float | None
    result: msgspec.Raw


class _TaskResponse(msgspec.Struct, frozen=True, gc=False):
    id: str | int | float | None
    result: _Task | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Said(msgspec.Struct, frozen=True, gc=False):
    """A response in A2A 0.3, as it is written."""

    id: str | int | float | None
    result: SeenResult
    jsonrpc: str = "2.0"


_read_payload = msgspec.json.Decoder(_Response).decode
_read_task = msgspec.json.Decoder(_TaskResponse).decode
_read_any = msgspec.json.Decoder(_AnyResponse).decode
_read_message = msgspec.json.Decoder(ProtoMessage).decode
_encode = msgspec.json.Encoder().encode


class ProtoDialect:
    headers: Headers = ((VERSION_HEADER, A2AVersion.V1_0.encode()),)

    def __init__(self, tenant: str | None = None) -> None:
        self._tenant: Mapping[str, Any] = {} if tenant is None else {"tenant": tenant}

    def send(self, request_id: RequestId, question: Question, *, streamed: bool) -> bytes:
        message: dict[str, Any] = {
            "messageId": question.message_id,
            "role": USER,
            "parts": [_sent_part(part) for part in question.parts],
            "metadata": {"skillId": question.skill_id},
        }
        if question.context_id is not None:
            message["contextId"] = question.context_id
        configuration: dict[str, Any] = {"acceptedOutputModes": MODES}
        if not streamed:
            configuration["returnImmediately"] = True  # see SameDialect
        params = {"message": message, "configuration": configuration, **self._tenant}
        return rpc(request_id, "SendStreamingMessage" if streamed else "SendMessage", params)

    def get_task(self, request_id: RequestId, task_id: str) -> bytes:
        return rpc(request_id, "GetTask", {"id": task_id, "historyLength": 1, **self._tenant})

    def cancel_task(self, request_id: RequestId, task_id: str) -> bytes:
        return rpc(request_id, "CancelTask", {"id": task_id, **self._tenant})

    def read(self, text: bytes, request_id: RequestId) -> Seen:
        return _translated(text, request_id, _read_payload, _payload)

    def read_task(self, text: bytes, request_id: RequestId) -> Seen:
        return _translated(text, request_id, _read_task, _task)


def _translated(
    text: bytes, request_id: RequestId, decode: Callable[[bytes], Any], translate: Callable[[Any], SeenResult]
) -> Seen:
    try:
        response = decode(text)
        if response.id != request_id:
            return Seen(text)
        if response.result is msgspec.UNSET:
            return Seen(text, refuses=response.error is not msgspec.UNSET)
        strict_json.parse(text, strict_json.AGENT_DEPTH)  # a repeated member would be lost in translation
        result = translate(response.result)
        return Seen.of(_encode(_Said(response.id, result)), result)
    except strict_json.JsonRefused:
        return Seen(text)
    except (*NOT_READ, KeyError):
        return Seen(_refused(text))


def _refused(text: bytes) -> bytes:
    """As the Router refuses it, whatever it is."""
    try:
        return _encode({"jsonrpc": "2.0", "id": _read_any(text).id, "result": {}})
    except NOT_READ:
        return text


def _payload(payload: _Payload) -> SeenResult:
    if payload.artifact_update is not None:
        return _artifact_update(payload.artifact_update)
    if payload.status_update is not None:
        return _status_update(payload.status_update)
    if payload.task is not None:
        return _task(payload.task)
    if payload.message is not None:
        return _message(payload.message)
    raise KeyError("a response of no kind")


def _task(task: _Task) -> SeenResult:
    return SeenResult(
        kind=Kind.TASK,
        id=task.id,
        context_id=_context(task.context_id, task.id),
        status=_status(task.status),
        artifacts=tuple(map(_artifact, task.artifacts)) if task.artifacts else msgspec.UNSET,
        history=_history(task.history),
    )


def _history(history: msgspec.Raw | msgspec.UnsetType) -> msgspec.Raw | msgspec.UnsetType:
    """Only that Message of it which may become the result; one that is none is left to the Router."""
    if history is msgspec.UNSET:
        return history
    try:
        last = last_message(history, AGENT)
    except msgspec.DecodeError:
        return history
    return msgspec.UNSET if last is None else msgspec.Raw(b"[%b]" % bytes(_said(last)))


def _message(message: ProtoMessage) -> SeenResult:
    task_id = message.task_id or msgspec.UNSET
    return SeenResult(
        kind=Kind.MESSAGE,
        message_id=message.message_id,
        role=_ROLES.get(message.role, _UNKNOWN),
        parts=tuple(map(_part, message.parts)),
        task_id=task_id,
        context_id=message.context_id or task_id,
    )


def _status_update(update: _StatusUpdate) -> SeenResult:
    status = _status(update.status)
    return SeenResult(
        kind=Kind.STATUS,
        task_id=update.task_id,
        context_id=_context(update.context_id, update.task_id),
        status=status,
        final=status.state not in RUNNING,
    )


def _artifact_update(update: _ArtifactUpdate) -> SeenResult:
    return SeenResult(
        kind=Kind.ARTIFACT,
        task_id=update.task_id,
        context_id=_context(update.context_id, update.task_id),
        artifact=_artifact(update.artifact),
        append=update.append,
        last_chunk=update.last_chunk,
    )


def _context(context_id: str, task_id: str) -> str:
    """A2A 0.3 wants one. An Agent that names none has one for each Task."""
    return context_id or task_id


def _status(status: _Status) -> SeenStatus:
    state = (
        status.state.removeprefix(STATE_PREFIX).lower().replace("_", "-")
        if status.state.startswith(STATE_PREFIX)
        else _UNKNOWN
    )
    said = status.message if status.message is msgspec.UNSET else _said(status.message)
    return SeenStatus(_UNKNOWN if state == "unspecified" else state, said)


def _said(message: msgspec.Raw) -> msgspec.Raw:
    """The Router judges it only where it is the result: one that cannot be read is an empty object."""
    if bytes(message).strip() == b"null":
        return message
    try:
        return msgspec.Raw(_encode(_message(_read_message(message))))
    except (msgspec.DecodeError, KeyError):
        return msgspec.Raw(b"{}")


def _artifact(artifact: _Artifact) -> SeenArtifact:
    return SeenArtifact(artifact.artifact_id, tuple(map(_part, artifact.parts)))


def _part(part: ProtoPart) -> msgspec.Raw:
    """KeyError unless it has exactly one content, and no `kind`. A null counts only where there is no other content."""
    given = [one for one in (part.text, part.data, part.raw, part.url) if one is not msgspec.UNSET]
    found = [one for one in given if bytes(one).strip() != b"null"] or given
    if len(found) != 1 or part.kind is not msgspec.UNSET:
        raise KeyError("a part of no kind, of two, or of A2A 0.3")
    if found[0] is part.text:
        return msgspec.Raw(b'{"kind":"text","text":%b}' % bytes(found[0]))
    if found[0] is part.data:
        return msgspec.Raw(b'{"kind":"data","data":%b}' % bytes(found[0]))
    values = (part.raw, part.url, part.filename, part.media_type)
    file = {name: value for name, value in zip(_FILE, values, strict=True) if value is not msgspec.UNSET}
    return msgspec.Raw(_encode({"kind": "file", "file": file}))


def _sent_part(part: DataPart | TextPart | FilePart) -> dict[str, Any]:
    if isinstance(part, DataPart):
        return {"data": part.data}
    if isinstance(part, TextPart):
        return {"text": part.text}
    return {_FILE[name]: value for name, value in part.file.items() if name in _FILE}
