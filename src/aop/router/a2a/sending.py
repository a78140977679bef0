"""JSON mode: message/send, and tasks/get for as long as the Task is unfinished."""

import asyncio
from collections.abc import Iterator

from aop.base.ids import new_request_id
from aop.contracts.a2a import Message, Task, TaskState
from aop.contracts.errors import ErrorCode, Reason
from aop.router.a2a import requests
from aop.router.a2a.agent import TASK, AgentConversation
from aop.router.a2a.answers import protocol_error
from aop.router.a2a.outcome import AgentCanceled, AgentFault
from aop.router.a2a.tracked_task import TrackedTask
from aop.router.a2a.values import Values, values_of, values_of_task

_ANSWERS = frozenset({"message", "task"})
_FIRST_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)
_LATER_PAUSE = 1.0
_RUNNING = frozenset({TaskState.SUBMITTED, TaskState.WORKING})
_FAILED = {TaskState.FAILED: Reason.TASK_FAILED, TaskState.REJECTED: Reason.TASK_REJECTED}
_ASKING = {TaskState.INPUT_REQUIRED: Reason.INPUT_REQUIRED, TaskState.AUTH_REQUIRED: Reason.AUTH_REQUIRED}
"""The Task waits for its caller, who cannot answer in an Invocation; it still runs and is canceled."""


async def send_and_follow(
    conversation: AgentConversation, message: bytes, delegation: bytes, task: TrackedTask, deadline: float
) -> Values:
    """What the Agent's answer may stand for, once there is one. `task` learns of the Task as soon as it is named."""
    request_id, body = conversation.message(requests.send, message)
    result = await conversation.ask(body, request_id, _ANSWERS, deadline, delegation)
    if isinstance(result, Message):
        return values_of(result.parts, Reason.MESSAGE_SHAPE)
    for pause in _pauses():
        if not isinstance(result, Task):
            raise protocol_error(Reason.MESSAGE_SHAPE)
        task.see(result.id)
        if not is_running(result.status.state, task):
            return values_of_task(result)
        await asyncio.sleep(pause)
        result = await _probe(conversation, task, deadline)
    raise AssertionError("the pauses never end")


def is_running(state: TaskState, task: TrackedTask) -> bool:
    """True while the Task goes on, False once it is completed; every other state ends the Invocation."""
    if state in _RUNNING:
        return True
    if state in _ASKING:
        raise AgentFault(ErrorCode.AGENT_EXECUTION_FAILED, _ASKING[state])
    if state is TaskState.UNKNOWN:
        raise protocol_error(Reason.TASK_STATE_UNKNOWN)
    task.end()
    if state in _FAILED:
        raise AgentFault(ErrorCode.AGENT_EXECUTION_FAILED, _FAILED[state])
    if state is TaskState.CANCELED:
        raise AgentCanceled
    return False


async def _probe(conversation: AgentConversation, task: TrackedTask, deadline: float) -> Task:
    request_id = new_request_id()
    body = requests.get_task(request_id, task.task_id or "")
    result = await conversation.ask(body, request_id, TASK, deadline)
    if not isinstance(result, Task):
        raise protocol_error(Reason.TASK_SHAPE)
    return result


def _pauses() -> Iterator[float]:
    yield from _FIRST_PAUSES
    while True:
        yield _LATER_PAUSE
