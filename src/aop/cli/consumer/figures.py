"""`aop figures`: how many Invocations a Workspace had, how they ended and how long they took."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import click
import msgspec

from aop.base.clock import to_text, utc_now
from aop.cli.shell.invocation_lines import milliseconds
from aop.cli.shell.lineage_filters import moment_of
from aop.cli.shell.output import Cell, Line, facts, moment, styled, table
from aop.cli.shell.platform import InWorkspace
from aop.cli.shell.problems import UsageProblem
from aop.contracts.figures import MINUTE, CallCounts, Figures, Latency

_NONE: Final = "nothing was invoked"
_PRESETS: Final = {"15m": (15, 1), "1h": (60, 5), "24h": (1440, 60), "7d": (10_080, 720)}
"""Minutes of the window and of a step."""


@click.option("--last", type=click.Choice(list(_PRESETS)), help="The window that ends with this minute.")
@click.option("--since", metavar="TIME", help="Created at or after this whole minute (RFC 3339).")
@click.option("--until", metavar="TIME", help="Created before this whole minute.")
@click.option("--step", type=int, metavar="SECONDS", help="Count in steps of so many seconds, a multiple of 60.")
async def figures(
    platform: InWorkspace, last: str | None, since: str | None, until: str | None, step: int | None
) -> None:
    """The last hour by default. A call counts for the step in which it was created. Percentiles are within 2 %.

    Example: aop figures --last 24h
    Example: aop figures --since 2026-03-01T09:00:00Z --until 2026-03-01T12:00:00Z --step 600
    """
    if last is not None:
        if since is not None or until is not None:
            raise UsageProblem("--last names the whole window; leave out --since and --until")
        minutes, minutes_of_step = _PRESETS[last]
        end = utc_now().replace(second=0, microsecond=0) + timedelta(minutes=1)
        since, until = to_text(end - timedelta(minutes=minutes)), to_text(end)
        step = step or minutes_of_step * MINUTE
    for text, option in ((since, "--since"), (until, "--until")):
        moment_of(text, option)
    found = await platform.waiting(
        "counting", platform.client.read_figures(platform.workspace_id, since=since, until=until, step=step)
    )
    platform.out.tell(found, *_lines(found))


def _lines(found: Figures) -> list[Line]:
    total = found.total
    window = f"{moment(found.since)} to {moment(found.until)}"
    if not total.counts.calls:
        return [styled((window, "dim")), _NONE]
    lines = facts(("window", window), ("calls", str(total.counts.calls)), *_outcomes(total.counts))
    if isinstance(total.latency, Latency):
        latency = total.latency
        times = (("p50", latency.p50), ("p90", latency.p90), ("p99", latency.p99), ("max", latency.max))
        lines += facts(*((name, milliseconds(value)) for name, value in times))
    agents = [(each.agent_id, *_numbers(each.counts)) for each in total.agents]
    if isinstance(total.other_agents, CallCounts):
        agents.append((f"{found.left_out.agents} others", *_numbers(total.other_agents)))
    lines += ["", *table(["agent", "calls", "running", "failed"], agents)]
    if total.errors:
        lines += ["", *table(["code", "reason", "calls"], _failures(found))]
    return [*lines, "", *table(["from", "calls", "running", "failed", "p50", "p99"], _steps(found))]


def _outcomes(counts: CallCounts) -> list[tuple[str, Cell | None]]:
    outcomes = msgspec.structs.asdict(counts)
    return [(name.replace("_", " "), str(calls)) for name, calls in outcomes.items() if calls and name != "calls"]


def _numbers(counts: CallCounts) -> tuple[str, ...]:
    """For the caller everything that ended without a result failed."""
    return str(counts.calls), str(counts.running), str(counts.failed + counts.timed_out)


def _failures(found: Figures) -> Sequence[Sequence[Cell]]:
    rows: list[Sequence[Cell]] = []
    for each in found.total.errors:
        unsaid = each.calls - sum(one.calls for one in each.reasons)
        rows += [(each.code, one.reason, str(one.calls)) for one in each.reasons]
        rows += [(each.code, "", str(unsaid))] if unsaid else []
    return rows


def _steps(found: Figures) -> Sequence[Sequence[Cell]]:
    """Only steps with calls."""
    rows: list[Sequence[Cell]] = []
    for each in found.buckets:
        if each.counts.calls:
            ends = (each.latency.p50, each.latency.p99) if isinstance(each.latency, Latency) else ()
            times = [milliseconds(value) for value in ends] or ["", ""]
            rows.append((moment(each.start), *_numbers(each.counts), *times))
    return rows
