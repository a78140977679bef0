"""Starts an Agent project for one check, with a key that belongs to the check alone, and stops it afterwards."""

import asyncio
import os
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from aop.agent import settings
from aop.agent.a2a_address import AgentNotFound, AgentSilent, find_agent
from aop.agent.check import Subject
from aop.agent.testing import SignedRouter
from aop.cli.output import Output
from aop.cli.problems import CommandProblem
from aop.net.origin import Endpoint

_START_SECONDS, _STOP_SECONDS, _PAUSE_SECONDS = 60.0, 10.0, 0.1


@dataclass(frozen=True)
class AgentProject:
    directory: Path
    module: str
    python: Path


@asynccontextmanager
async def started_agent(out: Output, project: AgentProject, subject: Subject) -> AsyncIterator[SignedRouter]:
    """The Router that the started Agent believes; no other does, and no running Agent gets a second key."""
    endpoint, card = subject.endpoint, subject.card
    if await _answers(endpoint):
        raise CommandProblem(
            f"something answers at {endpoint.origin} already, and the check starts the Agent itself",
            recovery="stop it, or name its URL to check the Agent that runs",
        )
    router = SignedRouter.new(endpoint.origin, agent_id=card.agent_id, agent_version=card.version)
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    with tempfile.TemporaryDirectory(prefix="aop-check-") as proofs:
        own = router.environment(Path(proofs), **{settings.LISTEN_ADDRESS: f"{host}:{endpoint.port}"})
        process = await asyncio.create_subprocess_exec(
            project.python,
            "-m",
            project.module,
            cwd=project.directory,
            env={**os.environ, **own},  # noqa: TID251
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL if out.json else None,
        )
        try:
            with out.working("starting the Agent"):
                await _wait_until_served(process, endpoint)
            yield router
        finally:
            await _stop(process)


async def _wait_until_served(process: Process, endpoint: Endpoint) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(_START_SECONDS):
            while not await _answers(endpoint):
                if process.returncode is not None:
                    raise CommandProblem(f"the Agent ended with exit code {process.returncode} before it served")
                await asyncio.sleep(_PAUSE_SECONDS)
            return
    raise CommandProblem(f"the Agent does not serve {endpoint.origin} after {_START_SECONDS:g} s")


async def _answers(endpoint: Endpoint) -> bool:
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
