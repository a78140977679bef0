"""Tasks and events as each version of A2A writes them. Values of an Agent keep their bytes."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import msgspec

from aop.a2a.rpc import RequestId
from aop.a2a.v0_3 import TaskState
from aop.a2a.v1_0 import AGENT, STATE_PREFIX
from aop.a2a.versions import A2AVersion
from aop.base import json as strict_json

ARTIFACT: Final = "result"
"""The id of the one artifact of a Task: the result, whole or chunk by chunk."""

_LF, _CR, _QUOTE, _BRACE = 0x0A, 0x0D, ord('"'), ord("{")
_encode = msgspec.json.Encoder().encode


class TaskView(msgspec.Struct, frozen=True, gc=False):
    """A Task as its caller sees it. `facts` go into the metadata, `text` is for people."""

    id: str
    context_id: str
    state: TaskState
    time: str = ""
    facts: Mapping[str, str] = MappingProxyType({})
    text: str | None = None
    message_id: str | None = None
    """Of the message with the text; None for one that is always that of this state."""


class A2AForm:
    """A2A 0.3: objects say by `kind` what they are, and the data of a part is an object."""

    _role = "agent"

    def part(self, value: bytes) -> bytes:
        """One value of an Agent."""
        first = value[0]
        if first == _QUOTE:
            return b'{"kind":"text","text":%b}' % value
        if first == _BRACE:
            return b'{"kind":"data","data":%b}' % value
        return b'{"kind":"data","data":{"result":%b}}' % value

    def task(self, view: TaskView, value: bytes | None = None, *, history: int | None = None) -> bytes:
        """A Task, with its artifact if there is one. `history` is the length that the caller asks for; nothing but the
        message of the status is ever in it."""
        parts = () if value is None else (self.part(value),)
        if view.text is None and history is None:
            return self.document(view, parts)
        return self.document(view, parts, [] if view.text is None or history == 0 else [self._message(view)])

    def document(self, view: TaskView, parts: Sequence[bytes] = (), history: Sequence[Any] | None = None) -> bytes:
        """A Task with the parts of its one artifact, and with the messages that were exchanged."""
        task = self._object("task", id=view.id, contextId=view.context_id, status=self._status(view))
        if parts:
            task["artifacts"] = [{"artifactId": ARTIFACT, "parts": [*map(msgspec.Raw, parts)]}]
        if history is not None:
            task["history"] = history
        if view.facts:
            task["metadata"] = view.facts
        return _encode(task)

    def sent(self, task: bytes) -> bytes:
        """The result of a message that was not streamed, and the first event of a stream."""
        return task

    def status(self, view: TaskView) -> bytes:
        """The event after which nothing comes."""
        return _encode({"kind": "status-update", **_update(view), "status": self._status(view), "final": True})

    def artifact(self, view: TaskView) -> tuple[bytes, bytes, bytes]:
        """The event of a chunk: what stands before its part, after the first one, and after every later one."""
        ids = _encode({"kind": "artifact-update", "taskId": view.id, "contextId": view.context_id})
        return ids[:-1] + _ARTIFACT, b']},"append":false}', b']},"append":true}'

    def _status(self, view: TaskView) -> dict[str, Any]:
        status: dict[str, Any] = {"state": self._state(view.state)}
        if view.time:
            status["timestamp"] = view.time
        if view.text is not None:
            status["message"] = self._message(view)
        return status

    def _message(self, view: TaskView) -> dict[str, Any]:
        ids = {
            "messageId": view.message_id or f"{view.id}-{view.state}",
            "taskId": view.id,
            "contextId": view.context_id,
        }
        return self._object("message", **ids, role=self._role, parts=[self._object("text", text=view.text)])

    def _state(self, state: TaskState) -> str:
        return state

    def _object(self, kind: str, **members: Any) -> dict[str, Any]:
        return {"kind": kind, **members}


class ProtoForm(A2AForm):
    """A2A 1.0: a member of the result says what it is, and the data of a part is any value."""

    _role = AGENT

    def part(self, value: bytes) -> bytes:
        return (b'{"text":%b}' if value[0] == _QUOTE else b'{"data":%b}') % value

    def sent(self, task: bytes) -> bytes:
        return b'{"task":%b}' % task

    def status(self, view: TaskView) -> bytes:
        return _encode({"statusUpdate": {**_update(view), "status": self._status(view)}})

    def artifact(self, view: TaskView) -> tuple[bytes, bytes, bytes]:
        ids = _encode({"artifactUpdate": {"taskId": view.id, "contextId": view.context_id}})
        return ids[:-2] + _ARTIFACT, b"]}}}", b']},"append":true}}'

    def _state(self, state: TaskState) -> str:
        return STATE_PREFIX + state.upper().replace("-", "_")

    def _object(self, kind: str, **members: Any) -> dict[str, Any]:
        return members


FORMS: Final[Mapping[A2AVersion, A2AForm]] = {A2AVersion.V0_3: A2AForm(), A2AVersion.V1_0: ProtoForm()}

_ARTIFACT: Final = b',"artifact":{"artifactId":%b,"parts":[' % _encode(ARTIFACT)


def encoded_part(value: Any) -> bytes:
    """In A2A 0.3 as Agents write it: a text as a text part, everything else as a data part."""
    kind = "text" if isinstance(value, str) else "data"
    return _encode({"kind": kind, kind: value})


class StreamWriter:
    """The frames of one stream. Around the value of a chunk all bytes are those of the chunk before."""

    __slots__ = ("_before", "_behind", "_form", "_head", "_later", "_part", "view")

    def __init__(self, form: A2AForm, request_id: RequestId, view: TaskView) -> None:
        self._form = form
        self._part = form.part
        self._head = b'data: {"jsonrpc":"2.0","id":%b,"result":' % _encode(request_id)
        before, first, later = form.artifact(view)
        self._before = self._head + before
        self._behind = first + b"}\n\n"
        self._later = later + b"}\n\n"
        self.view = view

    def opening(self) -> bytes:
        """The Task at work, with which a stream begins."""
        working = msgspec.structs.replace(self.view, state=TaskState.WORKING, text=None)
        return self._frame(self._form.sent(self._form.task(working)))

    def chunk(self, value: bytes) -> bytes:
        """The value has no line end: it comes from a line, or `one_line` took them out."""
        frame = self._before + self._part(value) + self._behind
        self._behind = self._later
        return frame

    def status(self, view: TaskView) -> bytes:
        return self._frame(self._form.status(view))

    def _frame(self, result: bytes) -> bytes:
        return b"%b%b}\n\n" % (self._head, result)


def one_line(value: bytes) -> bytes:
    return strict_json.compact(value) if _LF in value or _CR in value else value


def _update(view: TaskView) -> dict[str, Any]:
    ids: dict[str, Any] = {"taskId": view.id, "contextId": view.context_id}
    return {**ids, "metadata": view.facts} if view.facts else ids
