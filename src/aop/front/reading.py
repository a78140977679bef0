"""What the front knows of one response of the Agent: its form in A2A 0.3, and as much of its content as it needs."""

from enum import StrEnum
from typing import Final, Self

import msgspec

from aop.a2a.v0_3 import TaskState

TERMINAL: Final = frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.REJECTED, TaskState.CANCELED})
RUNNING: Final = frozenset({TaskState.SUBMITTED, TaskState.WORKING})


class Kind(StrEnum):
    MESSAGE = "message"
    TASK = "task"
    STATUS = "status-update"
    ARTIFACT = "artifact-update"


class _Seen(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """Objects of A2A 0.3 as far as the front reads them; everything else in them is the Router's to judge."""


class SeenPart(msgspec.Struct, frozen=True, gc=False):
    kind: str = ""
    text: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class SeenMessage(msgspec.Struct, frozen=True, gc=False):
    parts: tuple[msgspec.Raw, ...]


NOT_READ: Final = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What a reading of bytes that nobody has judged may raise."""
read_part: Final = msgspec.json.Decoder(SeenPart).decode
_read_text: Final = msgspec.json.Decoder(str).decode
read_message: Final = msgspec.json.Decoder(SeenMessage).decode


def text_of(part: msgspec.Raw) -> tuple[bytes, str] | None:
    """The text of a text part, as it is spelt and as it is; None for any other part. What is none the Router finds."""
    try:
        read = read_part(part)
        if read.kind == "text" and read.text is not msgspec.UNSET:
            return bytes(read.text), _read_text(read.text)
    except NOT_READ:
        pass
    return None


class SeenArtifact(_Seen, frozen=True):
    artifact_id: str
    parts: tuple[msgspec.Raw, ...] = ()


class SeenStatus(_Seen, frozen=True):
    state: str
    message: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET

    @property
    def said(self) -> msgspec.Raw | None:
        """The message; null is none."""
        message = self.message
        return None if message is msgspec.UNSET or bytes(message).strip() == b"null" else message


class SeenResult(_Seen, frozen=True):
    kind: str
    id: str | msgspec.UnsetType = msgspec.UNSET
    message_id: str | msgspec.UnsetType = msgspec.UNSET
    role: str | msgspec.UnsetType = msgspec.UNSET
    task_id: str | msgspec.UnsetType = msgspec.UNSET
    context_id: str | msgspec.UnsetType = msgspec.UNSET
    status: SeenStatus | msgspec.UnsetType = msgspec.UNSET
    artifact: SeenArtifact | msgspec.UnsetType = msgspec.UNSET
    artifacts: tuple[SeenArtifact, ...] | msgspec.UnsetType = msgspec.UNSET
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


class Seen(msgspec.Struct, gc=False):
    """One response. `text` is what the Router gets of it; `result` is None for an error and for what is unreadable."""

    text: bytes
    result: SeenResult | None = None
    refuses: bool = False
    """Whether it is a JSON-RPC error: then there is no Task to cancel."""
    is_last: bool = True
    """Whether the result ends the Task, or nobody can read on."""
    is_foreign: bool = False
    """Whether it is about another Task than that of its call."""

    @classmethod
    def of(cls, text: bytes, result: SeenResult) -> Self:
        return cls(text, result, is_last=result.ends)
