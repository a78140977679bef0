"""Calls that run an Agent, and calls that read Invocations and Traces."""

from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from aop.base import json as strict_json
from aop.client.answers import trace_of
from aop.client.call import Call, Input, Page, QueryValue, Read, json_of, page_of
from aop.client.errors import ResultMismatch
from aop.client.invoking import InvokeOperation, StreamOperation
from aop.client.operation import list_operation, operation, whole_operation
from aop.client.request import OperationRoute, Parts
from aop.client.typed import Result, Unfitting, name_of, reader_of
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.invocation import InvocationRequest, InvocationResult
from aop.contracts.lineage import (
    InvocationDetail,
    InvocationOrder,
    InvocationRecord,
    InvocationStatus,
    Trace,
    TraceItem,
)
from aop.net.http import Answer

_INVOCATIONS = "/v1/workspaces/{workspaceId}/invocations"
_TRACES = "/v1/workspaces/{workspaceId}/traces"
_INVOKE: Final = OperationRoute("POST", _INVOCATIONS, (200,))
_TRACE_PARTS: Final = Parts[Trace](
    cursor=lambda page: page.next_cursor or None,
    joined=lambda first, rest: replace(rest, invocations=first.invocations + rest.invocations),
)
# The most time an Invocation may run, and the platform's own bounds after it.
_MAX_SECONDS: Final = 620.0

M = TypeVar("M")


class InvocationCalls:
    """Invoke installed Agents and follow their lineage."""

    @partial(InvokeOperation, _INVOKE)
    def invoke(
        self,
        workspace_id: str,
        agent_id: str,
        capability: str,
        input: Input,  # noqa: A002  the contract's own name
        *,
        result_type: type[Any] | None = None,
        timeout: float | None = None,
    ) -> Call[Any]:
        """The result of one Invocation; InvocationFailed when it ran and gave none.

        A `str` is a text for a Skill that takes one. Bytes are JSON text and reach the Agent byte for byte.
        Cancelling the call cancels the Invocation.

        >>> client.invoke("demo", "acme:adder", "add", {"numbers": [1, 2]}).value
        {'sum': 3}

        With `result_type` the result is a `Result[result_type]`: a msgspec Struct, a dataclass, a TypedDict, a plain
        type or a pydantic model. ResultMismatch is raised when the Agent's result does not fit it.

        >>> client.invoke("demo", "acme:adder", "add", {"numbers": [1, 2]}, result_type=dict[str, float]).value
        {'sum': 3.0}
        """
        body = _body(agent_id, capability, input, stream=False)
        path = {"workspaceId": workspace_id}
        read = _result if result_type is None else _typed_result(result_type)
        return Call(read, path, body=body, patience=_MAX_SECONDS, timeout=timeout)

    @partial(StreamOperation, _INVOKE)
    def stream(
        self,
        workspace_id: str,
        agent_id: str,
        capability: str,
        input: Input,  # noqa: A002  the contract's own name
        *,
        result_type: type[Any] | None = None,
        timeout: float | None = None,
    ) -> Call[Any]:
        """The chunks of one Invocation as they come; leaving the block before the end cancels it.

        With `result_type` each chunk is of this type, as with `invoke`.

        >>> with client.stream("demo", "acme:adder", "add", {"numbers": [1, 2]}) as chunks:
        ...     for chunk in chunks:
        ...         print(chunk)
        {'sum': 1}
        {'sum': 3}
        >>> chunks.terminal.type.value
        'completed'
        """
        body = _body(agent_id, capability, input, stream=True)
        path = {"workspaceId": workspace_id}
        if result_type is not None:
            reader_of(result_type)  # a type that cannot be read is told before anything is sent
        return Call(_nothing, path, body=body, patience=_MAX_SECONDS, timeout=timeout, result_type=result_type)

    @list_operation(_INVOCATIONS)
    def list_invocations(  # noqa: PLR0913  one argument for each filter
        self,
        workspace_id: str,
        *,
        status: InvocationStatus | None = None,
        agent_id: str | None = None,
        capability: str | None = None,
        caller_id: str | None = None,
        root: bool | None = None,
        trace_id: str | None = None,
        error_code: ErrorCode | None = None,
        reason: Reason | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        order: InvocationOrder | None = None,
    ) -> Call[Page[InvocationRecord]]:
        """The Invocations of a Workspace, newest first unless told otherwise; filters combine with AND.

        The caller is a principal. `root` keeps those that began a Trace, or with False those that an Agent called.
        """
        filters: dict[str, QueryValue] = {
            **_filters(status, agent_id, capability, caller_id, trace_id, error_code, reason, since, until, order),
            "root": root,
        }
        return Call(page_of(InvocationRecord), {"workspaceId": workspace_id}, filters)

    @list_operation(_TRACES)
    def list_traces(  # noqa: PLR0913  one argument for each filter
        self,
        workspace_id: str,
        *,
        status: InvocationStatus | None = None,
        agent_id: str | None = None,
        capability: str | None = None,
        caller_id: str | None = None,
        trace_id: str | None = None,
        error_code: ErrorCode | None = None,
        reason: Reason | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        order: InvocationOrder | None = None,
    ) -> Call[Page[TraceItem]]:
        """The Traces of a Workspace, one item each, newest first unless told otherwise. Filters are about the root.

        >>> client.invoke("demo", "acme:adder", "add", {"numbers": [1, 2]}).value
        {'sum': 3}
        >>> newest = next(iter(client.list_traces("demo")))
        >>> newest.root.status.value, newest.invocations, newest.failures, newest.agents
        ('succeeded', 1, 0, ('acme:adder',))
        """
        filters = _filters(status, agent_id, capability, caller_id, trace_id, error_code, reason, since, until, order)
        return Call(page_of(TraceItem), {"workspaceId": workspace_id}, filters)

    @operation("GET", _INVOCATIONS + "/{invocationId}")
    def read_invocation(self, workspace_id: str, invocation_id: str) -> Call[InvocationDetail]:
        """One Invocation with all its events; neither holds input or output.

        >>> ran = client.invoke("demo", "acme:adder", "add", {"numbers": [1, 2]})
        >>> [event.type.value for event in client.read_invocation("demo", ran.invocation_id).events]
        ['created', 'routing', 'started', 'succeeded']
        """
        return Call(json_of(InvocationDetail), {"workspaceId": workspace_id, "invocationId": invocation_id})

    @whole_operation(_TRACES + "/{traceId}", _TRACE_PARTS)
    def read_trace(self, workspace_id: str, trace_id: str) -> Call[Trace]:
        """All Invocations of one Trace, parents before their children. More than 1,000 take several requests."""
        return Call(json_of(Trace), {"workspaceId": workspace_id, "traceId": trace_id})


def _filters(  # noqa: PLR0913, PLR0917  what both lists take
    status: InvocationStatus | None,
    agent_id: str | None,
    capability: str | None,
    caller_id: str | None,
    trace_id: str | None,
    error_code: ErrorCode | None,
    reason: Reason | None,
    since: datetime | str | None,
    until: datetime | str | None,
    order: InvocationOrder | None,
) -> dict[str, QueryValue]:
    return {
        "status": status,
        "agentId": agent_id,
        "capability": capability,
        "callerId": caller_id,
        "traceId": trace_id,
        "errorCode": error_code,
        "reason": reason,
        "since": since,
        "until": until,
        "order": order,
    }


_read_result = json_of(InvocationResult)


def _result(answer: Answer) -> InvocationResult:
    result = _read_result(answer)
    if result.trace_id != trace_of(answer):
        raise ValueError("it belongs to another Trace")
    return result


def _typed_result(kind: type[M]) -> Read[Result[M]]:
    read_value = reader_of(kind)

    def read(answer: Answer) -> Result[M]:
        found = _result(answer)
        try:
            return Result.of(found, read_value(found.result))
        except Unfitting as problem:
            ids = {"trace_id": found.trace_id, "invocation_id": found.invocation_id}
            text = f"the Invocation succeeded, but its result is not a {name_of(kind)}: at {problem}"
            raise ResultMismatch(text, found.result, **ids) from problem

    return read


def _nothing(_: Answer) -> None:
    """A stream is read event by event instead."""


def _body(agent_id: str, capability: str, content: Input, *, stream: bool) -> bytes:
    if isinstance(content, bytes):
        strict_json.parse(content)  # so that nothing but a value takes the place of the input
    raw = content if isinstance(content, bytes) else msgspec.json.encode(content)
    return msgspec.json.encode(
        InvocationRequest(agent_id=agent_id, capability=capability, input=msgspec.Raw(raw), stream=stream)
    )
