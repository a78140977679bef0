"""`aop traces`: one line for each Trace of a Workspace."""

from typing import Any

from aop.cli.shell import options
from aop.cli.shell.invocation_lines import milliseconds, state_of
from aop.cli.shell.lineage_filters import arguments_of, filtered
from aop.cli.shell.output import Cell, moment
from aop.cli.shell.platform import InWorkspace
from aop.contracts.lineage import TraceItem

_HEADINGS = ["created", "status", "time", "calls", "failed", "agent", "capability", "trace"]


@filtered
@options.limit(20)
async def traces(platform: InWorkspace, limit: int, **filters: Any) -> None:
    """Newest first. Each line shows the Invocation that began the Trace, how long the Trace took, how many calls it
    made and how many of them failed. The filters are about the Invocation that began it.

    Example: aop traces --since 2026-03-01T00:00:00Z
    Example: aop traces --slowest --limit 5
    """
    listing = platform.client.list_traces(platform.workspace_id, **arguments_of(filters))
    await platform.tell_list(listing, limit, _row, _HEADINGS, nothing="nothing was invoked", waiting="reading")


def _row(item: TraceItem) -> tuple[Cell, ...]:
    root = item.root
    return (
        moment(root.created_at),
        state_of(root),
        milliseconds(item.duration_ms),
        str(item.invocations),
        str(item.failures or ""),
        root.target_agent_id,
        root.capability,
        item.trace_id,
    )
