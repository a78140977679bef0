"""`aop bundle` and `aop verify`: what others need to check an Invocation, and the check itself, offline."""

from pathlib import Path
from typing import Any

import click
import msgspec
from click.exceptions import Exit

from aop.cli.shell import options
from aop.cli.shell.output import Output
from aop.cli.shell.platform import InWorkspace
from aop.cli.shell.problems import EXIT_REFUSED, CommandProblem, UsageProblem, file_problems
from aop.cli.shell.verify_bundle import FAULTS, Wrong, head_of, read, verify
from aop.client.bundles import whole_bundle
from aop.client.errors import PlatformError
from aop.contracts.errors import ErrorCode
from aop.contracts.ledger_tree import LedgerBundle
from aop.contracts.signed_note import NoteKey, NoteRefused, TreeCheckpoint, text_signed_by


@click.argument("which", metavar="ID", help="An inv_… id, or a Trace id.")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="The file; stdout if left out.")
async def bundle(platform: InWorkspace, which: str, output: Path | None) -> None:
    """The events with their proofs, what permitted each call, and the Cards. No input or output is in it.

    Example: aop bundle inv_0190f5c2a7de7c4b8f1e2d3c4b5a6978 -o bundle.json
    """
    found = await _bundle(platform, which)
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


async def _bundle(platform: InWorkspace, which: str) -> LedgerBundle:
    """In several requests if it is too large for one answer."""
    client, is_invocation = platform.client, which.startswith("inv_")
    try:
        read_whole = client.read_invocation_bundle if is_invocation else client.read_trace_bundle
        return await read_whole(platform.workspace_id, which)
    except PlatformError as refused:
        if refused.code is not ErrorCode.PAYLOAD_TOO_LARGE:
            raise
    read_pages = client.read_invocation_bundle_pages if is_invocation else client.read_trace_bundle_pages
    return whole_bundle(which, await read_pages(platform.workspace_id, which))


@click.argument("bundle", metavar="FILE", type=options.FILE, help="Of aop bundle.")
@click.option("--head", metavar="SIZE:ROOT", help="A head from the platform's own address or from someone you trust.")
@click.option(
    "--consistency",
    metavar="FILE",
    type=options.FILE,
    help="The proof that connects this head with that of the bundle (aop ledger consistency --json).",
)
@click.option("--checkpoint", metavar="FILE", type=options.FILE, help="Instead of --head: one that a watcher signed.")
@click.option("--watcher", metavar="KEY", help="The public key of this watcher, as NAME+ID+KEY.")
def check(
    out: Output,
    bundle: Path,
    head: str | None,
    consistency: Path | None,
    checkpoint: Path | None,
    watcher: str | None,
) -> None:
    """Offline, with nothing but the files. Exit code 1 when anything in them was changed. Without --head or
    --checkpoint it only checks that the parts of the bundle agree, which anyone can arrange.

    Example: aop verify bundle.json
    Example: aop verify bundle.json --checkpoint checkpoint-1200 --watcher watch.example.com+a5e1d8f3+AZ…
    """
    if (checkpoint is None) != (watcher is None) or (checkpoint is not None and head is not None):
        raise UsageProblem("name a head with --head, or with --checkpoint and --watcher")
    try:
        trusted, signed = _named_head(head), []
        if checkpoint is not None and watcher is not None:
            found = _signed_head(checkpoint, watcher)
            trusted = found.size, found.root.hex()
            signed = [f"the head of {found.size} events is signed by {watcher} for {found.origin}"]
        said = [*verify(_read(bundle), trusted, None if consistency is None else _read(consistency)), *signed]
    except FAULTS as wrong:
        out.tell({"valid": False, "problem": str(wrong)}, f"WRONG: {wrong}")
        raise Exit(EXIT_REFUSED) from None
    out.tell({"valid": True, "checked": said}, *said)


def _named_head(text: str | None) -> tuple[int, str] | None:
    try:
        return None if text is None else head_of(text)
    except ValueError:
        raise UsageProblem("--head is SIZE:ROOT") from None


def _signed_head(path: Path, watcher: str) -> TreeCheckpoint:
    try:
        key = NoteKey.parse(watcher)
    except NoteRefused as wrong:
        raise UsageProblem(f"--watcher: {wrong}") from None
    return TreeCheckpoint.parse(text_signed_by(key, path.read_bytes()))


def _write(path: Path, raw: bytes) -> None:
    with file_problems(path, "written"):
        path.write_bytes(raw)


def _read(path: Path) -> Any:
    try:
        return read(path.read_bytes())
    except Wrong:
        raise
    except (OSError, ValueError):
        raise CommandProblem(f"{path} cannot be read as JSON") from None
