"""The filters of `aop invocations` and `aop traces`, as options and as arguments of the client."""

from typing import Any

import click

from aop.base.clock import from_text
from aop.cli.shell.options import Function
from aop.cli.shell.problems import UsageProblem
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import RECORDED_CODES, InvocationOrder, InvocationStatus

_OPTIONS = (
    click.option(
        "--status", type=click.Choice([one.value for one in InvocationStatus]), help="Only those in this state."
    ),
    click.option("--agent", metavar="ID", help="Only of this Agent."),
    click.option("--capability", "-c", metavar="SKILL", help="Only of this Skill."),
    click.option(
        "--caller", metavar="PRINCIPAL", help="Only calls of this principal; leaves out calls that Agents made."
    ),
    click.option("--trace", metavar="ID", help="Only of this Trace."),
    click.option("--error", metavar="CODE", help="Only those that ended with this error code."),
    click.option("--reason", metavar="WORD", help="Only those that ended with this reason."),
    click.option("--since", metavar="TIME", help="Created at or after it (RFC 3339)."),
    click.option("--until", metavar="TIME", help="Created before it."),
    click.option("--slowest", is_flag=True, help="Those that ended, the slowest first; not the newest first."),
)


def filtered(command: Function) -> Function:
    """Adds the filters to a command, which gets them as `**filters`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def arguments_of(filters: dict[str, Any]) -> dict[str, Any]:
    """What the client takes; UsageProblem for a value that no Gateway takes."""
    status = filters["status"]
    return {
        "status": None if status is None else InvocationStatus(status),
        "agent_id": filters["agent"],
        "capability": filters["capability"],
        "caller_id": filters["caller"],
        "trace_id": filters["trace"],
        "error_code": _code(filters["error"]),
        "reason": _reason(filters["reason"]),
        "since": moment_of(filters["since"], "--since"),
        "until": moment_of(filters["until"], "--until"),
        "order": InvocationOrder.SLOWEST if filters["slowest"] else None,
    }


def _code(text: str | None) -> ErrorCode | None:
    if text is not None and text not in RECORDED_CODES:
        raise UsageProblem(f"--error must be one of {', '.join(sorted(RECORDED_CODES))}")
    return None if text is None else ErrorCode(text)


def _reason(text: str | None) -> Reason | None:
    try:
        return None if text is None else Reason(text)
    except ValueError:
        raise UsageProblem("--reason must be a word like connect_failed; --status failed shows them") from None


def moment_of(text: str | None, option: str) -> str | None:
    """The time as it was given; UsageProblem for what is none."""
    try:
        if text is not None:
            from_text(text)
    except ValueError:
        raise UsageProblem(f"{option} must be like 2026-03-01T09:30:00Z") from None
    return text
