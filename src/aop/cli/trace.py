"""`aop trace`: the lineage of a call, as a tree with times."""

import click

from aop.base.clock import utc_now
from aop.cli.lineage import drawn
from aop.cli.platform import InWorkspace
from aop.cli.problems import CommandProblem, UsageProblem


@click.argument("which", metavar="[ID]", required=False, help="A Trace id, or an inv_… id.")
@click.option("--last", is_flag=True, help="The Trace of the newest Invocation.")
async def trace(platform: InWorkspace, which: str | None, last: bool) -> None:
    """One line per Invocation, children under their parents, and a bar for when it ran. No input or output is kept.

    Example: aop trace --last
    Example: aop trace 4bf92f3577b34da6a3ce929d0e0e4736
    """
    if (which is None) is not last:
        raise UsageProblem("name one Trace: an ID, or --last")
    await show_trace(platform, await _trace_id(platform, which))


async def show_trace(platform: InWorkspace, trace_id: str) -> None:
    found = await platform.client.read_trace(platform.workspace_id, trace_id)
    platform.out.tell(found, *drawn(found, platform.out.width, utc_now()))


async def _trace_id(platform: InWorkspace, which: str | None) -> str:
    if which is None:
        async for record in platform.client.list_invocations(platform.workspace_id):
            return record.trace_id
        raise CommandProblem(
            f"nothing was invoked in the Workspace {platform.workspace_id} yet", recovery="aop invoke …"
        )
    if which.startswith("inv_"):
        return (await platform.client.read_invocation(platform.workspace_id, which)).invocation.trace_id
    return which
