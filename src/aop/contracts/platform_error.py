"""Readers of the Platform Error envelopes; codes, statuses and messages belong to `errors`."""

import msgspec

from aop.contracts.errors import ErrorCode, Reason, Violation
from aop.contracts.invocation import CorrelatedError
from aop.contracts.wire import Wire


class PreAcceptanceError(Wire, frozen=True, kw_only=True):
    """The form before acceptance, the same in all three envelopes: never an Invocation or root Task id."""

    code: ErrorCode
    message: str
    reason: Reason | msgspec.UnsetType = msgspec.UNSET
    trace_id: str
    violations: tuple[Violation, ...] | msgspec.UnsetType = msgspec.UNSET


class InvocationError(PreAcceptanceError, frozen=True, kw_only=True):
    """Platform Error v4 in either form, for readers who do not know yet whether there was acceptance."""

    invocation_id: str | msgspec.UnsetType = msgspec.UNSET
    root_task_id: str | msgspec.UnsetType = msgspec.UNSET


READERS: dict[str, type] = {
    "platform-error/2": PreAcceptanceError,
    "platform-error/3": PreAcceptanceError,
    "platform-error/4": InvocationError,
    "platform-error/4#preAcceptance": PreAcceptanceError,
    "platform-error/4#correlated": CorrelatedError,
}
