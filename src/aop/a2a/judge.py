"""The rules for what an Agent answers (contract 11.6): which event may follow which, and which values they give.

The Router ends an Invocation by them, and `aop agent check` reports by them.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec import UNSET

from aop.a2a.answers import AgentFault, Result, protocol_error, read_status_message
from aop.a2a.v0_3 import (
    RUNNING,
    Artifact,
    ArtifactUpdate,
    Message,
    Part,
    PartKind,
    StatusUpdate,
    Task,
    TaskState,
    TaskStatus,
    last_message,
)
from aop.contracts.errors import ErrorCode, Reason

Values = tuple[bytes, ...]
"""What may become the result: the first of them that the outputSchema accepts."""

NOTHING: Final = b"null"
_FAILED = {TaskState.FAILED: Reason.TASK_FAILED, TaskState.REJECTED: Reason.TASK_REJECTED}
_ASKING = {TaskState.INPUT_REQUIRED: Reason.INPUT_REQUIRED, TaskState.AUTH_REQUIRED: Reason.AUTH_REQUIRED}
"""The Task waits for its caller, who cannot answer in an Invocation; it still runs and is canceled."""


class AgentCanceled(Exception):
    """The Agent reported its Task as canceled."""


@dataclass
class TrackedTask:
    """What is known of the Agent's Task: its id, which must stay the same, and whether it was seen to end."""

    invocation_id: str
    task_id: str | None = None
    ended: bool = False

    def see(self, task_id: str) -> None:
        if self.task_id is None:
            self.task_id = task_id
        elif self.task_id != task_id:
            raise protocol_error(Reason.TASK_CHANGED, "an event or answer of another task")

    @property
    def may_run(self) -> bool:
        return self.task_id is not None and not self.ended


def value_of(parts: Sequence[Part], broken: Reason = Reason.TASK_SHAPE) -> bytes:
    """One part is its value, several are an array in order; `broken` says whose parts they are if they have none.

    Every number and string keeps the spelling of the Agent.
    """
    if len(parts) == 1:
        return _value(parts[0], broken)
    if not parts:
        raise protocol_error(broken, "an artifact or message without parts")
    return b"[" + b",".join([_value(part, broken) for part in parts]) + b"]"


def value_of_message(message: Message) -> bytes:
    return value_of(message.parts, Reason.MESSAGE_SHAPE)


def values_of(answer: Message | Task) -> Values:
    """Of a Message its parts; of a Task those of its artifacts, without any those of the last Message, else null.

    Several texts are one string, put together as they are spelt, where the outputSchema accepts that.
    """
    parts: Sequence[Part]
    if isinstance(answer, Message):
        parts, broken = answer.parts, Reason.MESSAGE_SHAPE
    else:
        parts, broken = [part for artifact in artifacts_of(answer) for part in artifact.parts], Reason.TASK_SHAPE
        if not parts:
            message = last_message_of(answer.status, answer.history)
            if message is None:
                return (NOTHING,)
            parts, broken = message.parts, Reason.MESSAGE_SHAPE
    value = value_of(parts, broken)
    if len(parts) == 1 or any(part.kind is not PartKind.TEXT for part in parts):
        return (value,)
    return b'"%b"' % b"".join([_value(part, broken).strip()[1:-1] for part in parts]), value


def last_message_of(status: TaskStatus, history: msgspec.Raw | msgspec.UnsetType) -> Message | None:
    """That of the status, else the Agent's last one in the history."""
    said = status.message_or_none
    return _message_in(history) if said is None else read_status_message(bytes(said))


def _message_in(history: msgspec.Raw | msgspec.UnsetType) -> Message | None:
    try:
        said = None if history is UNSET else last_message(history, "agent")
    except msgspec.DecodeError as problem:
        raise protocol_error(Reason.TASK_SHAPE, f"the history is no list of messages: {problem}") from None
    return None if said is None else read_status_message(bytes(said))


def texts_of(message: Message) -> list[bytes]:
    return [_value(part, Reason.MESSAGE_SHAPE) for part in message.parts if part.kind is PartKind.TEXT]


def artifacts_of(task: Task) -> Iterable[Artifact]:
    return task.artifacts if isinstance(task.artifacts, tuple) else ()


def _value(part: Part, broken: Reason) -> bytes:
    kind = part.kind
    raw = part.data if kind is PartKind.DATA else part.text if kind is PartKind.TEXT else part.file
    if not isinstance(raw, msgspec.Raw):
        raise protocol_error(broken, "a part without the member its kind names")
    text = bytes(raw)
    if kind is not PartKind.DATA and text.lstrip()[:1] != (b'"' if kind is PartKind.TEXT else b"{"):
        raise protocol_error(broken, "a part whose value is not of its kind")
    return text


def is_running(state: TaskState, task: TrackedTask) -> bool:
    """True while the Task goes on, False once it is completed; every other state ends the Invocation."""
    if state in RUNNING:
        return True
    problem = f"the task ended {state}"
    if state in _ASKING:
        raise AgentFault(ErrorCode.AGENT_EXECUTION_FAILED, _ASKING[state], problem=problem)
    if state is TaskState.UNKNOWN:
        raise protocol_error(Reason.TASK_STATE_UNKNOWN, "the state unknown is not one the platform can go on from")
    task.ended = True
    if state in _FAILED:
        raise AgentFault(ErrorCode.AGENT_EXECUTION_FAILED, _FAILED[state], problem=problem)
    if state is TaskState.CANCELED:
        raise AgentCanceled(problem)
    return False


class StreamRules:
    """Takes the events in order. `completed` becomes true with the Agent's terminal event; later events are ignored."""

    def __init__(self, task: TrackedTask) -> None:
        self._task = task
        self._context_id: str | None = None
        self._message_only = False
        self._artifacts: dict[str, bool] = {}
        self._snapshot: dict[str, Artifact] = {}
        """Artifacts of the last snapshot of the Task. Each becomes a chunk when a piece is appended to it or the Task
        is completed, because until then another snapshot or an update may replace it."""
        self._history: msgspec.Raw | msgspec.UnsetType = UNSET
        """That of the last snapshot that had one. What came after that counts before it."""
        self._chunks = 0
        self._working: list[bytes] = []
        """Status messages, while there is no chunk. They are a part of the answer, so its limit is theirs."""
        self.completed = False

    def take(self, result: Result) -> Iterable[bytes]:
        """The chunks of this event, to be iterated to the end. AgentFault or AgentCanceled ends the Invocation."""
        if isinstance(result, ArtifactUpdate):
            self._bind(result.task_id, result.context_id)
            base = self._take_artifact(result)
            self._made_one()
            value = value_of(result.artifact.parts)
            return (value,) if base is None else (value_of(base.parts), value)
        if isinstance(result, Message):
            self._bind_message(result)
            self._made_one()
            return (value_of_message(result),)
        if isinstance(result, Task):
            self._bind(result.id, result.context_id)
        else:
            self._bind(result.task_id, result.context_id)
        return self._after_state(result)

    def end(self) -> None:
        """The stream ended cleanly: enough for Messages alone, a violation for a Task that has not ended."""
        if not self._message_only:
            raise protocol_error(Reason.STREAM_ENDED_EARLY, "the stream ended without a terminal")
        self.completed = True

    def _made_one(self) -> None:
        self._chunks += 1
        self._working.clear()

    def _bind_message(self, message: Message) -> None:
        task_id, context_id = message.task_id, message.context_id
        if task_id is UNSET and self._task.task_id is None:
            self._message_only = True
        elif task_id is UNSET:
            raise protocol_error(Reason.STREAM_ORDER, "a message without task in the stream of a task")
        elif context_id is UNSET:
            raise protocol_error(Reason.MESSAGE_SHAPE, "a message of a task without its context")
        else:
            self._bind(task_id, context_id)

    def _bind(self, task_id: str, context_id: str) -> None:
        if self._message_only:
            raise protocol_error(Reason.STREAM_ORDER, "a task event in a stream of messages")
        self._task.see(task_id)
        if self._context_id is None:
            self._context_id = context_id
        elif self._context_id != context_id:
            raise protocol_error(Reason.TASK_CHANGED, "an event of another context")

    def _after_state(self, result: Task | StatusUpdate) -> Iterator[bytes]:
        status = result.status
        if is_running(status.state, self._task):
            if isinstance(result, Task):
                self._keep_snapshot(result)
            if status.state is TaskState.WORKING and not self._chunks and (said := status.message_or_none) is not None:
                self._working.append(bytes(said))
            return
        made = self._chunks
        listed = result.artifacts if isinstance(result, Task) else UNSET
        for artifact in listed or self._snapshot.values():
            if artifact.artifact_id not in self._artifacts:
                made += 1
                yield value_of(artifact.parts)
        if made == 0:
            yield from self._last_chunks(result)
        self.completed = True

    def _keep_snapshot(self, task: Task) -> None:
        if task.artifacts:
            self._snapshot = {artifact.artifact_id: artifact for artifact in task.artifacts if artifact.parts}
        if task.history is not UNSET:
            self._history = task.history

    def _last_chunks(self, last: Task | StatusUpdate) -> Iterator[bytes]:
        """The chunks of a stream that made none: the last Message, else the texts of all that came while it worked,
        else the last Message that a snapshot had, if it can be read."""
        message = last_message_of(last.status, last.history if isinstance(last, Task) else UNSET)
        if message is None:
            texts = [text for said in self._working for text in texts_of(read_status_message(said))]
            yield from texts
            with suppress(AgentFault):
                message = None if texts else _message_in(self._history)
        if message is not None:
            yield value_of_message(message)

    def _take_artifact(self, update: ArtifactUpdate) -> Artifact | None:
        """An artifact begins with a base, appended pieces follow, and nothing comes after the last one.

        The last piece need not say so: `completed` closes every artifact. Returns a base that only a snapshot had.
        """
        artifact_id, base = update.artifact.artifact_id, None
        is_closed = self._artifacts.get(artifact_id)
        if update.append is True and is_closed is None and (base := self._snapshot.get(artifact_id)) is not None:
            is_closed = False
        if update.append is not True and is_closed is not None:
            problem = "an artifact that was sent before is replaced; what was delivered cannot be taken back"
            raise protocol_error(Reason.ARTIFACT_REPLACED, problem)
        if update.append is True and is_closed is not False:
            raise protocol_error(Reason.ARTIFACT_ORDER, "an appended piece without base, or after lastChunk")
        self._artifacts[artifact_id] = update.last_chunk is True
        return base
