"""`aop bundle` and `aop verify`: what others need to check an Invocation, and the check itself, offline."""

import json
from pathlib import Path
from typing import Any

import click
import msgspec
from click.exceptions import Exit

from aop.cli.output import Output
from aop.cli.platform import InWorkspace
from aop.cli.problems import EXIT_REFUSED, CommandProblem, UsageProblem
from aop.cli.verify_bundle import FAULTS, head_of, verify


@click.argument("which", metavar="ID", help="An inv_… id, or a Trace id.")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="The file; stdout if left out.")
async def bundle(platform: InWorkspace, which: str, output: Path | None) -> None:
    """The events with their proofs, what permitted each call, and the Cards. No input or output is in it.

    Example: aop bundle inv_0190f5c2a7de7c4b8f1e2d3c4b5a6978 -o bundle.json
    """
    read = platform.client.read_invocation_bundle if which.startswith("inv_") else platform.client.read_trace_bundle
    found = await read(platform.workspace_id, which)
    if output is None:
        platform.out.document(found)
        return
    _write(output, msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
    head = f"{found.head.size}:{found.head.root}"
    platform.out.tell(
        {"file": str(output), "head": head},
        f"{output} has {len(found.invocations)} Invocation(s) under the head {head}",
        f"check it with: aop verify {output}",
    )


@click.argument(
    "bundle", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Of aop bundle."
)
@click.option("--head", metavar="SIZE:ROOT", help="A head that you kept.")
@click.option(
    "--consistency",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The proof that connects your head with that of the bundle (aop ledger consistency --json).",
)
def check(out: Output, bundle: Path, head: str | None, consistency: Path | None) -> None:
    """Offline, with nothing but the file. Exit code 1 when anything in it was changed.

    Example: aop verify bundle.json
    """
    try:
        kept = None if head is None else head_of(head)
    except ValueError:
        raise UsageProblem("--head is SIZE:ROOT") from None
    try:
        said = verify(_read(bundle), kept, None if consistency is None else _read(consistency))
    except FAULTS as wrong:
        out.tell({"valid": False, "problem": str(wrong)}, f"WRONG: {wrong}")
        raise Exit(EXIT_REFUSED) from None
    out.tell({"valid": True, "checked": said}, *said)


def _write(path: Path, raw: bytes) -> None:
    try:
        path.write_bytes(raw)
    except OSError as failure:
        raise CommandProblem(f"{path} cannot be written: {failure.strerror}") from None


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        raise CommandProblem(f"{path} cannot be read as JSON") from None
