"""An opened platform, as commands work with it: the client, the Workspace, and errors with hints."""

import os
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from aop.cli.shell import options
from aop.cli.shell.client_problems import as_problems, problem_of
from aop.cli.shell.destination import WORKSPACE, Destination, PlatformOptions, find_destination
from aop.cli.shell.hints import CommandNames, hinted
from aop.cli.shell.output import Cell, Output, table
from aop.cli.shell.problems import CommandProblem
from aop.cli.shell.profiles import Profiles
from aop.client import Client, PlatformError
from aop.contracts.workspace import WorkspaceItem

T = TypeVar("T")


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
        cls,
        out: Output,
        values: dict[str, Any],
        act: Callable[[Self], Coroutine[Any, Any, None]],
        arguments: Mapping[str, Any] = {},
    ) -> None:
        environment = os.environ  # noqa: TID251
        profiles = Profiles.of(environment)
        destination = find_destination(PlatformOptions.of(values), environment, profiles)
        with as_problems(destination):
            async with destination.client() as client:
                platform = cls(client, out, destination, profiles)
                named = CommandNames.of(arguments)
                async with hinted(client, destination, named):
                    await act(await platform.prepared(values, named))

    async def prepared(self, values: dict[str, Any], named: CommandNames) -> Self:
        return self

    async def waiting(self, text: str, answer: Awaitable[T]) -> T:
        """The answer; people see a spinner until it comes."""
        with self.out.working(text):
            return await answer

    async def tell_list(
        self,
        items: AsyncIterable[T],
        limit: int,
        row: Callable[[T], Sequence[Cell]],
        headings: Sequence[str],
        *,
        nothing: str,
        fold: int | None = None,
        waiting: str = "",
    ) -> None:
        """The outcome of a command that lists: `limit` items at most, and a note when there are more.

        With `waiting` people see a spinner with this text until they come.
        """
        reading = first(items, limit)
        found, more = await (self.waiting(waiting, reading) if waiting else reading)
        lines = table(headings, [row(one) for one in found], fold) if found else [nothing]
        self.out.tell({"items": found}, *lines)
        if more:
            self.out.note(f"there are more: --limit shows more than {limit}")

    @contextmanager
    def hinting(self, **hints: str) -> Iterator[None]:
        """Inside, an error with one of these codes gets this recovery instead of the general one."""
        try:
            yield
        except PlatformError as error:
            problem = problem_of(error, self.destination)
            problem.recovery = hints.get(error.code, problem.recovery)
            raise problem from error


class PlatformChoice:
    """For a command that works with a platform, or beside one: it opens the platform only where it needs it."""

    shared: ClassVar[Sequence[options.Declare]] = options.PLATFORM

    def __init__(self, out: Output, values: dict[str, Any]) -> None:
        self.out = out
        self.profile: str | None = values["profile"]
        self.folder: Path | None = values["data"]
        self._values = values

    @classmethod
    def opened(cls, out: Output, values: dict[str, Any], act: Callable[[Self], Any], _: Mapping[str, Any] = {}) -> Any:
        return act(cls(out, values))

    def destination(self) -> Destination:
        environment = os.environ  # noqa: TID251
        return find_destination(PlatformOptions.of(self._values), environment, Profiles.of(environment))

    async def at_gateway(self, act: Callable[[Platform], Coroutine[Any, Any, None]]) -> None:
        await Platform.opened(self.out, self._values, act)


class InWorkspace(Platform):
    """A platform with the Workspace that the command works in."""

    shared: ClassVar[Sequence[options.Declare]] = options.IN_WORKSPACE
    workspace_id: str

    async def prepared(self, values: dict[str, Any], named: CommandNames) -> Self:
        self.workspace_id = values["workspace"] or self.destination.workspace or await self._only_workspace()
        named.workspace = self.workspace_id
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


class ServingWorkspace(InWorkspace):
    """Of a command that runs until it is stopped: it has no outcome to write."""

    shared = options.SERVING_WORKSPACE


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
