"""`aop ledger export|verify|detach`: old months of the Ledger leave it, as files that can be checked."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from click.exceptions import Exit

from aop.cli.shell import options
from aop.cli.shell.output import Output
from aop.cli.shell.problems import EXIT_REFUSED, CommandProblem, UsageProblem
from aop.cli.shell.store_session import one_state, store_session
from aop.cli.shell.stores import migration_data, migration_database, router_data, router_database
from aop.ledger.archive.detach import InUse, NotCounted, become_owner, detached, this_month
from aop.ledger.archive.export import NotOver, exported, file_of
from aop.ledger.archive.file import FileWrong
from aop.ledger.archive.verification import VerifiedExport, verified, verified_alone
from aop.ledger.months import Month, attached_months
from aop.store.database import Connection

_APPLICATION = "aop ledger archive"
_before = click.option("--before", metavar="MONTH", required=True, help="Months before it, like 2026-03 (UTC).")


@_before
@click.option("--to", "folder", metavar="DIR", required=True, type=options.FOLDER, help="Where the files are written.")
@router_data
async def export(out: Output, before: str, folder: Path, data: Path | None) -> None:
    """One file for each month: each event as it is in the tree, then a digest. Each file is read again and compared
    with the tree. A file that is there already is only compared. Nothing in the Ledger changes.

    Example: aop ledger export --before 2026-03 --to /backup/ledger --data .aop
    """
    with _explained(out):
        async with one_state(router_database(data), _APPLICATION) as connection:
            for month in await _months(connection, before):
                path = file_of(folder, month)
                judged = await (verified(connection, path) if path.exists() else exported(connection, month, path))
                _tell(out, path, judged, f"{path} has {_of(judged)}")


@click.argument("file", metavar="FILE", type=options.FILE, help="Of aop ledger export.")
@click.option("--alone", is_flag=True, help="Without a database: lines, counts and digest.")
@router_data
async def verify(out: Output, file: Path, alone: bool, data: Path | None) -> None:
    """Compares each event with the tree, also when its month was detached: the tree keeps all hashes. Exit code 1 if
    the file is not what was exported.

    Example: aop ledger verify /backup/ledger/ledger-2026-02.jsonl --data .aop
    """
    with _explained(out):
        if alone:
            judged, said = verified_alone(file), "the tree was not asked"
        else:
            async with store_session(router_database(data), _APPLICATION) as connection:
                judged = await verified(connection, file)
            said = f"{judged.in_tree} of the events are those in the tree"
    _tell(out, file, judged, f"{_of(judged)}; {said}")


@_before
@click.option(
    "--from", "folder", metavar="DIR", required=True, type=options.FOLDER, help="Where the exported files are."
)
@migration_data
async def detach(out: Output, before: str, folder: Path, data: Path | None) -> None:
    """The oldest first. Each file is compared with the Ledger before. Reads of what was detached say "archived"; lists
    do not show it. Numbers, tree and figures stay. The tables move to the schema ledger_detached, where their owner can
    drop them.

    Example: aop ledger detach --before 2026-03 --from /backup/ledger --data .aop
    """
    with _explained(out):
        async with store_session(migration_database(data), _APPLICATION) as connection:
            await become_owner(connection)
            for month in await _months(connection, before):
                path = file_of(folder, month)
                if not path.exists():
                    raise CommandProblem(f"{path} is missing", recovery=f"run: aop ledger export --before {month.next}")
                judged = await detached(connection, month, path)
                _tell(out, path, judged, f"detached {_of(judged)}")


async def _months(connection: Connection, before: str) -> list[Month]:
    try:
        end = Month.parse(before)
    except ValueError:
        raise UsageProblem("--before is a month, like 2026-03") from None
    if end > await this_month(connection):
        raise CommandProblem(f"{before} is in the future: only months that are over can be exported")
    return [month for month in await attached_months(connection) if month < end]


def _of(judged: VerifiedExport) -> str:
    return f"{judged.month} with {judged.last.invocations} Invocations and {judged.last.events} events"


def _tell(out: Output, path: Path, judged: VerifiedExport, line: str) -> None:
    last = judged.last
    said = {"month": str(judged.month), "file": str(path), "invocations": last.invocations, "events": last.events}
    out.tell({**said, "sha256": last.sha256, "inTree": judged.in_tree}, line)


@contextmanager
def _explained(out: Output) -> Iterator[None]:
    try:
        yield
    except FileWrong as wrong:
        out.tell({"valid": False, "problem": str(wrong)}, f"WRONG: {wrong}")
        raise Exit(EXIT_REFUSED) from None
    except NotOver as early:
        raise CommandProblem(str(early), recovery="wait until they have ended, then repeat it") from None
    except NotCounted:
        raise CommandProblem(
            "the tree or the figures have not counted all of the month: they need 1,024 more events, or some seconds"
        ) from None
    except InUse:
        raise CommandProblem(
            "another session, such as a backup or a check, is using the Ledger", recovery="repeat it when it has ended"
        ) from None
    except OSError as failure:
        raise CommandProblem(f"the file cannot be read or written: {failure.strerror}") from None
