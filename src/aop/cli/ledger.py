"""`aop ledger check`: re-reads a range of the Ledger and reports every broken invariant."""

import asyncio
import json
import sys
from contextlib import aclosing
from datetime import datetime
from typing import Annotated

import typer

from aop.base.clock import from_text
from aop.base.database import StoreUnavailable, connect
from aop.cli.router_store import Data, router_database
from aop.ledger.check import Breach, LedgerCheck, Span

ledger_app = typer.Typer(no_args_is_help=True, help="The Ledger: check that every invariant holds.")
_SHOWN = 100


@ledger_app.callback()
def root() -> None:
    """The Ledger: check that every invariant holds."""


@ledger_app.command("check")
def check(
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only what was created at or after it (RFC 3339).")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only what was created before it.")] = None,
    data: Data = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, the last one a summary.")] = False,
) -> None:
    """Re-read the Ledger, or a range of it, and report every broken invariant. Exit code 1 when there is one.

    Example: aop ledger check --since 2026-03-01T00:00:00Z --data .aop
    """
    span = Span(_moment(since, "--since"), _moment(until, "--until"))
    url = router_database("aop ledger", data)
    try:
        reading, broken = asyncio.run(_read(url, span, as_json))
    except StoreUnavailable as failure:
        typer.echo(f"aop ledger: the database cannot be reached or refused ({failure})", err=True)
        raise typer.Exit(1) from None
    if as_json:
        counts = {"checked": reading.checked, "events": reading.events, "open": reading.open, "broken": broken}
        typer.echo(json.dumps(counts))
    else:
        typer.echo(
            f"{reading.checked} Invocations with {reading.events} events, {reading.open} of them open: "
            + (f"{broken} broken invariants" if broken else "every invariant holds")
        )
    raise typer.Exit(1 if broken else 0)


async def _read(url: str, span: Span, as_json: bool) -> tuple[LedgerCheck, int]:
    connection = await connect(url, application="aop ledger check")
    try:
        reading, broken = LedgerCheck(connection, span), 0
        async with aclosing(reading.breaches()) as breaches:
            async for breach in breaches:
                broken += 1
                _show(breach, broken, as_json)
        return reading, broken
    finally:
        connection.terminate()


def _show(breach: Breach, number: int, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"about": breach.about, "problem": breach.problem}))
    elif number <= _SHOWN:
        typer.echo(f"{breach.about}: {breach.problem}")
    elif number == _SHOWN + 1:
        typer.echo("… and more; --json shows all", file=sys.stdout)


def _moment(text: str | None, option: str) -> datetime | None:
    try:
        return None if text is None else from_text(text)
    except ValueError:
        raise typer.BadParameter("must be like 2026-03-01T09:30:00Z", param_hint=option) from None
