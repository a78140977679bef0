"""A2A 1.0 over JSON-RPC, the JSON form of its protocol buffers: read, and translated to and from A2A 0.3.

Values of parts keep their bytes: only the members around them are written anew. A result that is not one of A2A 1.0 is
passed on as an empty object, which the Router refuses: as it is, it could be one of A2A 0.3.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeVar

import msgspec

from aop.a2a.dialect import AgentResponse, Dialect, MethodNames, Question, RpcAnswer
from aop.a2a.rpc import DataPart, FilePart, RequestId, TextPart, success
from aop.a2a.v0_3 import RUNNING, AgentArtifact, AgentResult, AgentStatus, Kind, last_of
from aop.a2a.versions import VERSION_HEADER, A2AVersion
from aop.base import json as strict_json

T = TypeVar("T")

STATE_PREFIX: Final = "TASK_STATE_"
USER: Final = "ROLE_USER"
AGENT: Final = "ROLE_AGENT"
_UNKNOWN: Final = "unknown"
_FILE: Final = {"bytes": "raw", "uri": "url", "name": "filename", "mimeType": "mediaType"}
_ROLES: Final = {USER: "user", AGENT: "agent"}


class ProtoObject(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """An object whose further members do not matter here. Absent and empty are the same, as in all protocol buffers."""


class ProtoPart(ProtoObject, frozen=True, omit_defaults=True):
    """The one member of content that is there says what it is; values keep their bytes."""

    text: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    raw: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    url: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    filename: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    media_type: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    kind: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """Parts of A2A 0.3 have it, and those of 1.0 have not."""


class ProtoMessage(ProtoObject, frozen=True):
    message_id: str
    role: str = ""
    parts: tuple[ProtoPart, ...] = ()
    task_id: str = ""
    context_id: str = ""


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


_read_payload = msgspec.json.Decoder(RpcAnswer[_Payload]).decode
_read_task = msgspec.json.Decoder(RpcAnswer[_Task]).decode
_read_any = msgspec.json.Decoder(RpcAnswer[msgspec.Raw]).decode
_read_message = msgspec.json.Decoder(ProtoMessage).decode
_encode = msgspec.json.Encoder().encode


class ProtoDialect(Dialect):
    headers: ClassVar[Sequence[tuple[bytes, bytes]]] = ((VERSION_HEADER, A2AVersion.V1_0.encode()),)
    _methods = MethodNames("SendMessage", "SendStreamingMessage", "GetTask", "CancelTask")
    _at_once: ClassVar[Mapping[str, Any]] = {"returnImmediately": True}

    def __init__(self, tenant: str | None = None) -> None:
        super().__init__({} if tenant is None else {"tenant": tenant})

    def read(self, text: bytes, request_id: RequestId) -> AgentResponse:
        return self._translated(text, request_id, _read_payload, _payload)

    def read_task(self, text: bytes, request_id: RequestId) -> AgentResponse:
        return self._translated(text, request_id, _read_task, _task)

    def _content(self, question: Question) -> dict[str, Any]:
        return {"role": USER, "parts": [_sent_part(part) for part in question.parts]}

    def _translated(
        self,
        text: bytes,
        request_id: RequestId,
        read: Callable[[bytes], RpcAnswer[T]],
        translate: Callable[[T], AgentResult],
    ) -> AgentResponse:
        def passed_on(received: T) -> AgentResponse:
            result = translate(received)
            return AgentResponse.of(success(request_id, _encode(result)), result)

        try:
            return self._response(text, request_id, read(text), passed_on)
        except strict_json.JsonRefused:
            return AgentResponse(text)
        except (*strict_json.NOT_READ, KeyError):
            return AgentResponse(_refused(text))


def _refused(text: bytes) -> bytes:
    """As the Router refuses it, whatever it is."""
    try:
        response = _read_any(text)
    except strict_json.NOT_READ:
        return text
    return text if response.result is msgspec.UNSET else success(response.id, b"{}")


def _payload(payload: _Payload) -> AgentResult:
    if payload.artifact_update is not None:
        return _artifact_update(payload.artifact_update)
    if payload.status_update is not None:
        return _status_update(payload.status_update)
    if payload.task is not None:
        return _task(payload.task)
    if payload.message is not None:
        return _message(payload.message)
    raise KeyError("a response of no kind")


# A2A 0.3 wants a context. An Agent that names none has one for each Task.
def _task(task: _Task) -> AgentResult:
    return AgentResult(
        kind=Kind.TASK,
        id=task.id,
        context_id=task.context_id or task.id,
        status=_status(task.status),
        artifacts=tuple(map(_artifact, task.artifacts)) if task.artifacts else msgspec.UNSET,
        history=last_of(task.history, AGENT, _translated_message),
    )


def _message(message: ProtoMessage) -> AgentResult:
    task_id = message.task_id or msgspec.UNSET
    return AgentResult(
        kind=Kind.MESSAGE,
        message_id=message.message_id,
        role=_ROLES.get(message.role, _UNKNOWN),
        parts=tuple(map(_part, message.parts)),
        task_id=task_id,
        context_id=message.context_id or task_id,
    )


def _status_update(update: _StatusUpdate) -> AgentResult:
    status = _status(update.status)
    return AgentResult(
        kind=Kind.STATUS,
        task_id=update.task_id,
        context_id=update.context_id or update.task_id,
        status=status,
        final=status.state not in RUNNING,
    )


def _artifact_update(update: _ArtifactUpdate) -> AgentResult:
    return AgentResult(
        kind=Kind.ARTIFACT,
        task_id=update.task_id,
        context_id=update.context_id or update.task_id,
        artifact=_artifact(update.artifact),
        append=update.append,
        last_chunk=update.last_chunk,
    )


def _status(status: _Status) -> AgentStatus:
    state = (
        status.state.removeprefix(STATE_PREFIX).lower().replace("_", "-")
        if status.state.startswith(STATE_PREFIX)
        else _UNKNOWN
    )
    message = status.message if status.message is msgspec.UNSET else _translated_message(status.message)
    return AgentStatus(_UNKNOWN if state == "unspecified" else state, message)


def _translated_message(message: msgspec.Raw) -> msgspec.Raw:
    """The Router judges it only where it is the result: one that cannot be read is an empty object."""
    if bytes(message).strip() == b"null":
        return message
    try:
        return msgspec.Raw(_encode(_message(_read_message(message))))
    except (msgspec.DecodeError, KeyError):
        return msgspec.Raw(b"{}")


def _artifact(artifact: _Artifact) -> AgentArtifact:
    return AgentArtifact(artifact.artifact_id, tuple(map(_part, artifact.parts)))


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
