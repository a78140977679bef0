"""What Agents answer in A2A 0.3. Business content stays as bytes.

The Router reads it as the profile 0.2 has it, a closed JSON-RPC envelope around open A2A objects. The front reads as
much of it (`Agent…`) as it takes to follow a Task; everything else in it is the Router's to judge.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, Literal

import msgspec

from aop.base.json import NOT_READ
from aop.contracts.wire import Wire


class TaskState(StrEnum):
    SUBMITTED = "submitted"
    WORKING = "working"
    COMPLETED = "completed"
    FAILED = "failed"
    REJECTED = "rejected"
    CANCELED = "canceled"
    AUTH_REQUIRED = "auth-required"
    INPUT_REQUIRED = "input-required"
    UNKNOWN = "unknown"


TERMINAL: Final = frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.REJECTED, TaskState.CANCELED})
RUNNING: Final = frozenset({TaskState.SUBMITTED, TaskState.WORKING})


class PartKind(StrEnum):
    DATA = "data"
    TEXT = "text"
    FILE = "file"


class A2AObject(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An object whose shape belongs to A2A: members the profile does not name are ignored."""


class RpcError(A2AObject, frozen=True, kw_only=True):
    code: int
    message: str
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class RpcResponse(Wire, frozen=True, kw_only=True):
    """Exactly one of `result` and `error` is present; the reader of an answer checks it."""

    jsonrpc: Literal["2.0"]
    id: str | int | float | None
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: RpcError | msgspec.UnsetType = msgspec.UNSET


class Part(A2AObject, frozen=True, kw_only=True):
    """The member named by `kind` is the value; all three stay bytes, so every spelling survives."""

    kind: PartKind
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    text: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    file: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class Message(A2AObject, frozen=True, kw_only=True):
    kind: Literal["message"] | msgspec.UnsetType = msgspec.UNSET
    message_id: str
    role: Literal["agent"]
    parts: tuple[Part, ...]
    task_id: str | msgspec.UnsetType = msgspec.UNSET
    context_id: str | msgspec.UnsetType = msgspec.UNSET


class AgentStatus(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """`message` stays bytes: it is a Message of the profile only where its parts become a value."""

    state: str
    message: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET

    @property
    def message_or_none(self) -> msgspec.Raw | None:
        """The message; null is none."""
        message = self.message
        return None if message is msgspec.UNSET or bytes(message).strip() == b"null" else message


class TaskStatus(AgentStatus, frozen=True, kw_only=True):
    state: TaskState


class Artifact(A2AObject, frozen=True, kw_only=True):
    artifact_id: str
    parts: tuple[Part, ...]


class Task(A2AObject, frozen=True, kw_only=True):
    """`history` stays bytes: only its last Message of the Agent may become a value, where there is no other."""

    kind: Literal["task"]
    id: str
    context_id: str
    status: TaskStatus
    artifacts: tuple[Artifact, ...] | msgspec.UnsetType = msgspec.UNSET
    history: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class StatusUpdate(A2AObject, frozen=True, kw_only=True):
    kind: Literal["status-update"]
    task_id: str
    context_id: str
    status: TaskStatus


class ArtifactUpdate(A2AObject, frozen=True, kw_only=True):
    kind: Literal["artifact-update"]
    task_id: str
    context_id: str
    artifact: Artifact
    append: bool | msgspec.UnsetType = msgspec.UNSET
    last_chunk: bool | msgspec.UnsetType = msgspec.UNSET


class Kind(StrEnum):
    MESSAGE = "message"
    TASK = "task"
    STATUS = "status-update"
    ARTIFACT = "artifact-update"


class AgentPart(msgspec.Struct, frozen=True, gc=False):
    kind: str = ""
    text: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class AgentMessage(msgspec.Struct, frozen=True, gc=False):
    parts: tuple[msgspec.Raw, ...]


class AgentArtifact(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    artifact_id: str
    parts: tuple[msgspec.Raw, ...] = ()


class AgentResult(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    kind: str
    id: str | msgspec.UnsetType = msgspec.UNSET
    message_id: str | msgspec.UnsetType = msgspec.UNSET
    role: str | msgspec.UnsetType = msgspec.UNSET
    task_id: str | msgspec.UnsetType = msgspec.UNSET
    context_id: str | msgspec.UnsetType = msgspec.UNSET
    status: AgentStatus | msgspec.UnsetType = msgspec.UNSET
    artifact: AgentArtifact | msgspec.UnsetType = msgspec.UNSET
    artifacts: tuple[AgentArtifact, ...] | msgspec.UnsetType = msgspec.UNSET
    history: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    parts: tuple[msgspec.Raw, ...] | msgspec.UnsetType = msgspec.UNSET
    append: bool | msgspec.UnsetType = msgspec.UNSET
    last_chunk: bool | msgspec.UnsetType = msgspec.UNSET
    final: bool | msgspec.UnsetType = msgspec.UNSET

    @property
    def task(self) -> str | None:
        """The Task that it belongs to; None for a Message without one."""
        found = self.id if self.kind == Kind.TASK else self.task_id
        return None if found is msgspec.UNSET else found

    @property
    def state(self) -> str | None:
        return None if self.status is msgspec.UNSET else self.status.state

    @property
    def ends(self) -> bool:
        """Nothing after it is of use: the Task has ended, or waits for somebody."""
        return self.status is not msgspec.UNSET and self.status.state not in RUNNING


class _Role(msgspec.Struct, frozen=True):
    role: str = ""


read_part: Final = msgspec.json.Decoder(AgentPart).decode
read_message: Final = msgspec.json.Decoder(AgentMessage).decode
_read_text: Final = msgspec.json.Decoder(str).decode
_history: Final = msgspec.json.Decoder(list[msgspec.Raw] | None).decode
_role: Final = msgspec.json.Decoder(_Role).decode


def text_of(part: msgspec.Raw) -> tuple[bytes, str] | None:
    """The text of a text part, as it is spelt and as it is; None for any other part. What is none the Router finds."""
    try:
        read = read_part(part)
        if read.kind == "text" and read.text is not msgspec.UNSET:
            return bytes(read.text), _read_text(read.text)
    except NOT_READ:
        pass
    return None


def last_message(history: msgspec.Raw, role: str) -> msgspec.Raw | None:
    """The last Message of that role in the history of a Task; msgspec.DecodeError when that is none."""
    return next((said for said in reversed(_history(history) or ()) if _role(said).role == role), None)


def last_of(
    history: msgspec.Raw | msgspec.UnsetType, role: str, written: Callable[[msgspec.Raw], msgspec.Raw] = lambda raw: raw
) -> msgspec.Raw | msgspec.UnsetType:
    """All of a history that may become the result; one that is none is left to the Router."""
    if history is msgspec.UNSET:
        return history
    try:
        last = last_message(history, role)
    except NOT_READ:
        return msgspec.Raw(bytes(history))
    return msgspec.UNSET if last is None else msgspec.Raw(b"[%b]" % bytes(written(last)))


READERS: dict[str, type] = {
    "a2a-profile/0.2#response": RpcResponse,
    "a2a-profile/0.2#error": RpcError,
    "a2a-profile/0.2#message": Message,
    "a2a-profile/0.2#task": Task,
    "a2a-profile/0.2#taskStatus": TaskStatus,
    "a2a-profile/0.2#artifact": Artifact,
    "a2a-profile/0.2#statusUpdate": StatusUpdate,
    "a2a-profile/0.2#artifactUpdate": ArtifactUpdate,
    "a2a-profile/0.2#part": Part,
}
