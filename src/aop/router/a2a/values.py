"""What becomes the result: values of parts, with the Agent's own spelling of every number and string."""

from collections.abc import Iterable, Sequence

import msgspec

from aop.contracts.a2a import Artifact, Message, Part, PartKind, Task, TaskStatus
from aop.contracts.errors import Reason
from aop.router.a2a.answers import protocol_error, read_status_message

NOTHING = b"null"


def value_of(parts: Sequence[Part], broken: Reason = Reason.TASK_SHAPE) -> bytes:
    """One part is its value, several are an array in order; `broken` says whose parts they are if they have none."""
    if len(parts) == 1:
        return _value(parts[0], broken)
    if not parts:
        raise protocol_error(broken)
    return b"[" + b",".join([_value(part, broken) for part in parts]) + b"]"


def value_of_message(message: Message) -> bytes:
    return value_of(message.parts, Reason.MESSAGE_SHAPE)


def value_of_task(task: Task) -> bytes:
    """The parts of all artifacts; without any, those of the status message; without that, null."""
    parts = [part for artifact in artifacts_of(task) for part in artifact.parts]
    if parts:
        return value_of(parts)
    return value_of_status(task.status) or NOTHING


def value_of_status(status: TaskStatus) -> bytes | None:
    if not isinstance(status.message, msgspec.Raw):
        return None
    return value_of_message(read_status_message(bytes(status.message)))


def artifacts_of(task: Task) -> Iterable[Artifact]:
    return task.artifacts if isinstance(task.artifacts, tuple) else ()


def _value(part: Part, broken: Reason) -> bytes:
    kind = part.kind
    raw = part.data if kind is PartKind.DATA else part.text if kind is PartKind.TEXT else part.file
    if not isinstance(raw, msgspec.Raw):
        raise protocol_error(broken)
    text = bytes(raw)
    if kind is not PartKind.DATA and text.lstrip()[:1] != (b'"' if kind is PartKind.TEXT else b"{"):
        raise protocol_error(broken)
    return text
