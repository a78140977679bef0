"""What changed in a project folder: it is read again and again, and many saves at once are one change."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import Final

CARD, REQUIREMENTS = "card.json", "requirements.txt"
PROGRAM: Final = ("*.py", CARD, REQUIREMENTS)

_PAUSE_SECONDS = 0.3
_MAX_FILES = 20_000
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})

Snapshot = Mapping[Path, tuple[int, int, int]]
"""Of each file what a save changes: time, size, and the file itself, as many editors write another and rename it."""


def snapshot(folder: Path, patterns: Sequence[str]) -> Snapshot:
    found: dict[Path, tuple[int, int, int]] = {}
    for path in islice(_files(folder), _MAX_FILES):
        if any(fnmatch(path.name, pattern) for pattern in patterns):
            try:
                state = path.stat()
            except OSError:  # removed meanwhile, as an editor does before it renames
                continue
            found[path] = (state.st_mtime_ns, state.st_size, state.st_ino)
    return found


class FolderChanges:
    """Gets one snapshot after the other and tells a change once the folder has come to rest."""

    def __init__(self, first: Snapshot) -> None:
        self._reported = self._last = first

    def settled(self, now: Snapshot) -> frozenset[Path]:
        """What differs from the last report, if this snapshot is like the one before; otherwise nothing."""
        at_rest, self._last = now == self._last, now
        if not at_rest or now == self._reported:
            return frozenset()
        before, self._reported = self._reported, now
        return frozenset(path for path in now.keys() | before.keys() if now.get(path) != before.get(path))


async def changes_of(folder: Path, patterns: Sequence[str]) -> AsyncGenerator[frozenset[Path], None]:
    changes = FolderChanges(snapshot(folder, patterns))
    while True:
        await asyncio.sleep(_PAUSE_SECONDS)
        changed = changes.settled(snapshot(folder, patterns))
        if changed:
            yield changed


def forget_bytecode(changed: frozenset[Path]) -> None:
    """Python compares seconds and sizes: of two quick saves of one size it would run the first."""
    for path in changed:
        for stored in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            with suppress(OSError):  # of another user, or gone: then Python reads the file again, or nobody can help
                stored.unlink()


def _files(folder: Path) -> Iterator[Path]:
    """Hidden ones and environments are nobody's work."""
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = [name for name in folders if not _is_left_out(here / name)]
        yield from (here / name for name in names if not name.startswith("."))


def _is_left_out(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _LEFT_OUT or (folder / "pyvenv.cfg").exists()
