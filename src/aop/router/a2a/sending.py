"""JSON mode: message/send, and tasks/get for as long as the Task is unfinished."""

import asyncio
from itertools import chain, repeat

from aop.a2a import requests
from aop.a2a.answers import MESSAGE_OR_TASK, TASK
from aop.a2a.judge import TrackedTask, Values, is_running, values_of
from aop.a2a.v0_3 import Message, Task
from aop.base.ids import new_request_id
from aop.router.a2a.agent import AgentConversation

_FIRST_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)
_LATER_PAUSE = 1.0


async def send_and_follow(
    conversation: AgentConversation, message: bytes, delegation: bytes, task: TrackedTask, deadline: float
) -> Values:
    """What the Agent's answer may stand for, once there is one. `task` learns of the Task as soon as it is named."""
    request_id, body = conversation.message(requests.send, message)
    result = await conversation.ask(body, request_id, MESSAGE_OR_TASK, deadline, delegation)
    if isinstance(result, Message):
        return values_of(result)
    for pause in chain(_FIRST_PAUSES, repeat(_LATER_PAUSE)):
        if not isinstance(result, Task):
            break
        task.see(result.id)
        if not is_running(result.status.state, task):
            return values_of(result)
        await asyncio.sleep(pause)
        request_id = new_request_id()
        result = await conversation.ask(requests.get_task(request_id, result.id), request_id, TASK, deadline)
    raise AssertionError("what is read is of an allowed kind, and the pauses never end")
