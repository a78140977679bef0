"""What changed in a project folder: saves of the files that count, many at once as one change."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from watchfiles import Change, awatch

CARD, REQUIREMENTS = "card.json", "requirements.txt"
PROGRAM: Final = ("*.py", CARD, REQUIREMENTS)

_REST_MILLISECONDS = 300
"""So long nothing may change before what did is one change."""
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})


async def changes_of(folder: Path, patterns: Sequence[str]) -> AsyncGenerator[frozenset[Path], None]:
    root = folder.resolve()  # noqa: ASYNC240  once, at the start; some systems name what changed in this way

    def counts(_: Change, name: str) -> bool:
        path = Path(name)
        return any(fnmatch(path.name, pattern) for pattern in patterns) and not _is_left_out(path, root)

    async with aclosing(awatch(root, watch_filter=counts, step=_REST_MILLISECONDS)) as watched:
        async for changes in watched:
            yield frozenset(folder / Path(name).relative_to(root) for _, name in changes)


def forget_bytecode(changed: frozenset[Path]) -> None:
    """Python compares seconds and sizes: of two quick saves of one size it would run the first."""
    for path in changed:
        for stored in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            with suppress(OSError):  # of another user, or gone: then Python reads the file again, or nobody can help
                stored.unlink()


def _is_left_out(path: Path, root: Path) -> bool:
    """Hidden files, and what is in hidden folders and environments, do not count."""
    names = path.relative_to(root).parts
    inside = [root.joinpath(*names[:depth]) for depth in range(1, len(names))]
    return any(name.startswith(".") or name in _LEFT_OUT for name in names) or any(
        (place / "pyvenv.cfg").exists() for place in inside
    )
