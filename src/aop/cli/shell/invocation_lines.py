"""How commands say the end of an Invocation, its length, and what to do about a failure."""

from collections.abc import Iterable

from aop.cli.shell.output import STATUS_STYLES, Cell, Line, styled
from aop.contracts.lineage import InvocationRecord, InvocationStatus
from aop.contracts.recovery import recovery_of


def explained(records: Iterable[InvocationRecord]) -> list[Line]:
    """What each kind of failure means and what to do about it, once each."""
    kinds = dict.fromkeys((record.error_code, record.reason or None) for record in records)
    lines: list[Line] = []
    for code, reason in kinds:
        if code:
            recovery = recovery_of(code, reason)
            lines += ["", styled((code, "bold"))]
            if reason is not None:
                lines.append(styled(("  reason      ", "bold"), f"{reason}: {recovery.sentence}"))
            lines.append(styled(("  what to do  ", "bold"), recovery.action))
    return lines


def milliseconds(amount: float) -> str:
    return f"{amount / 1000:.2f} s" if amount >= 10_000 else f"{amount:.0f} ms"


def state_of(record: InvocationRecord) -> Cell:
    """A failure with its code and reason; the other ends have one code each, which says no more than they do."""
    failed = record.status is InvocationStatus.FAILED
    said = " ".join((record.status, *(why for why in (record.error_code, record.reason) if failed and why)))
    return styled((said, STATUS_STYLES.get(record.status, "")))
