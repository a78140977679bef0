"""What an Agent's answers give, by the Router's own rules, in the words of a check: values, states, refusals."""

from collections.abc import Callable
from typing import Any, cast

import msgspec

from aop.a2a.answers import MESSAGE_OR_TASK, STREAM_KINDS, TASK, AgentFault, protocol_error, read_kind, read_response
from aop.a2a.judge import AgentCanceled, StreamRules, TrackedTask, values_of
from aop.a2a.v0_3 import Message, StatusUpdate, Task, TaskState
from aop.base import json as strict_json
from aop.contracts.errors import ErrorCode, Reason


class RpcRefused(Exception):
    """The Agent answered with a JSON-RPC error."""

    def __init__(self, code: int) -> None:
        super().__init__(f"JSON-RPC error {code}")
        self.code = code


def rpc_result(body: bytes, request_id: str) -> msgspec.Raw:
    """The result of one JSON-RPC response; AgentFault when it is none."""
    try:
        strict_json.parse(body, strict_json.AGENT_DEPTH)
        return msgspec.Raw(read_response(body, request_id))
    except strict_json.JsonRefused as refused:
        raise protocol_error(Reason.NOT_JSON, f"not strict JSON: {refused.rule}") from None
    except AgentFault as fault:
        if fault.rpc_code is None:
            raise
        raise RpcRefused(fault.rpc_code) from None


def message_or_task(result: msgspec.Raw) -> Message | Task:
    return cast("Message | Task", read_kind(bytes(result), MESSAGE_OR_TASK))


def task(result: msgspec.Raw) -> Task:
    return cast("Task", read_kind(bytes(result), TASK))


def result_value(answer: Message | Task, accepts: Callable[[Any], bool] = lambda _: True) -> Any:
    """What the platform gives its caller: the value of a Message or of a completed Task.

    Several texts are one string when the outputSchema `accepts` it, and else an array, as other parts are.
    """
    values = [msgspec.json.decode(value) for value in values_of(answer)]
    return next(filter(accepts, values), values[-1])


class StreamJudge:
    """Reads the results of one message/stream answer; `state` is the Task's last one, None for messages alone."""

    def __init__(self) -> None:
        self.state: TaskState | None = None
        self._task = TrackedTask("")
        self._rules = StreamRules(self._task)

    @property
    def task_id(self) -> str | None:
        return self._task.task_id

    @property
    def ended(self) -> bool:
        return self._rules.completed

    def read(self, result: msgspec.Raw) -> list[Any]:
        """The chunks that the event gives; nothing after the terminal counts."""
        if self.ended:
            return []
        event = read_kind(bytes(result), STREAM_KINDS)
        if isinstance(event, Task | StatusUpdate):
            self.state = event.status.state
        try:
            return [msgspec.json.decode(chunk) for chunk in self._rules.take(event)]
        except AgentFault as fault:
            if fault.code is ErrorCode.A2A_PROTOCOL_ERROR:
                raise
        except AgentCanceled:
            pass
        self._rules.completed = True
        return []

    def end(self) -> None:
        """The answer ended cleanly."""
        if not self.ended:
            self._rules.end()
