"""`aop dev`: runs an Agent project while its author works on it, in one terminal."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import click

from aop.base.file_locks import try_lock
from aop.cli.provider.dev_changes import CARD
from aop.cli.provider.dev_loop import DevelopmentLoop, Project
from aop.cli.provider.dev_publication import DevelopmentPublication
from aop.cli.shell import options
from aop.cli.shell.hints import CommandNames
from aop.cli.shell.output import styled
from aop.cli.shell.platform import InWorkspace, ServingWorkspace, owned_workspaces
from aop.cli.shell.problems import CommandProblem
from aop.local.ending import on_ending
from aop.local.publication import WORKSPACE
from aop.net.origin import Endpoint


class DevelopedWorkspace(ServingWorkspace):
    """On a local platform without any Workspace, one is made: no one else could choose another."""

    async def prepared(self, values: dict[str, Any], named: CommandNames) -> Self:
        chosen = values["workspace"] or self.destination.workspace
        if chosen is None and self.destination.local is not None:
            async for _ in owned_workspaces(self.client):
                break
            else:
                await self.client.create_workspace(WORKSPACE)
                self.out.note(f"made the Workspace {WORKSPACE}")
        return await super().prepared(values, named)


@click.argument("folder", metavar="[FOLDER]", default=Path(), type=options.PATH, help="The project; default: this one.")
@click.option(
    "--python", metavar="FILE", type=options.PATH, help="Run it with this Python; default: an environment in its .venv."
)
@click.option(
    "--watch", metavar="PATTERN", multiple=True, help="Start it again when such files change too, like '*.txt'."
)
@click.option("--provider", metavar="ID", help="The provider id to publish under; default: the Card's owner.")
@click.option("--remote", is_flag=True, help="Also with a Gateway that is not on this machine.")
@click.option("--yes", "-y", is_flag=True, help="Accept new permissions of the Card without a question.")
async def dev(
    platform: DevelopedWorkspace,
    folder: Path,
    python: Path | None,
    watch: tuple[str, ...],
    provider: str | None,
    remote: bool,
    yes: bool,
) -> None:
    """The Agent runs and is started again when you save a Python file, the Card or requirements.txt. Its log and every
    call that ends are shown: Skill, outcome, reason and trace. Ctrl-C stops the Agent; a second one at once.

    A change of the code publishes nothing. A changed Card is published as a development version, X.Y.Z-dev.N, and takes
    the place of what the Workspace had, in one step; the development version before it is disabled. The file keeps its
    version: `aop publish` publishes that one when it is ready. Permissions that are new are asked for first.

    What is broken is told and changes nothing; the next save is tried again.

    Example: aop dev my-agent
    Example: aop dev my-agent --yes --watch '*.txt'
    """
    _require_here(platform, remote)
    project = Project.of(folder, python, watch)
    publication = DevelopmentPublication(platform, project.folder, provider, yes=yes)
    loop = DevelopmentLoop(platform, project, publication)
    with _held(project.folder):
        where = f"{project.folder} with {platform.destination.gateway}; Ctrl-C stops it"
        platform.out.show(styled(("dev    ", "dim"), where))
        await _until_stopped(loop)
    platform.out.show(
        styled(("dev    ", "dim"), f"stopped; the Workspace {platform.workspace_id} keeps what was installed")
    )


async def _until_stopped(loop: DevelopmentLoop) -> None:
    work = asyncio.create_task(loop.run())

    def stop() -> None:
        """Once: what is tidied up at the end must not be interrupted. A second Ctrl-C ends the Agent at once."""
        if work.cancelling():
            loop.hurry()
        else:
            work.cancel()

    on_ending(stop)
    await asyncio.wait({work})
    if not work.cancelled():
        work.result()


def _require_here(platform: InWorkspace, remote: bool) -> None:
    gateway = Endpoint.parse(platform.destination.gateway)
    if not (remote or gateway.is_loopback or gateway.host == "localhost"):
        raise CommandProblem(
            f"{gateway.origin} is not on this machine, and development versions would be published for everybody there",
            code="not_local",
            recovery="start a platform here with `aop up`, or pass --remote if you mean it",
        )


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """By one `aop dev` at a time. The lock is on the folder itself, so nothing is left in it."""
    if not (folder / CARD).is_file():
        raise CommandProblem(f"{folder} has no {CARD}", recovery="name the project's folder, or make one: aop init DIR")
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if not try_lock(descriptor):
            raise CommandProblem(
                f"another `aop dev` works on {folder}", code="busy", recovery="stop it there with Ctrl-C, or use it"
            )
        yield
    finally:
        os.close(descriptor)
