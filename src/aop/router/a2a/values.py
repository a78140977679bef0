"""What becomes the result: values of parts, with the Agent's own spelling of every number and string."""

from collections.abc import Iterable, Sequence

import msgspec

from aop.contracts.a2a import Artifact, Message, Part, PartKind, Task, TaskStatus, last_message
from aop.contracts.errors import Reason
from aop.router.a2a.answers import protocol_error, read_status_message

NOTHING = b"null"
Values = tuple[bytes, ...]
"""What may become the result: the first of them that the outputSchema accepts."""


def value_of(parts: Sequence[Part], broken: Reason = Reason.TASK_SHAPE) -> bytes:
    """One part is its value, several are an array in order; `broken` says whose parts they are if they have none."""
    if len(parts) == 1:
        return _value(parts[0], broken)
    if not parts:
        raise protocol_error(broken)
    return b"[" + b",".join([_value(part, broken) for part in parts]) + b"]"


def value_of_message(message: Message) -> bytes:
    return value_of(message.parts, Reason.MESSAGE_SHAPE)


def values_of(parts: Sequence[Part], broken: Reason = Reason.TASK_SHAPE) -> Values:
    """Several texts are one string, put together as they are spelt, where the outputSchema accepts that."""
    value = value_of(parts, broken)
    if len(parts) == 1 or any(part.kind is not PartKind.TEXT for part in parts):
        return (value,)
    return b'"%b"' % b"".join([_value(part, broken).strip()[1:-1] for part in parts]), value


def values_of_task(task: Task) -> Values:
    """The parts of all artifacts; without any, those of the last Message; without that, null."""
    parts = [part for artifact in artifacts_of(task) for part in artifact.parts]
    if parts:
        return values_of(parts)
    message = last_message_of(task.status, task.history)
    return (NOTHING,) if message is None else values_of(message.parts, Reason.MESSAGE_SHAPE)


def last_message_of(status: TaskStatus, history: msgspec.Raw | msgspec.UnsetType) -> Message | None:
    """That of the status, else the Agent's last one in the history."""
    said = status.said
    if said is None and history is not msgspec.UNSET:
        try:
            said = last_message(history, "agent")
        except msgspec.DecodeError:
            raise protocol_error(Reason.TASK_SHAPE) from None
    return None if said is None else read_status_message(bytes(said))


def texts_of(message: Message) -> list[bytes]:
    return [_value(part, Reason.MESSAGE_SHAPE) for part in message.parts if part.kind is PartKind.TEXT]


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
