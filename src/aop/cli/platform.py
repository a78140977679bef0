"""An opened platform, as commands work with it: the client, the Workspace, and errors with the next step."""

import os
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self, TypeVar

from aop.cli import options
from aop.cli.destination import WORKSPACE, Destination, PlatformOptions, find_destination
from aop.cli.output import Output
from aop.cli.problems import EXIT_REFUSED, EXIT_UNREACHABLE, CommandProblem
from aop.cli.profiles import Profiles
from aop.client import AnswerLost, BrokenAnswer, Client, ClientError, PlatformError, StreamInterrupted
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.recovery import Situation
from aop.contracts.workspace import WorkspaceItem

T = TypeVar("T")

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


class Platform:
    """Belongs to one command; its client is closed when the command ends."""

    shared: ClassVar[Sequence[options.Declare]] = options.PLATFORM

    def __init__(self, client: Client, out: Output, destination: Destination, profiles: Profiles) -> None:
        self.client = client
        self.out = out
        self.destination = destination
        self.profiles = profiles

    @classmethod
    async def opened(
        cls, out: Output, values: dict[str, str | None], act: Callable[[Self], Coroutine[Any, Any, None]]
    ) -> None:
        environment = os.environ  # noqa: TID251
        profiles = Profiles.of(environment)
        destination = find_destination(PlatformOptions(values["profile"], values["data"]), environment, profiles)
        with as_problems(destination):
            async with Client(destination.gateway, destination.token) as client:
                await act(await cls(client, out, destination, profiles).prepared(values))

    async def prepared(self, values: dict[str, str | None]) -> Self:
        return self

    async def waiting(self, text: str, answer: Awaitable[T]) -> T:
        """The answer; people see a spinner until it comes."""
        with self.out.working(text):
            return await answer

    @contextmanager
    def hinting(self, **hints: str) -> Iterator[None]:
        """Inside, an error with one of these codes gets this recovery instead of the general one."""
        try:
            yield
        except PlatformError as error:
            problem = problem_of(error, self.destination)
            problem.recovery = hints.get(error.code, problem.recovery)
            raise problem from error


class InWorkspace(Platform):
    """A platform with the Workspace that the command works in."""

    shared: ClassVar[Sequence[options.Declare]] = options.IN_WORKSPACE
    workspace_id: str

    async def prepared(self, values: dict[str, str | None]) -> Self:
        self.workspace_id = values["workspace"] or self.destination.workspace or await self._only_workspace()
        return self

    async def _only_workspace(self) -> str:
        own = [workspace.workspace_id async for workspace in owned_workspaces(self.client)]
        if len(own) == 1:
            return own[0]
        if not own:
            raise CommandProblem(
                "you own no Workspace",
                code="no_workspace",
                recovery="aop workspace create ID, or name one that is shared with you: --workspace ID",
            )
        raise CommandProblem(
            f"you own {len(own)} Workspaces, and none is chosen: {', '.join(own[:10])}",
            code="no_workspace",
            recovery=f"--workspace ID for this command, {WORKSPACE}, or `aop workspace use ID` for all",
        )


async def owned_workspaces(client: Client) -> AsyncIterator[WorkspaceItem]:
    """No command chooses a shared Workspace by itself: its owner decides which Agents get the input."""
    async for workspace in client.list_workspaces("owner"):
        yield workspace


async def first(items: AsyncIterable[T], max_items: int) -> tuple[list[T], bool]:
    """At most `max_items`, and whether there are more."""
    found: list[T] = []
    async for item in items:
        if len(found) == max_items:
            return found, True
        found.append(item)
    return found, False


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
    else:
        text = f"{error} ({destination.gateway}, from {destination.source})"
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
