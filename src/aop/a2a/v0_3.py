"""What Agents answer in A2A 0.3, as the profile 0.2 has it: a closed JSON-RPC envelope around open A2A objects.

Business content is kept as bytes.
"""

from enum import StrEnum
from typing import Literal

import msgspec

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


class TaskStatus(A2AObject, frozen=True, kw_only=True):
    """`message` stays bytes: it is a Message of the profile only where its parts become a value."""

    state: TaskState
    message: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET

    @property
    def said(self) -> msgspec.Raw | None:
        """The message; null is none."""
        message = self.message
        return None if message is msgspec.UNSET or bytes(message).strip() == b"null" else message


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


class _Role(msgspec.Struct, frozen=True):
    role: str = ""


_history = msgspec.json.Decoder(list[msgspec.Raw] | None).decode
_role = msgspec.json.Decoder(_Role).decode


def last_message(history: msgspec.Raw, role: str) -> msgspec.Raw | None:
    """The last Message of that role in the history of a Task; msgspec.DecodeError when that is none."""
    return next((said for said in reversed(_history(history) or ()) if _role(said).role == role), None)


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
