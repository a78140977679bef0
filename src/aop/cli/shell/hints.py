"""Finds out what a person may have meant when the platform does not know a name, or is not a Gateway at all."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from aop.cli.shell.client_problems import problem_of
from aop.cli.shell.destination import Destination
from aop.cli.shell.input_forms import forms_of
from aop.cli.shell.problems import CommandProblem
from aop.cli.shell.similar import similar
from aop.client import Client, ClientError
from aop.client.call import Call
from aop.client.request import OperationRoute
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.workspace import InstallationItem, InstallationStatus

_SECONDS: Final = 3.0
_MAX_SHOWN: Final = 10
_PAGE: Final = 100
_METRICS: Final = OperationRoute("GET", "/metrics", (200,))
_UNIT: Final = re.compile(rb'unit="([a-z-]{1,20})"')
_UNITS: Final = {b"router": "a Router", b"door": "a door"}


@dataclass
class CommandNames:
    """The Agent, the Skill and the Workspace that the command line names."""

    agent: str | None = None
    skill: str | None = None
    workspace: str | None = None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> "CommandNames":
        return cls(arguments.get("agent"), arguments.get("capability"), arguments.get("workspace_id"))


@asynccontextmanager
async def hinted(client: Client, destination: Destination, named: CommandNames | None = None) -> AsyncIterator[None]:
    """Inside, a problem about a name gets a hint. Its code, its reason and its message stay what they are."""
    try:
        yield
    except (ClientError, CommandProblem) as error:
        problem = error if isinstance(error, CommandProblem) else problem_of(error, destination)
        # A hint is help alone. What cannot be looked up in time is left out, and says nothing about what exists.
        with suppress(Exception):
            async with asyncio.timeout(_SECONDS):
                await _add_hint(problem, client.within(_SECONDS), named or CommandNames())
        if problem is error:
            raise
        raise problem from error


async def _add_hint(problem: CommandProblem, client: Client, named: CommandNames) -> None:
    if problem.code == ErrorCode.NOT_FOUND and problem.reason is None:
        await _add_unit(problem, client)
    elif problem.reason == Reason.WORKSPACE_UNKNOWN and named.workspace:
        page = await client.list_workspaces().page(limit=_PAGE)
        names = [one.workspace_id for one in page.items]
        problem.hint = _hint(f"the Workspace is {named.workspace}", named.workspace, names, "you may use")
    elif problem.reason == Reason.AGENT_UNKNOWN and named.agent:
        problem.hint = _hint(f"the Agent is {named.agent}", named.agent, await _published(client, named.agent))
    elif problem.code == ErrorCode.AGENT_NOT_INSTALLED and named.agent and named.workspace:
        await _add_installable(problem, client, named.agent, named.workspace)
    elif problem.reason == Reason.SKILL_UNKNOWN and named.agent and named.skill and named.workspace:
        found = [one for one in await _installed(client, named.workspace) if one.agent_id == named.agent]
        skills = [skill.id for one in found for skill in one.skills]
        problem.hint = _hint(f"the Skill is {named.skill}", named.skill, skills, f"{named.agent} offers")
    elif problem.violations and named.agent and named.skill and named.workspace:
        problem.forms = await forms_of(client, named.workspace, named.agent, named.skill, problem.violations)


async def _add_unit(problem: CommandProblem, client: Client) -> None:
    """A Gateway knows every path of its clients. Other units say in their metrics what they are."""
    body = await client.send(_METRICS.request(Call(lambda answer: answer.body, anonymous=True)))
    unit = _UNIT.search(body)
    if unit is not None and unit[1] in _UNITS:
        problem.hint = f"this is {_UNITS[unit[1]]}, not a Gateway"
        problem.recovery = "give the address of the Gateway; `aop up` shows it as Gateway"


async def _add_installable(problem: CommandProblem, client: Client, agent: str, workspace: str) -> None:
    published = await _published(client, agent)
    if agent in published:
        problem.recovery = f"aop install {agent}; `aop installations` lists what is installed"
        return
    installed = [one.agent_id for one in await _installed(client, workspace)]
    problem.hint = _hint(f"no Agent {agent} is published", agent, [*installed, *published])
    problem.recovery = "check the id: `aop installations` lists what is installed, `aop search` what can be"


async def _published(client: Client, agent: str) -> list[str]:
    """The best matches of the search, which forgives small mistakes."""
    page = await client.discover_agents(agent, latest=True).page(limit=_MAX_SHOWN)
    return [one.agent_id for one in page.items]


async def _installed(client: Client, workspace: str) -> list[InstallationItem]:
    page = await client.list_installations(workspace).page(limit=_PAGE)
    return [one for one in page.items if one.status is not InstallationStatus.UNINSTALLED]


def _hint(said: str, name: str, names: Iterable[str], listing: str | None = None) -> str:
    """What was named, the name that looks most like it, and the names there are, if they are to be listed."""
    known: Sequence[str] = sorted(set(names))
    meant = similar(name, known)
    asked = f"{said}; did you mean {meant}? " if meant else f"{said}; "
    if listing is None or not known:
        return asked.rstrip("; ")
    more = f" and {len(known) - _MAX_SHOWN} more" if len(known) > _MAX_SHOWN else ""
    return f"{asked}{listing} {', '.join(known[:_MAX_SHOWN])}{more}"
