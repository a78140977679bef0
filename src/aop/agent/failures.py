"""What a nested call ends in when it gives no result."""

import msgspec

from aop.contracts.errors import ErrorCode, Reason, Violation
from aop.contracts.invocation import CorrelatedError
from aop.contracts.platform_error import InvocationError


class NestedCallFailed(Exception):
    """The platform said no, or the child invocation ended otherwise than `succeeded`.

    `reason` is one word of the contract's closed list that says more than the code, or None. `invocation_id` is None
    when no child was accepted; then nothing ran, unless the reason is `acceptance_unknown`.
    """

    def __init__(
        self,
        code: ErrorCode,
        text: str,
        *,
        reason: Reason | None = None,
        invocation_id: str | None = None,
        trace_id: str | None = None,
        violations: tuple[Violation, ...] = (),
    ) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.reason = reason
        self.invocation_id = invocation_id
        self.trace_id = trace_id
        self.violations = violations

    @staticmethod
    def of(error: InvocationError | CorrelatedError) -> "NestedCallFailed":
        violations = error.violations if isinstance(error, InvocationError) else msgspec.UNSET
        invocation_id = error.invocation_id
        return NestedCallFailed(
            error.code,
            error.message,
            reason=error.reason or None,
            invocation_id=None if invocation_id is msgspec.UNSET else invocation_id,
            trace_id=error.trace_id,
            violations=() if violations is msgspec.UNSET else violations,
        )


class NestedCallInterrupted(NestedCallFailed):
    """The Router was out of reach or its delivery broke: whether and how the child ended is only in the Ledger."""

    def __init__(self, text: str) -> None:
        super().__init__(ErrorCode.DEPENDENCY_ERROR, text)
