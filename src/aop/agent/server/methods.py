"""The methods of A2A 0.3 on the Tasks of one Agent: what each call does, and which kind of reply it gets."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Final

from aop.a2a.rpc import (
    REFUSED,
    InvalidParams,
    MessageConfiguration,
    MessageParams,
    MethodNotFound,
    RpcRequest,
    StreamingNotSupported,
    TaskParams,
    UserMessage,
    read_params,
)
from aop.a2a.v0_3 import TaskState
from aop.agent.server.call_log import AgentCall
from aop.agent.server.skills import InputRefused, Skills
from aop.agent.server.task import SkillTask, input_note
from aop.agent.server.tasks import LimitReached, SkillTasks, TaskLimits

SEND: Final = "message/send"
STREAM: Final = "message/stream"
RESUBSCRIBE: Final = "tasks/resubscribe"
FOLLOWING: Final = frozenset({STREAM, RESUBSCRIBE})
"""The methods whose answer is a stream."""
# What the result's envelope adds to a document: the id of the request and a few members.
_ENVELOPE_BYTES: Final = 1024


@dataclass(frozen=True)
class WhenSettled:
    """The result is the Task once it has ended or waits for its caller."""

    task: SkillTask
    history_length: int


Reply = bytes | WhenSettled | AsyncGenerator[bytes, None]
"""The result, the Task whose end it waits for, or a stream of results."""


class A2AMethods:
    def __init__(self, skills: Skills, tasks: SkillTasks, limits: TaskLimits, *, streaming: bool) -> None:
        self._skills = skills
        self._tasks = tasks
        self._max_document = limits.max_output_bytes - _ENVELOPE_BYTES
        self._streaming = streaming
        self._methods: dict[str, Callable[[AgentCall, RpcRequest], Reply]] = {
            SEND: self._send,
            STREAM: self._stream,
            "tasks/get": self._get,
            "tasks/cancel": self._cancel,
            RESUBSCRIBE: self._resubscribe,
        }

    def __contains__(self, method: str) -> bool:
        return method in self._methods or method in REFUSED

    def reply(self, call: AgentCall, request: RpcRequest) -> Reply:
        if request.method not in self._methods:
            raise REFUSED.get(request.method, MethodNotFound)
        return self._methods[request.method](call, request)

    def document(self, task: SkillTask, history_length: int) -> bytes:
        return task.document(history_length, self._max_document)

    async def close(self) -> None:
        await self._tasks.close()

    def cancel(self, task: SkillTask) -> None:
        """For a caller that left before it knew the Task: no one else can want it."""
        if not task.ended:
            self._tasks.cancel(task)

    def _send(self, call: AgentCall, request: RpcRequest) -> Reply:
        params = read_params(request.params, MessageParams)
        configuration = params.configuration or MessageConfiguration()
        task = self._accept(call, params, configuration, streamed=False)
        reply = WhenSettled(task, configuration.history_length or 0)
        return reply if configuration.blocking else self.document(task, reply.history_length)

    def _stream(self, call: AgentCall, request: RpcRequest) -> Reply:
        self._require_streaming()
        params = read_params(request.params, MessageParams)
        task = self._accept(call, params, params.configuration or MessageConfiguration(), streamed=True)
        return task.follow()

    def _get(self, call: AgentCall, request: RpcRequest) -> Reply:
        params = read_params(request.params, TaskParams)
        task = self._tasks.find(params.id, call.context.workspace_id)
        length = len(task.history) if params.history_length is None else params.history_length
        call.record("ok")
        return self.document(task, length)

    def _cancel(self, call: AgentCall, request: RpcRequest) -> Reply:
        task = self._tasks.find(read_params(request.params, TaskParams).id, call.context.workspace_id)
        self._tasks.cancel(task)
        call.record("ok")
        return self.document(task, 0)

    def _resubscribe(self, call: AgentCall, request: RpcRequest) -> Reply:
        self._require_streaming()
        task = self._tasks.find(read_params(request.params, TaskParams).id, call.context.workspace_id)
        call.record("ok")
        return task.follow()

    def _accept(
        self, call: AgentCall, params: MessageParams, configuration: MessageConfiguration, *, streamed: bool
    ) -> SkillTask:
        """The Task that a message opens or continues, at work unless its input is missing or wrong."""
        configuration.require_supported()
        message = read_params(params.message, UserMessage)
        self._tasks.require_place()
        task = self._continued(call, message, message.task_id) if message.task_id is not None else None
        if task is None:
            task = self._tasks.open(call.context.workspace_id, message.context_id, streamed=streamed)
        self._tasks.remember(task, params.message)
        skill_id = call.context.capability
        text = message.input(takes_text=self._skills.takes_text(skill_id))
        if text is None:
            task.move(TaskState.INPUT_REQUIRED, input_note(skill_id))
            call.record(task.state)
            return task
        try:
            chunks = self._skills.chunks(skill_id, text, call.context)
        except InputRefused as refused:
            task.move(TaskState.REJECTED, str(refused))
            call.record(task.state, refused)
            return task
        self._tasks.start(task, chunks, lambda made: self._skills.join(skill_id, made), _recording(call))
        return task

    def _continued(self, call: AgentCall, message: UserMessage, task_id: str) -> SkillTask:
        task = self._tasks.find(task_id, call.context.workspace_id)
        if task.state is not TaskState.INPUT_REQUIRED:
            raise InvalidParams("The Task takes no message")
        if message.context_id not in {None, task.context_id}:
            raise InvalidParams("The Task belongs to another context")
        return task

    def _require_streaming(self) -> None:
        if not self._streaming:
            raise StreamingNotSupported


def _recording(call: AgentCall) -> Callable[[SkillTask, BaseException | None], None]:
    def report(task: SkillTask, problem: BaseException | None) -> None:
        unexpected = task.state is TaskState.FAILED and not isinstance(problem, LimitReached)
        call.record(task.state, problem, unexpected=unexpected)

    return report
