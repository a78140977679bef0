"""Errors of the client as problems of a command: code, what is wrong where, trace and the next action."""

from collections.abc import Iterator
from contextlib import contextmanager

from aop.cli.shell.destination import Destination
from aop.cli.shell.problems import EXIT_REFUSED, EXIT_UNREACHABLE, CommandProblem
from aop.client import (
    AnswerLost,
    AuthoritiesNotUsable,
    BrokenAnswer,
    ClientError,
    PlatformError,
    StreamInterrupted,
    TokenNeeded,
)
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.recovery import Situation

_LOGIN = "aop login"
_COMMANDS: dict[ErrorCode | Reason, str] = {
    ErrorCode.UNAUTHENTICATED: _LOGIN,
    ErrorCode.INSTALLATION_DISABLED: "aop enable AGENT",
    ErrorCode.CAPABILITY_NOT_ALLOWED: "aop agent show AGENT",
    ErrorCode.AGENT_RELEASE_UNPUBLISHED: "aop publish CARD",
    ErrorCode.AGENT_RELEASE_SUSPENDED: "aop publish CARD",
    ErrorCode.AGENT_RELEASE_REVOKED: "aop publish CARD",
    ErrorCode.DEPENDENCY_ERROR: "aop status",
    Reason.ACCEPTANCE_UNKNOWN: "aop trace TRACE, aop status",
    Reason.OUTCOME_UNKNOWN: "aop invocations INVOCATION",
    Reason.ROUTER_RESTARTED: "aop invocations INVOCATION",
    Reason.ALREADY_INSTALLED: "aop upgrade AGENT",
    Reason.NOT_INSTALLED: "aop install AGENT",
    Reason.WORKSPACE_UNKNOWN: "aop workspace list",
    Reason.NOT_CALLER: "aop workspace callers add PRINCIPAL",
    Reason.CALLER_UNKNOWN: "aop workspace callers list",
    Reason.CALLER_LIMIT: "aop workspace callers remove PRINCIPAL",
    Reason.AGENT_UNKNOWN: "aop search",
    Reason.VERSION_UNKNOWN: "aop agent show AGENT",
    Reason.VERSION_RANGE_EMPTY: "aop agent show AGENT",
    Reason.RELEASE_UNKNOWN: "aop release list",
    Reason.INVOCATION_UNKNOWN: "aop invocations",
    Reason.TRACE_UNKNOWN: "aop invocations",
    Reason.SIGN_IN_CODE: "aop open",
    Reason.TOKEN_LIMIT: "aop token list --mine",
    Reason.TOKEN_UNKNOWN: "aop token list --mine",
}
"""The command that does what the recovery says, where there is one."""

_SITUATIONS: dict[type[ClientError], Situation] = {
    AnswerLost: Situation.ANSWER_LOST,
    BrokenAnswer: Situation.BROKEN_ANSWER,
    StreamInterrupted: Situation.STREAM_INTERRUPTED,
}


@contextmanager
def as_problems(destination: Destination) -> Iterator[None]:
    """Errors of the client as problems with code, trace and the next action."""
    try:
        yield
    except ClientError as error:
        raise problem_of(error, destination) from error


def problem_of(error: ClientError, destination: Destination) -> CommandProblem:
    if isinstance(error, PlatformError):
        problem = CommandProblem(error.message, code=error.code, exit_code=EXIT_REFUSED)
        problem.reason, problem.sentence = error.reason, error.recovery.sentence
        problem.violations = error.violations
    elif isinstance(error, AuthoritiesNotUsable | TokenNeeded):
        problem = CommandProblem(str(error), code="not_configured")
    else:
        where = "" if destination.gateway in str(error) else f"{destination.gateway}, "
        text = f"{error} ({where}from {destination.source})"
        lost = not isinstance(error, StreamInterrupted)
        problem = CommandProblem(text, code=_situation(error), exit_code=EXIT_UNREACHABLE if lost else EXIT_REFUSED)
    command = _command(error) if isinstance(error, PlatformError) else None
    if command == _LOGIN and destination.local is not None:
        command = "start `aop up` again: its token is valid for a day"
    problem.recovery = error.recovery.action + (f" ({command})" if command else "")
    problem.trace_id, problem.invocation_id = error.trace_id, error.invocation_id
    return problem


def _command(error: PlatformError) -> str | None:
    nearer = None if error.reason is None else _COMMANDS.get(error.reason)
    return nearer or _COMMANDS.get(error.code)


def _situation(error: ClientError) -> Situation:
    for kind, situation in _SITUATIONS.items():
        if isinstance(error, kind):
            return situation
    return Situation.UNREACHABLE
