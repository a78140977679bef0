"""`aop trace`: who called whom, drawn as a tree with times on one axis."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import click

from aop.base.clock import from_text, utc_now
from aop.cli.shell.invocation_lines import explained, milliseconds, state_of
from aop.cli.shell.output import STATUS_STYLES, Line, styled, text_of
from aop.cli.shell.platform import InWorkspace
from aop.cli.shell.problems import CommandProblem, UsageProblem
from aop.contracts.lineage import TERMINAL_STATUSES, InvocationRecord, Trace

_NARROWEST_BAR, _WIDEST_BAR = 10, 60
_BLOCK, _TICK = "█", "▏"


@dataclass(frozen=True)
class _Row:
    branches: str
    record: InvocationRecord
    start: float
    """Milliseconds after the beginning of the Trace."""
    length: float


@click.argument("which", metavar="[ID]", required=False, help="A Trace id, or an inv_… id.")
@click.option("--last", is_flag=True, help="The Trace of the newest Invocation.")
async def trace(platform: InWorkspace, which: str | None, last: bool) -> None:
    """One line per Invocation, children under their parents, and a bar for when it ran. No input or output is stored.

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


def drawn(trace: Trace, width: int, now: datetime) -> list[Line]:
    """One line per Invocation, parents before children; what still runs reaches to this moment. Then every failure."""
    rows = list(_rows(trace.invocations, now))
    whole = max(row.start + row.length for row in rows)
    names = [text_of(f"{row.branches}{row.record.target_agent_id} {row.record.capability}") for row in rows]
    states = [state_of(row.record) for row in rows]
    name_width, state_width = max(name.cell_len for name in names), max(map(len, states))
    room = width - name_width - state_width - len("  00000.0 ms    ")
    bar = max(_NARROWEST_BAR, min(_WIDEST_BAR, room))
    counted = f"{len(rows)} Invocation{'s' if len(rows) > 1 else ''}"
    lines: list[Line] = [styled(("trace ", "dim"), (trace.trace_id, "bold"), f"  {counted}, {milliseconds(whole)}")]
    for row, name, state in zip(rows, names, states, strict=True):
        style = STATUS_STYLES.get(row.record.status, "")
        lines.append(
            styled(
                name,
                " " * (name_width - name.cell_len + 2),
                state,
                " " * (state_width - len(state)),
                f"  {milliseconds(row.length):>10}  ",
                (_bar(row, whole, bar), style),
            )
        )
    return [*lines, *explained(trace.invocations)]


def _rows(records: Sequence[InvocationRecord], now: datetime) -> Iterator[_Row]:
    children: dict[str | None, list[InvocationRecord]] = {}
    for record in records:
        children.setdefault(record.parent_invocation_id or None, []).append(record)
    begin = min(from_text(record.created_at) for record in records)

    def subtree(parent: str | None, before: str) -> Iterator[_Row]:
        siblings = children.get(parent, [])
        for place, record in enumerate(siblings):
            last = place == len(siblings) - 1
            own, after = ("└─ ", "   ") if last else ("├─ ", "│  ")
            if parent is None:
                own = after = ""
            created = from_text(record.created_at)
            yield _Row(before + own, record, _between(begin, created), _length(record, created, now))
            yield from subtree(record.invocation_id, before + after)

    yield from subtree(None, "")


def _length(record: InvocationRecord, created: datetime, now: datetime) -> float:
    if isinstance(record.latency_ms, int):
        return record.latency_ms
    ended = from_text(record.updated_at) if record.status in TERMINAL_STATUSES else now
    return max(0.0, _between(created, ended))


def _between(earlier: datetime, later: datetime) -> float:
    return (later - earlier).total_seconds() * 1000


def _bar(row: _Row, whole: float, width: int) -> str:
    scale = width / whole if whole else 0.0
    start = min(width - 1, int(row.start * scale))
    length = min(width - start, round(row.length * scale))
    return " " * start + (_BLOCK * length or _TICK)
