"""`aop dev` at work: the Agent runs, and each change of the project is brought to it and to the platform."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from aop.agent.guard import settings
from aop.cli.provider.agent_environment import python_of
from aop.cli.provider.agent_port import require_port
from aop.cli.provider.agent_run import agent_settings, module_of
from aop.cli.provider.agent_started import AgentProject
from aop.cli.provider.card import lines_of
from aop.cli.provider.dev_calls import EndedCalls
from aop.cli.provider.dev_changes import CARD, PROGRAM, changes_of, forget_bytecode
from aop.cli.provider.dev_process import AgentProcess
from aop.cli.provider.dev_publication import DevelopmentPublication
from aop.cli.provider.dev_steps import to_its_end
from aop.cli.shell.card_findings import read_card_file
from aop.cli.shell.client_problems import problem_of
from aop.cli.shell.output import styled
from aop.cli.shell.platform import InWorkspace
from aop.cli.shell.problems import CommandProblem
from aop.client import ClientError
from aop.contracts.card import AgentCard
from aop.local.installing import SetupProgress
from aop.net import address_settings as addresses
from aop.net.origin import Endpoint, InvalidEndpoint

_MAX_NAMED = 5


@dataclass(frozen=True)
class Project:
    folder: Path
    python: Path | None
    """None for the environment in the folder."""
    watched: Sequence[str] = ()
    """Further names of files whose change starts the Agent again."""

    @classmethod
    def of(cls, folder: Path, python: Path | None, watched: Sequence[str]) -> Self:
        return cls(folder.absolute(), None if python is None else python.absolute(), watched)


class DevelopmentLoop:
    def __init__(self, platform: InWorkspace, project: Project, publication: DevelopmentPublication) -> None:
        self._platform = platform
        self._out = platform.out
        self._project = project
        self._publication = publication
        self._process = AgentProcess(platform.out)
        self._calls = EndedCalls(platform)

    async def run(self) -> None:
        """Until it is cancelled; then the Agent is stopped."""
        work, calls = asyncio.create_task(self._bring()), asyncio.create_task(self._calls.follow())
        try:
            async with aclosing(changes_of(self._project.folder, (*PROGRAM, *self._project.watched))) as changes:
                async for changed in changes:
                    await _ended(work)
                    forget_bytecode(changed)
                    self._say(f"changed: {self._named(changed)}")
                    work = asyncio.create_task(self._bring())
        finally:
            await _ended(calls)
            await _ended(work)
            await self._process.stop()
            await self._publication.leave()

    def hurry(self) -> None:
        """The Agent gets no more time to end by itself."""
        self._process.kill()

    async def _bring(self) -> None:
        """One state of the folder, as far as it is whole. A problem is shown, and the next save is tried."""
        try:
            read = read_card_file(self._project.folder / CARD)
            if read.card is None:
                self._out.note(*lines_of(read))
                self._say("the changed Card is not used; what ran before goes on")
                return
            await self._restart(read.card)
            self._calls.agent_id = read.card.agent_id
            await self._publication.bring(read, read.card)
        except CommandProblem as problem:
            self._tell(problem)
        except ClientError as error:
            self._tell(problem_of(error, self._platform.destination))
        except Exception as error:  # noqa: BLE001  nobody else would hear of it, and the next save may fix it
            self._tell(CommandProblem(f"this change was not brought: {type(error).__name__}: {error}"))

    async def _restart(self, card: AgentCard) -> None:
        folder, local = self._project.folder, self._platform.destination.local
        try:
            endpoint = Endpoint.parse(card.protocol.endpoint)
        except InvalidEndpoint as problem:
            raise CommandProblem(f"protocol.endpoint of the Card: {problem}") from None
        python = self._project.python
        if python is None:
            python = await self._environment()
        environment = agent_settings(folder, endpoint, os.environ, local) | {"PYTHONUNBUFFERED": "1"}  # noqa: TID251
        project = AgentProject(folder, module_of(folder), python)
        await self._process.stop()
        with suppress(ValueError):  # the Agent says itself what is wrong with its setting
            await require_port(addresses.listen_address(environment[settings.LISTEN_ADDRESS]), card.agent_id)
        await self._process.start(project, environment)
        await self._process.wait_served(endpoint)
        self._say(f"{card.agent_id} serves {endpoint.canonical}")

    async def _environment(self) -> Path:
        """Made in a thread, which cancelling does not end: the next one must not begin in the same folder before."""
        progress = SetupProgress(self._out.note)
        making = asyncio.to_thread(python_of, self._project.folder, self._out, progress)
        return await to_its_end(making, progress.stop)

    def _tell(self, problem: CommandProblem) -> None:
        self._out.problem(problem)
        self._say("waiting for the next save")

    def _named(self, changed: frozenset[Path]) -> str:
        names = sorted(str(path.relative_to(self._project.folder)) for path in changed)
        rest = len(names) - _MAX_NAMED
        return ", ".join(names[:_MAX_NAMED]) + (f" and {rest} more" if rest > 0 else "")

    def _say(self, text: str) -> None:
        self._out.show(styled(("dev    ", "dim"), text))


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
