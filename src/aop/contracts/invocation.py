"""Readers of what starts an Invocation and what comes back from it: requests, dispatch, Result v1, Stream Event v2."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

import msgspec

from aop.contracts.errors import ErrorCode, Reason, code_entries
from aop.contracts.identity import Caller, CallerType, InvocationContext, Lineage, Pin
from aop.contracts.wire import Wire


class StreamEventType(StrEnum):
    ACCEPTED = "accepted"
    CHUNK = "chunk"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    TIMED_OUT = "timed_out"


StreamStatus = Literal["pending", "running", "succeeded", "failed", "canceled", "timed_out"]
"""The status of the Invocation as its stream says it. The type of the event decides it."""

STATUS_OF_STREAM_EVENT: Mapping[StreamEventType, StreamStatus] = {
    StreamEventType.ACCEPTED: "pending",
    StreamEventType.CHUNK: "running",
    StreamEventType.COMPLETED: "succeeded",
    StreamEventType.FAILED: "failed",
    StreamEventType.CANCELED: "canceled",
    StreamEventType.TIMED_OUT: "timed_out",
}


class InvocationRequest(Wire, frozen=True, kw_only=True):
    agent_id: str
    capability: str
    input: msgspec.Raw
    stream: bool


class NestedInvocationRequest(Wire, frozen=True, kw_only=True):
    target_agent_id: str
    capability: str
    input: msgspec.Raw
    stream: bool


class UserCaller(Wire, frozen=True, kw_only=True):
    type: Literal["user"]
    id: str


class RouterDispatch(Wire, frozen=True, kw_only=True):
    invocation_id: str
    root_task_id: str
    trace_id: str
    workspace_id: str
    target_agent_id: str
    capability: str
    caller: UserCaller
    agent_card_version: str
    agent_release_id: str
    agent_card_digest: str
    authorization_digest: str
    input: msgspec.Raw
    stream: bool

    @property
    def context(self) -> InvocationContext:
        return InvocationContext(
            Lineage(self.invocation_id, self.root_task_id, self.trace_id),
            Pin(
                self.workspace_id,
                self.target_agent_id,
                self.agent_card_version,
                self.agent_release_id,
                self.agent_card_digest,
            ),
            Caller(type=CallerType.USER, id=self.caller.id),
            self.capability,
            self.authorization_digest,
        )


class InvocationResult(Wire, frozen=True, kw_only=True):
    schema_version: Literal["1"]
    invocation_id: str
    root_task_id: str
    trace_id: str
    status: Literal["succeeded"]
    result: msgspec.Raw

    @property
    def value(self) -> Any:
        """The result as Python values; `result` keeps the Agent's own spelling."""
        return msgspec.json.decode(self.result)


class CorrelatedError(Wire, frozen=True, kw_only=True):
    """Platform Error v4 after acceptance: the three ids are always together."""

    code: ErrorCode
    message: str
    reason: Reason | msgspec.UnsetType = msgspec.UNSET
    trace_id: str
    invocation_id: str
    root_task_id: str


def correlated_error(code: ErrorCode, reason: Reason | None, lineage: Lineage) -> CorrelatedError:
    message = code_entries()[code].message
    return CorrelatedError(code=code, message=message, reason=reason or msgspec.UNSET, **lineage.ids)


class StreamEvent(Wire, frozen=True, kw_only=True):
    schema_version: Literal["2"]
    sequence: int
    type: StreamEventType
    status: StreamStatus
    invocation_id: str
    root_task_id: str
    trace_id: str
    chunk_index: int | msgspec.UnsetType = msgspec.UNSET
    chunk: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: CorrelatedError | msgspec.UnsetType = msgspec.UNSET


READERS: dict[str, type] = {
    "invocation-request/2": InvocationRequest,
    "nested-invocation-request/2": NestedInvocationRequest,
    "router-dispatch/3": RouterDispatch,
    "invocation-result/1": InvocationResult,
    "invocation-stream-event/2": StreamEvent,
}
