"""The rules of one A2A stream (contract 11.6): which events may follow which, and which chunks they make."""

from collections.abc import Iterable, Iterator

from msgspec import UNSET

from aop.contracts.a2a import Artifact, ArtifactUpdate, Message, StatusUpdate, Task, TaskState, TaskStatus
from aop.router.a2a.answers import Result, protocol_error
from aop.router.a2a.sending import is_running
from aop.router.a2a.tracked_task import TrackedTask
from aop.router.a2a.values import artifacts_of, value_of, value_of_message, value_of_status

STREAM_KINDS = frozenset({"message", "task", "status-update", "artifact-update"})
_TERMINAL = frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.REJECTED, TaskState.CANCELED})


class StreamRules:
    """Takes the events in order. `completed` becomes true with the Agent's terminal event; later events are ignored."""

    def __init__(self, task: TrackedTask) -> None:
        self._task = task
        self._context_id: str | None = None
        self._message_only = False
        self._artifacts: dict[str, bool] = {}
        self._chunks = 0
        self.completed = False

    def take(self, result: Result) -> Iterable[bytes]:
        """The chunks of this event, to be iterated to the end. AgentFault or AgentCanceled ends the Invocation."""
        if isinstance(result, ArtifactUpdate):
            self._bind(result.task_id, result.context_id)
            self._take_artifact(result)
            self._chunks += 1
            return (value_of(result.artifact.parts),)
        if isinstance(result, Message):
            self._bind_message(result)
            self._chunks += 1
            return (value_of_message(result),)
        if isinstance(result, Task):
            self._bind(result.id, result.context_id)
            return self._after_state(result.status, [*artifacts_of(result)])
        self._bind(result.task_id, result.context_id)
        return self._after_update(result)

    def end(self) -> None:
        """The stream ended cleanly: enough for Messages alone, a violation for a Task that has not ended."""
        if not self._message_only:
            raise protocol_error()
        self.completed = True

    def _bind_message(self, message: Message) -> None:
        task_id, context_id = message.task_id, message.context_id
        if task_id is UNSET and self._task.task_id is None:
            self._message_only = True
        elif task_id is not UNSET and context_id is not UNSET and task_id and context_id:
            self._bind(task_id, context_id)
        else:
            raise protocol_error()

    def _bind(self, task_id: str, context_id: str) -> None:
        if self._message_only:
            raise protocol_error()
        self._task.see(task_id)
        if self._context_id is None:
            self._context_id = context_id
        elif self._context_id != context_id:
            raise protocol_error()

    def _after_update(self, update: StatusUpdate) -> Iterator[bytes]:
        is_terminal = update.status.state in _TERMINAL
        if is_terminal:
            self._task.end()
        if update.final != is_terminal:
            raise protocol_error()
        yield from self._after_state(update.status, [])

    def _after_state(self, status: TaskStatus, artifacts: list[Artifact]) -> Iterator[bytes]:
        if is_running(status.state, self._task):
            return
        if not all(self._artifacts.values()):
            raise protocol_error()
        made = self._chunks
        for artifact in artifacts:
            if artifact.artifact_id not in self._artifacts:
                made += 1
                yield value_of(artifact.parts)
        if made == 0:
            value = value_of_status(status)
            if value is not None:
                yield value
        self.completed = True

    def _take_artifact(self, update: ArtifactUpdate) -> None:
        """An artifact begins with a base, appended pieces follow, and nothing comes after the last one."""
        artifact_id = update.artifact.artifact_id
        goes_on = artifact_id in self._artifacts
        if not artifact_id or (update.append is True) != goes_on or self._artifacts.get(artifact_id) is True:
            raise protocol_error()
        self._artifacts[artifact_id] = update.last_chunk is True
