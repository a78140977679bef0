"""Starts an Agent project for one check, with a key that belongs to the check alone, and stops it afterwards."""

import asyncio
import os
import signal
import tempfile
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from aop.agent.check.a2a_address import AgentNotFound, AgentSilent, find_agent
from aop.agent.check.check import Subject
from aop.agent.guard import settings
from aop.agent.testing import SignedRouter
from aop.cli.shell.output import Output
from aop.cli.shell.problems import CommandProblem
from aop.net.address_settings import ListenAddress
from aop.net.origin import Endpoint
from aop.processes.child import Child

START_SECONDS = 60.0
_STOP_SECONDS, _PAUSE_SECONDS = 10.0, 0.1
_LOG_BYTES = 2_000
"""How much of the Agent's log is shown when it does not start."""


@dataclass(frozen=True)
class AgentProject:
    directory: Path
    module: str
    python: Path


@asynccontextmanager
async def started_agent(out: Output, project: AgentProject, subject: Subject) -> AsyncIterator[SignedRouter]:
    """The Router that the started Agent believes; no other does, and no running Agent gets a second key."""
    endpoint, card = subject.endpoint, subject.card
    if await answers(endpoint):
        raise CommandProblem(
            f"something answers at {endpoint.origin} already, and the check starts the Agent itself",
            recovery="stop it, or name its URL to check the Agent that runs",
        )
    router = SignedRouter.new(endpoint.origin, agent_id=card.agent_id, agent_version=card.version)
    address = ListenAddress(endpoint.host, endpoint.port).text
    with tempfile.TemporaryDirectory(prefix="aop-check-") as proofs, tempfile.TemporaryFile() as log:
        own = router.environment(Path(proofs), **{settings.LISTEN_ADDRESS: address})
        child = await _begun(project, {**os.environ, **own}, log)  # noqa: TID251
        try:
            with out.working("starting the Agent"):
                if not await is_served(child, endpoint):
                    raise CommandProblem(f"{_why(child, endpoint)}:\n{_last_lines(log)}")
            yield router
        finally:
            await child.stop(signal.SIGTERM, _STOP_SECONDS)


async def _begun(project: AgentProject, environment: Mapping[str, str], log: IO[bytes]) -> Child:
    """Its log is not shown: the results of the check are what counts."""
    command = (project.python, "-m", project.module)
    try:
        process = await asyncio.create_subprocess_exec(
            *command, cwd=project.directory, env=environment, stdin=DEVNULL, stdout=log, stderr=log
        )
    except OSError as problem:
        raise CommandProblem(f"{project.python} cannot be run: {problem.strerror}") from None
    return Child(process)


def _why(child: Child, endpoint: Endpoint) -> str:
    if child.exit_code is None:
        return f"the Agent does not serve {endpoint.origin} after {START_SECONDS:g} s"
    return f"the Agent ended with exit code {child.exit_code} before it served"


async def is_served(child: Child, endpoint: Endpoint) -> bool:
    return await child.becomes_ready(lambda: answers(endpoint), _PAUSE_SECONDS, START_SECONDS)


def _last_lines(log: IO[bytes]) -> str:
    log.seek(max(log.seek(0, os.SEEK_END) - _LOG_BYTES, 0))
    return log.read().decode(errors="replace").strip()


async def answers(endpoint: Endpoint) -> bool:
    try:
        await find_agent(endpoint.canonical, endpoint=endpoint)
    except AgentSilent:
        return False
    except AgentNotFound:
        return True
    return True
