"""`aop ledger watch-key`, and the signed checkpoints that `aop ledger watch` writes with such a key."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from aop.base.durable_files import sync_folder, write_whole
from aop.cli.shell.output import Output
from aop.cli.shell.problems import CommandProblem, UsageProblem, file_problems
from aop.contracts.signed_note import NoteRefused, NoteSigner, TreeCheckpoint, text_signed_by
from aop.contracts.signing import SigningKey
from aop.ledger.tree.store import HeadRow
from aop.net.origin import Endpoint, InvalidEndpoint

_OTHERS: Final = 0o077
_NAME: Final = re.compile(r"checkpoint-([1-9][0-9]{0,15})", re.ASCII)


@click.argument(
    "file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Where the private key is written."
)
@click.option("--name", required=True, metavar="NAME", help="Who signs, like watch.example.com; no spaces and no +.")
def watch_key(out: Output, file: Path, name: str) -> None:
    """Makes the Ed25519 key of a watcher, and shows its public half: give it to everybody who is to check checkpoints.
    Keep the file on the watcher's machine alone. It is no key of a Router, and the store never has it.

    Example: aop ledger watch-key watcher.key --name watch.example.com
    """
    try:
        signer = NoteSigner(name, SigningKey.generate())
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as made:
            made.write(f"{signer.text}\n")
            made.flush()
            os.fsync(made.fileno())
        sync_folder(file.parent)
    except NoteRefused as wrong:
        raise UsageProblem(f"--name: {wrong}") from None
    except FileExistsError:
        raise CommandProblem(
            f"{file} is there already", recovery="name another file; a key is never replaced"
        ) from None
    except OSError as failure:
        raise CommandProblem(f"{file} cannot be written: {failure.strerror}") from None
    out.tell({"file": str(file), "publicKey": signer.public.text}, signer.public.text)


@dataclass(frozen=True)
class CheckpointFolder:
    """One file for each head that was signed. What is there binds what may be signed next."""

    signer: NoteSigner
    origin: str
    folder: Path

    @classmethod
    def named(cls, key: Path | None, gateway: str | None, folder: Path | None) -> "CheckpointFolder | None":
        """None without a key."""
        if key is None and gateway is None and folder is None:
            return None
        if key is None or gateway is None or folder is None:
            raise UsageProblem("a watcher signs with --key, --gateway and --checkpoints together")
        try:
            return cls(_read_key(key), f"{Endpoint.parse(gateway).authority}/ledger", folder)
        except InvalidEndpoint as wrong:
            raise UsageProblem(f"--gateway: {wrong}") from None

    def newest(self) -> HeadRow | None:
        names = [_NAME.fullmatch(path.name) for path in self.folder.iterdir()]
        sizes = [int(name[1]) for name in names if name is not None]
        return self._read(max(sizes)) if sizes else None

    def add(self, head: HeadRow) -> Path:
        """Once for each head: the same head has the same signature."""
        path = self._file(head.size)
        checkpoint = TreeCheckpoint(self.origin, head.size, head.root)
        with file_problems(path, "written"):
            write_whole(path, self.signer.signed(checkpoint.text))
        return path

    def _read(self, size: int) -> HeadRow:
        path = self._file(size)
        try:
            found = TreeCheckpoint.parse(text_signed_by(self.signer.public, path.read_bytes()))
        except (OSError, NoteRefused) as wrong:
            raise CommandProblem(f"{path} is no checkpoint of this key: {wrong}") from None
        if (found.origin, found.size) != (self.origin, size):
            raise CommandProblem(f"{path} is of {found.size} events of {found.origin}, not of {self.origin}")
        return HeadRow(found.size, found.root)

    def _file(self, size: int) -> Path:
        return self.folder / f"checkpoint-{size}"


def _read_key(path: Path) -> NoteSigner:
    try:
        if path.stat().st_mode & _OTHERS:
            raise CommandProblem(f"{path} can be read by others, so it is not used", recovery=f"chmod 600 {path}")
        return NoteSigner.parse(path.read_text("utf-8").removesuffix("\n"))
    except (OSError, NoteRefused, UnicodeDecodeError) as wrong:
        raise CommandProblem(f"{path} is no private key of a watcher: {wrong}") from None
