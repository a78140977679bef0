"""`aop installations`, `enable`, `disable`, `uninstall`: what is installed in a Workspace, and what may run."""

from typing import Literal

import click

from aop.cli.shell import options
from aop.cli.shell.installed import current_installation
from aop.cli.shell.output import Cell, moment, status
from aop.cli.shell.platform import InWorkspace
from aop.contracts.workspace import Installation, InstallationItem, InstallationStatus

_agent = click.argument("agent", metavar="AGENT", help="The Agent's id, or an inst_… id.")


@click.option("--all", "history", is_flag=True, help="Include uninstalled ones.")
@options.limit(100)
async def installations(platform: InWorkspace, history: bool, limit: int) -> None:
    """Shows the exact version of each Installation and its Skills.

    A Skill is refused when a permission that it needs was not accepted.

    Example: aop installations --all
    """
    listing = platform.client.list_installations(platform.workspace_id)
    listed = (one async for one in listing if history or one.status is not InstallationStatus.UNINSTALLED)
    headings = ["agent", "name", "version", "status", "skills", "accepted", "installation", "installed"]
    nothing = f"nothing is installed in {platform.workspace_id}"
    await platform.tell_list(listed, limit, _row, headings, nothing=nothing)


def _row(one: InstallationItem) -> tuple[Cell, ...]:
    return (
        one.agent_id,
        one.agent_name,
        one.installed_version,
        status(one.status),
        ", ".join(skill.id if skill.permissions_accepted else f"{skill.id} (refused)" for skill in one.skills),
        ", ".join(one.accepted_permissions),
        one.installation_id,
        moment(one.installed_at),
    )


@_agent
async def enable(platform: InWorkspace, agent: str) -> None:
    """Example: aop enable aop:summarizer"""
    await _set(platform, agent, "enabled")


@_agent
async def disable(platform: InWorkspace, agent: str) -> None:
    """Invocations are refused until it is enabled again.

    Example: aop disable aop:summarizer
    """
    await _set(platform, agent, "disabled")


@_agent
async def uninstall(platform: InWorkspace, agent: str) -> None:
    """Example: aop uninstall aop:summarizer"""
    current = await current_installation(platform, agent)
    done = await platform.client.uninstall_agent(platform.workspace_id, current.installation_id)
    platform.out.tell(done, _line(done))


async def _set(platform: InWorkspace, agent: str, status: Literal["enabled", "disabled"]) -> None:
    current = await current_installation(platform, agent)
    with platform.hinting(CONFLICT=f"it is {current.status} already; nothing was changed"):
        done = await platform.client.update_installation(platform.workspace_id, current.installation_id, status)
    platform.out.tell(done, _line(done))


def _line(done: Installation) -> str:
    return f"{done.agent_id} {done.installed_version} is {done.status} in the Workspace {done.workspace_id}"
