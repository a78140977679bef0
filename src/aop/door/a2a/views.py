"""What the door says of an Invocation as a Task: from a result, from an event, from an error, from the Ledger."""

from collections.abc import Mapping
from typing import Final

from aop.a2a.v0_3 import TaskState
from aop.a2a.writing import TaskView
from aop.base.clock import now_text
from aop.contracts.errors import ErrorCode
from aop.contracts.lineage import InvocationRecord, InvocationStatus
from aop.door.a2a.errors import facts_of, text_of
from aop.door.faults import GatewayFault

STATES: Final[Mapping[InvocationStatus, TaskState]] = {
    InvocationStatus.PENDING: TaskState.SUBMITTED,
    InvocationStatus.ROUTING: TaskState.SUBMITTED,
    InvocationStatus.RUNNING: TaskState.WORKING,
    InvocationStatus.SUCCEEDED: TaskState.COMPLETED,
    InvocationStatus.FAILED: TaskState.FAILED,
    InvocationStatus.TIMED_OUT: TaskState.FAILED,
    InvocationStatus.CANCELED: TaskState.CANCELED,
}


def view_of(invocation_id: str, context_id: str, state: TaskState, trace_id: str) -> TaskView:
    return TaskView(invocation_id, context_id, state, now_text(), {"traceId": trace_id})


def failed_view(invocation_id: str, context_id: str, fault: GatewayFault) -> TaskView:
    """An Invocation that ended without success, with everything the platform says of it."""
    state = TaskState.CANCELED if fault.code is ErrorCode.CANCELED else TaskState.FAILED
    return TaskView(invocation_id, context_id, state, now_text(), facts_of(fault), text_of(fault))


def recorded_view(record: InvocationRecord, context_id: str) -> TaskView:
    """As the Ledger has it."""
    fault, trace_id = None, record.trace_id
    if record.error_code:
        fault = GatewayFault(record.error_code, record.reason or None)
        fault.trace_id, fault.invocation_id = trace_id, record.invocation_id
    return TaskView(
        record.invocation_id,
        context_id,
        STATES[record.status],
        record.updated_at,
        {"traceId": trace_id} if fault is None else facts_of(fault),
        None if fault is None else text_of(fault),
    )
