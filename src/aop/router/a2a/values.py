"""What becomes the result: values of parts, with the Agent's own spelling of every number and string."""

from collections.abc import Iterable, Sequence

import msgspec

from aop.contracts.a2a import Artifact, Message, Part, PartKind, Task, TaskStatus
from aop.router.a2a.answers import protocol_error

NOTHING = b"null"


def value_of(parts: Sequence[Part]) -> bytes:
    """One part is its value, several are an array in order."""
    if len(parts) == 1:
        return _value(parts[0])
    if not parts:
        raise protocol_error()
    return b"[" + b",".join([_value(part) for part in parts]) + b"]"


def value_of_message(message: Message) -> bytes:
    return value_of(message.parts)


def value_of_task(task: Task) -> bytes:
    """The parts of all artifacts; without any, those of the status message; without that, null."""
    parts = [part for artifact in artifacts_of(task) for part in artifact.parts]
    if parts:
        return value_of(parts)
    return value_of_status(task.status) or NOTHING


def value_of_status(status: TaskStatus) -> bytes | None:
    return value_of(status.message.parts) if isinstance(status.message, Message) else None


def artifacts_of(task: Task) -> Iterable[Artifact]:
    return task.artifacts if isinstance(task.artifacts, tuple) else ()


def _value(part: Part) -> bytes:
    kind = part.kind
    raw = part.data if kind is PartKind.DATA else part.text if kind is PartKind.TEXT else part.file
    if not isinstance(raw, msgspec.Raw):
        raise protocol_error()
    text = bytes(raw)
    if kind is not PartKind.DATA and text.lstrip()[:1] != (b'"' if kind is PartKind.TEXT else b"{"):
        raise protocol_error()
    return text
