"""The rules of one A2A stream (contract 11.6): which events may follow which, and which chunks they make."""

from collections.abc import Iterable, Iterator

from msgspec import UNSET

from aop.contracts.a2a import ArtifactUpdate, Message, StatusUpdate, Task, TaskState
from aop.contracts.errors import Reason
from aop.router.a2a.answers import Result, protocol_error, read_status_message
from aop.router.a2a.sending import is_running
from aop.router.a2a.tracked_task import TrackedTask
from aop.router.a2a.values import artifacts_of, last_message_of, texts_of, value_of, value_of_message

STREAM_KINDS = frozenset({"message", "task", "status-update", "artifact-update"})


class StreamRules:
    """Takes the events in order. `completed` becomes true with the Agent's terminal event; later events are ignored."""

    def __init__(self, task: TrackedTask) -> None:
        self._task = task
        self._context_id: str | None = None
        self._message_only = False
        self._artifacts: dict[str, bool] = {}
        self._chunks = 0
        self._working: list[bytes] = []
        """Status messages, while there is no chunk. They are a part of the answer, so its limit is theirs."""
        self.completed = False

    def take(self, result: Result) -> Iterable[bytes]:
        """The chunks of this event, to be iterated to the end. AgentFault or AgentCanceled ends the Invocation."""
        if isinstance(result, ArtifactUpdate):
            self._bind(result.task_id, result.context_id)
            self._take_artifact(result)
            self._made_one()
            return (value_of(result.artifact.parts),)
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
            raise protocol_error(Reason.STREAM_ENDED_EARLY)
        self.completed = True

    def _made_one(self) -> None:
        self._chunks += 1
        self._working.clear()

    def _bind_message(self, message: Message) -> None:
        task_id, context_id = message.task_id, message.context_id
        if task_id is UNSET and self._task.task_id is None:
            self._message_only = True
        elif task_id is UNSET:
            raise protocol_error(Reason.STREAM_ORDER)
        elif context_id is UNSET:
            raise protocol_error(Reason.MESSAGE_SHAPE)
        else:
            self._bind(task_id, context_id)

    def _bind(self, task_id: str, context_id: str) -> None:
        if self._message_only:
            raise protocol_error(Reason.STREAM_ORDER)
        self._task.see(task_id)
        if self._context_id is None:
            self._context_id = context_id
        elif self._context_id != context_id:
            raise protocol_error(Reason.TASK_CHANGED)

    def _after_state(self, result: Task | StatusUpdate) -> Iterator[bytes]:
        status = result.status
        if is_running(status.state, self._task):
            if status.state is TaskState.WORKING and not self._chunks and (said := status.said) is not None:
                self._working.append(bytes(said))
            return
        made = self._chunks
        for artifact in artifacts_of(result) if isinstance(result, Task) else ():
            if artifact.artifact_id not in self._artifacts:
                made += 1
                yield value_of(artifact.parts)
        if made == 0:
            yield from self._said(result)
        self.completed = True

    def _said(self, last: Task | StatusUpdate) -> Iterator[bytes]:
        """The chunks of a stream that made none: the last Message, else the texts of all that came while it worked."""
        message = last_message_of(last.status, last.history if isinstance(last, Task) else UNSET)
        if message is not None:
            yield value_of_message(message)
            return
        for said in self._working:
            yield from texts_of(read_status_message(said))

    def _take_artifact(self, update: ArtifactUpdate) -> None:
        """An artifact begins with a base, appended pieces follow, and nothing comes after the last one.

        The last piece need not say so: `completed` closes every artifact.
        """
        artifact_id = update.artifact.artifact_id
        is_closed = self._artifacts.get(artifact_id)
        if update.append is not True and is_closed is not None:
            raise protocol_error(Reason.ARTIFACT_REPLACED)
        if update.append is True and is_closed is not False:
            raise protocol_error(Reason.ARTIFACT_ORDER)
        self._artifacts[artifact_id] = update.last_chunk is True
