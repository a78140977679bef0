"""`aop invocations`: what was invoked in a Workspace, or one Invocation with its events."""

from typing import Any

import click

from aop.base.clock import from_text
from aop.cli.shell import options
from aop.cli.shell.invocation_lines import explained, milliseconds, state_of
from aop.cli.shell.lineage_filters import arguments_of, filtered
from aop.cli.shell.output import Cell, Line, facts, moment, status, table
from aop.cli.shell.platform import InWorkspace
from aop.contracts.lineage import InvocationDetail, InvocationEvent, InvocationRecord

_HEADINGS = ["created", "status", "time", "agent", "capability", "invocation"]


@click.argument("invocation", metavar="[ID]", required=False, help="Show this inv_… with its events.")
@click.option("--root", is_flag=True, help="Only those that began a Trace; leaves out calls that Agents made.")
@filtered
@options.limit(20)
async def invocations(platform: InWorkspace, invocation: str | None, root: bool, limit: int, **filters: Any) -> None:
    """Newest first, including calls that Agents made. Records hold no inputs or results.

    Example: aop invocations --status failed --since 2026-03-01T00:00:00Z
    Example: aop invocations --root --slowest --limit 5
    Example: aop invocations inv_0192f0c0c0de7000a000000000000001
    """
    if invocation is not None:
        detail = await platform.client.read_invocation(platform.workspace_id, invocation)
        platform.out.tell(detail, *_detail_lines(detail))
        return
    listing = platform.client.list_invocations(
        platform.workspace_id, root=True if root else None, **arguments_of(filters)
    )
    await platform.tell_list(listing, limit, _row, _HEADINGS, nothing="nothing was invoked", waiting="reading")


def _row(record: InvocationRecord) -> tuple[Cell, ...]:
    return (
        moment(record.created_at),
        state_of(record),
        _latency(record),
        record.target_agent_id,
        record.capability,
        record.invocation_id,
    )


def _latency(record: InvocationRecord) -> str:
    return milliseconds(record.latency_ms) if isinstance(record.latency_ms, int) else ""


def _detail_lines(detail: InvocationDetail) -> list[Line]:
    record = detail.invocation
    began = from_text(detail.events[0].occurred_at)

    def after(event: InvocationEvent) -> str:
        return f"+{milliseconds((from_text(event.occurred_at) - began).total_seconds() * 1000)}"

    return [
        *facts(
            ("invocation", record.invocation_id),
            ("agent", f"{record.target_agent_id} {record.agent_card_version}"),
            ("capability", record.capability),
            ("status", status(record.status)),
            ("error", record.error_code or None),
            ("reason", record.reason or None),
            ("time", _latency(record)),
            ("caller", f"{record.caller.type} {record.caller.id}"),
            ("parent", record.parent_invocation_id or None),
            ("root task", record.root_task_id),
            ("trace", record.trace_id),
            ("release", record.agent_release_id),
            ("card digest", record.agent_card_digest),
            ("deadline", record.deadline_at),
        ),
        "",
        *table(
            ["event", "at", "after", "chunks"],
            [(status(event.type), event.occurred_at, after(event), _chunks(event)) for event in detail.events],
        ),
        *explained([record]),
    ]


def _chunks(event: InvocationEvent) -> str:
    return f"{event.chunk_count} with {event.chunk_bytes} bytes" if isinstance(event.chunk_count, int) else ""
