"""Why the Gateway gave no result, as one exception that says all a protocol may tell its caller."""

from typing import Final

from aop.client.errors import AnswerLost, ClientError, PlatformError, StreamInterrupted
from aop.contracts.errors import ErrorCode, Reason, Relayed, code_entries
from aop.contracts.recovery import Recovery, recovery_of

_LOST: Final = ErrorCode.DEPENDENCY_ERROR


class GatewayFault(Relayed):
    """Raised out of a route it is answered as the Gateway answers: status, code, reason, violations, Trace.

    `trace_id` and `invocation_id` are None where they are unknown; with an `invocation_id` the Invocation had been
    accepted, so that a protocol has to say so in its own form. `recovery` says who acts next and how.
    """

    def __init__(self, code: ErrorCode, reason: Reason | None = None, cause: ClientError | None = None) -> None:
        super().__init__(code, "" if cause is None else type(cause).__name__, reason=reason)
        self.recovery: Recovery = recovery_of(code, reason) if cause is None else cause.recovery
        self.trace_id = None if cause is None else cause.trace_id
        self.invocation_id = None if cause is None else cause.invocation_id
        if isinstance(cause, PlatformError):
            self.violations = cause.violations

    @property
    def status(self) -> int:
        """That of HTTP."""
        return code_entries()[self.code].status

    @property
    def message(self) -> str:
        """The fixed sentence of the code."""
        return code_entries()[self.code].message


def fault_of(error: ClientError, *, invoking: bool = False) -> GatewayFault:
    """What a failed call means to a caller of the door. `invoking`: it may have run an Agent."""
    if isinstance(error, PlatformError):
        return GatewayFault(error.code, error.reason, error)
    if isinstance(error, StreamInterrupted):
        return GatewayFault(_LOST, Reason.OUTCOME_UNKNOWN, error)
    if isinstance(error, AnswerLost) and invoking:
        return GatewayFault(_LOST, Reason.ACCEPTANCE_UNKNOWN, error)
    return GatewayFault(_LOST, None, error)
