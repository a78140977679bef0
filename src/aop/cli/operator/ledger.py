"""`aop ledger check`: reads a range of the Ledger and reports every broken invariant."""

import gc
import time
from contextlib import aclosing
from datetime import datetime
from pathlib import Path

import click
from click.exceptions import Exit

from aop.base.clock import from_text
from aop.cli.shell.output import Output
from aop.cli.shell.problems import EXIT_REFUSED
from aop.cli.shell.store_session import store_session
from aop.cli.shell.stores import router_data, router_database
from aop.ledger.check.ledger_check import LedgerCheck
from aop.ledger.check.span import Span
from aop.ledger.check.tree import Breach

_MAX_LINES = 100
_TOLD_SECONDS = 10.0
# Rows of a batch are no garbage: to look through them again and again took a tenth of the time.
_ROWS_BEFORE_GARBAGE = 100_000


@click.option("--since", metavar="TIME", help="Only what was created at or after it (RFC 3339).")
@click.option("--until", metavar="TIME", help="Only what was created before it.")
@router_data
async def check(out: Output, since: str | None, until: str | None, data: Path | None) -> None:
    """Exit code 1 when an invariant is broken, or when less was read than was asked for. The last line says how much
    was read. With --json each broken invariant is a line. A check that takes long says every ten seconds how far it is.
    Events that belong to no Invocation are looked for in all months that --since and --until touch.

    Example: aop ledger check --since 2026-03-01T00:00:00Z --data .aop
    """
    span = Span(_moment(since, "--since"), _moment(until, "--until"))
    async with store_session(router_database(data), "aop ledger check", writable=False) as connection:
        gc.set_threshold(_ROWS_BEFORE_GARBAGE)
        reading, broken = LedgerCheck(connection, span, _Progress(out).tell), 0
        async with aclosing(reading.breaches()) as breaches:
            async for breach in breaches:
                broken += 1
                _show(breach, broken, out)
    for sentence in reading.left_out:
        out.document({"leftOut": sentence}) if out.json else out.show(sentence)
    out.tell({**_counts(reading), "broken": broken}, f"{_looked_at(reading)}: {_outcome(reading, broken)}")
    if broken or reading.left_out:
        raise Exit(EXIT_REFUSED)


def _counts(reading: LedgerCheck) -> dict[str, int]:
    return {
        "invocations": reading.invocations,
        "checked": reading.checked,
        "events": reading.events,
        "open": reading.open,
        "unnumbered": reading.unnumbered,
        "numbers": reading.numbers,
        "inTree": reading.in_tree,
        "heads": reading.heads,
        "checkpoints": reading.checkpoints,
    }


def _looked_at(reading: LedgerCheck) -> str:
    unnumbered = f", and {reading.unnumbered} events have no number yet" if reading.unnumbered else ""
    return (
        f"{reading.checked} Invocations with {reading.events} events, {reading.open} of them open; {reading.numbers}"
        f" numbers, {reading.in_tree} of them in the tree{unnumbered}; {reading.heads} heads and {reading.checkpoints}"
        " checkpoints"
    )


def _outcome(reading: LedgerCheck, broken: int) -> str:
    if broken:
        return f"{broken} broken invariants"
    if reading.left_out:
        return "no broken invariant in what was read, which is not all"
    return "every invariant holds" if reading.checked else "there is no Invocation to check"


class _Progress:
    def __init__(self, out: Output) -> None:
        self._out = out
        self._told_at = time.monotonic()

    def tell(self, line: str) -> None:
        if time.monotonic() - self._told_at >= _TOLD_SECONDS:
            self._told_at = time.monotonic()
            self._out.note(f"checked so far: {line}")


def _show(breach: Breach, number: int, out: Output) -> None:
    if out.json:
        out.document({"about": breach.about, "problem": breach.problem})
    elif number <= _MAX_LINES:
        out.show(f"{breach.about}: {breach.problem}")
    elif number == _MAX_LINES + 1:
        out.show("… and more; --json shows all")


def _moment(text: str | None, option: str) -> datetime | None:
    try:
        return None if text is None else from_text(text)
    except ValueError:
        raise click.BadParameter("must be like 2026-03-01T09:30:00Z", param_hint=option) from None
