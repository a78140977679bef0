"""`aop workspace callers`: with whom a Workspace is shared."""

import click
import msgspec

from aop.cli.shell import options
from aop.cli.shell.output import Cell, moment
from aop.cli.shell.platform import InWorkspace
from aop.contracts.workspace import WorkspaceCaller

_principal = click.argument("principal", metavar="PRINCIPAL", help="The principal id of an access token or a sign-in.")


@_principal
async def add(platform: InWorkspace, principal: str) -> None:
    """It may then read the Workspace, its Installations and all its Invocations, and invoke. You stay the owner.

    The principal id is not looked up: check the spelling. Adding it again changes nothing.

    Example: aop workspace callers add bob
    Example: aop workspace callers add team-data --workspace research
    """
    added = await platform.client.add_caller(platform.workspace_id, principal)
    platform.out.tell(added, f"{added.principal_id} may call in the Workspace {added.workspace_id}")


@_principal
async def remove(platform: InWorkspace, principal: str) -> None:
    """No call of it that begins from now on is accepted. Calls that run go on, and the record stays.

    Example: aop workspace callers remove bob
    """
    ended = await platform.client.remove_caller(platform.workspace_id, principal)
    platform.out.tell(ended, f"{ended.principal_id} may no longer call in the Workspace {ended.workspace_id}")


@click.option("--all", "history", is_flag=True, help="Include former callers.")
@options.limit(100)
async def list_callers(platform: InWorkspace, history: bool, limit: int) -> None:
    """The owner sees all of them. A caller sees only itself.

    Example: aop workspace callers list --all
    """
    listing = platform.client.list_callers(platform.workspace_id)
    listed = (one async for one in listing if history or one.removed_at is msgspec.UNSET)
    nothing = f"{platform.workspace_id} has no callers"
    await platform.tell_list(listed, limit, _row, ["caller", "added", "by", "removed"], nothing=nothing)


def _row(one: WorkspaceCaller) -> tuple[Cell, ...]:
    return one.principal_id, moment(one.added_at), one.added_by, moment(one.removed_at) if one.removed_at else ""
