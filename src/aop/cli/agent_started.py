"""Starts an Agent project for one check, with a key that belongs to the check alone, and stops it afterwards."""

import asyncio
import os
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from aop.agent import settings
from aop.agent.a2a_address import AgentNotFound, AgentSilent, find_agent
from aop.agent.check import Subject
from aop.agent.testing import SignedRouter
from aop.cli.output import Output
from aop.cli.problems import CommandProblem
from aop.net.origin import Endpoint

_START_SECONDS, _STOP_SECONDS, _PAUSE_SECONDS = 60.0, 10.0, 0.1
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
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    with tempfile.TemporaryDirectory(prefix="aop-check-") as proofs, tempfile.TemporaryFile() as log:
        own = router.environment(Path(proofs), **{settings.LISTEN_ADDRESS: f"{host}:{endpoint.port}"})
        process = await _begun(project, {**os.environ, **own}, log)  # noqa: TID251
        try:
            with out.working("starting the Agent"):
                await _wait_until_served(process, endpoint, log)
            yield router
        finally:
            await _stop(process)


async def _begun(project: AgentProject, environment: Mapping[str, str], log: IO[bytes]) -> Process:
    """Its log is kept back: what the check found is what counts."""
    command = (project.python, "-m", project.module)
    try:
        return await asyncio.create_subprocess_exec(
            *command, cwd=project.directory, env=environment, stdin=DEVNULL, stdout=log, stderr=log
        )
    except OSError as problem:
        raise CommandProblem(f"{project.python} cannot be run: {problem.strerror}") from None


async def _wait_until_served(process: Process, endpoint: Endpoint, log: IO[bytes]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(_START_SECONDS):
            while not await answers(endpoint):
                if process.returncode is not None:
                    ended = f"the Agent ended with exit code {process.returncode} before it served"
                    raise CommandProblem(f"{ended}:\n{_last_lines(log)}")
                await asyncio.sleep(_PAUSE_SECONDS)
            return
    raise CommandProblem(f"the Agent does not serve {endpoint.origin} after {_START_SECONDS:g} s:\n{_last_lines(log)}")


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


async def _stop(process: Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(_STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
