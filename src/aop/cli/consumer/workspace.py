"""`aop workspace`: makes and lists Workspaces, and keeps which one commands work in."""

import click

from aop.cli.shell.output import moment, table
from aop.cli.shell.platform import Platform
from aop.cli.shell.problems import CommandProblem

_workspace_id = click.argument("workspace_id", metavar="ID", help="The Workspace's id.")


@_workspace_id
async def create(platform: Platform, workspace_id: str) -> None:
    """It belongs to you. An id has 1 to 128 letters, digits and . _ : - and cannot be reused.

    Example: aop workspace create team
    """
    taken = f"the id is taken: choose another, or, if it is yours, `aop workspace use {workspace_id}`"
    with platform.hinting(CONFLICT=taken):
        made = await platform.client.create_workspace(workspace_id)
    platform.out.tell(made, f"made the Workspace {made.workspace_id}, owned by {made.owner_id}")


async def list_workspaces(platform: Platform) -> None:
    """A star marks the one in use. Your role is owner or caller: an owner can share a Workspace with you.

    Example: aop workspace list
    """
    found = [workspace async for workspace in platform.client.list_workspaces()]
    used = platform.destination.workspace
    rows = [
        ("*" if one.workspace_id == used else "", one.workspace_id, one.role, one.owner_id, moment(one.created_at))
        for one in found
    ]
    platform.out.tell({"items": found}, *table(["", "workspace", "role", "owner", "created"], rows))


@_workspace_id
async def use(platform: Platform, workspace_id: str) -> None:
    """The choice is saved in the profile, or for a local platform beside the profiles.

    Example: aop workspace use team
    """
    found = await platform.client.read_workspace(workspace_id)
    destination = platform.destination
    if destination.profile is not None:
        platform.profiles.choose_workspace(destination.profile, workspace_id)
    elif destination.local is not None:
        platform.profiles.choose_local_workspace(destination.local.folder, workspace_id)
    else:
        raise CommandProblem("there is no profile to keep it in", recovery="aop login first, or set AOP_WORKSPACE")
    platform.out.tell(found, f"commands now work in the Workspace {workspace_id} ({destination.source})")
