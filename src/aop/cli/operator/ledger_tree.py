"""`aop ledger head|consistency|prove|watch`: the tree over the Ledger, by which others can check it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from click.exceptions import Exit

from aop.base.clock import now_text
from aop.base.durable_files import sync_folder
from aop.cli.operator.ledger_checkpoints import CheckpointFolder
from aop.cli.shell import options
from aop.cli.shell.output import Output
from aop.cli.shell.problems import EXIT_REFUSED, CommandProblem, UsageProblem, file_problems
from aop.cli.shell.store_session import one_state, store_problems
from aop.cli.shell.stores import router_data, router_database
from aop.cli.shell.verify_bundle import head_of
from aop.contracts.ledger_tree import LedgerHead
from aop.ledger.check.comparison import HistoryChanged, compared, continued
from aop.ledger.months import Archived
from aop.ledger.tree.reader import NotInTree, TooManyLeaves, TreeReader, head_document
from aop.ledger.tree.store import HeadRow, TreeBroken, newest_head
from aop.store.database import Database, translated_failures

_APPLICATION = "aop ledger"


@router_data
async def head(out: Output, data: Path | None) -> None:
    """How many events the tree has, and the root over them. Keep it where the operator of the database cannot write.

    Example: aop ledger head --data .aop
    """
    async with one_state(router_database(data), _APPLICATION) as connection:
        found = await newest_head(connection)
    if found is None:
        raise CommandProblem("the Ledger has no head yet", recovery="invoke something, and wait some seconds")
    out.tell(head_document(found), _text(found))


@click.argument("old", metavar="OLD", help="A head that was kept, as SIZE:ROOT.")
@click.argument("new", metavar="[NEW]", required=False, help="A later one; the newest if left out.")
@router_data
async def consistency(out: Output, old: str, new: str | None, data: Path | None) -> None:
    """Makes the tree again from the rows of the Ledger. Exit code 1 if anything before a head was changed. With --json
    the proof that connects both heads.

    Example: aop ledger consistency 1200:$ROOT --data .aop
    """
    older, newer = _head(old), None if new is None else _head(new)
    with _history(out):
        async with one_state(router_database(data), _APPLICATION) as connection:
            found = await compared(connection, older, newer)
    out.tell(found, f"{_of(found.new)} continues {_of(found.old)}, and the rows of the Ledger are those of the tree")


@click.argument("invocation", metavar="ID", help="An inv_… id.")
@router_data
async def prove(out: Output, invocation: str, data: Path | None) -> None:
    """The events of an ended Invocation, each with its way to the root of the newest head, as JSON.

    Example: aop ledger prove inv_0190f5c2a7de7c4b8f1e2d3c4b5a6978 --data .aop
    """
    url = router_database(data)
    try:
        with _history(out), store_problems():
            database = await Database.open(url, size=1, application="aop ledger prove")
            try:
                async with translated_failures():
                    found = await TreeReader(database).of_invocation(None, invocation)
            finally:
                await database.close()
    except NotInTree as early:
        raise CommandProblem(f"not in the tree yet: {early}", recovery="ask again after a short time") from None
    except Archived:
        raise CommandProblem("the Invocation was archived", recovery="look for it in the file of its month") from None
    except TooManyLeaves:
        raise CommandProblem("the Invocation has too many events for one proof") from None
    if found is None:
        raise CommandProblem("there is no such Invocation")
    out.document(found)


@click.argument(
    "file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="The heads, one for each line."
)
@click.option("--rows", is_flag=True, help="Make the tree again from all events, not only from its stored hashes.")
@click.option("--key", metavar="FILE", type=options.FILE, help="Sign each head with this key (aop ledger watch-key).")
@click.option("--gateway", metavar="URL", help="The Gateway's address: its host names the Ledger in the checkpoints.")
@click.option(
    "--checkpoints", metavar="DIR", type=options.FOLDER, help="Where the signed heads are written, one file each."
)
@router_data
async def watch(
    out: Output,
    file: Path,
    rows: bool,
    key: Path | None,
    gateway: str | None,
    checkpoints: Path | None,
    data: Path | None,
) -> None:
    """Compares the tree with the last head in FILE, then adds the newest head to it. Run it from time to time, on a
    machine where the operator of the database cannot write. Exit code 1 if history was changed.

    With a key it also compares with the newest checkpoint in DIR, and writes each head that it adds there, signed
    (c2sp.org/tlog-checkpoint). After a change of history nothing is written or signed.

    Example: aop ledger watch heads.txt --data .aop
    Example: aop ledger watch heads.txt --key watcher.key --gateway https://gateway.example.com --checkpoints signed
    """
    kept, signing = _last(file), CheckpointFolder.named(key, gateway, checkpoints)
    signed = None if signing is None else signing.newest()
    earlier = [head for head in (kept, signed) if head is not None]
    with _history(out):
        async with one_state(router_database(data), _APPLICATION) as connection:
            found = await continued(connection, earlier, from_rows=rows)
    if found is None:
        raise CommandProblem("the Ledger has no head yet", recovery="invoke something, and wait some seconds")
    checkpoint = None if signing is None else str(signing.add(found))
    if kept is None or kept.size != found.size:
        _append(file, f"{now_text()} {_text(found)}\n")
    said = "the first head is kept" if kept is None else f"{_text(found)} continues the head of {kept.size} events"
    document = {"head": head_document(found), "kept": None if kept is None else head_document(kept)}
    out.tell(
        document if checkpoint is None else {**document, "checkpoint": checkpoint},
        said,
        *([] if checkpoint is None else [f"signed in {checkpoint}"]),
    )


def _append(file: Path, line: str) -> None:
    with file_problems(file, "written"):
        with file.open("a", encoding="ascii") as heads:
            heads.write(line)
            heads.flush()
            os.fsync(heads.fileno())
        sync_folder(file.parent)


def _last(file: Path) -> HeadRow | None:
    lines = file.read_text("ascii").splitlines() if file.exists() else []
    if lines and len(lines[-1].split(" ")) != 2:
        raise UsageProblem(f"the last line of {file} is not TIME SIZE:ROOT")
    return _head(lines[-1].partition(" ")[2]) if lines else None


@contextmanager
def _history(out: Output) -> Iterator[None]:
    """Says that it was changed, where it was."""
    try:
        yield
    except (HistoryChanged, TreeBroken) as changed:
        out.tell({"changed": True, "problem": str(changed)}, f"HISTORY WAS CHANGED: {changed}")
        raise Exit(EXIT_REFUSED) from None


def _head(text: str) -> HeadRow:
    try:
        size, root = head_of(text)
    except ValueError:
        raise UsageProblem(f"{text} is not a head: SIZE:ROOT") from None
    return HeadRow(size, bytes.fromhex(root))


def _text(head: HeadRow) -> str:
    return f"{head.size}:{head.root.hex()}"


def _of(head: LedgerHead) -> str:
    return f"the head of {head.size} events"
