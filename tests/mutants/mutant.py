"""What a mutant is: one text of the product and another in its place. It names no test."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutant:
    """`old` stands exactly once in the file; `why` says what somebody would suffer, or which operator made it."""

    name: str
    file: str
    old: str
    new: str
    why: str


def stale(mutant: Mutant) -> str | None:
    """Why the mutant cannot be made any more, if so."""
    path = ROOT / mutant.file
    count = path.read_text("utf-8").count(mutant.old) if path.is_file() else 0
    return None if count == 1 else f"{mutant.name}: its text stands {count} times in {mutant.file}"


def changed_text(mutant: Mutant) -> str:
    """The whole file with the mistake in it."""
    return (ROOT / mutant.file).read_text("utf-8").replace(mutant.old, mutant.new)


def changed_line(mutant: Mutant) -> int:
    """The number of the first line that is not as it was."""
    before = (ROOT / mutant.file).read_text("utf-8").splitlines()
    after = changed_text(mutant).splitlines()
    pairs = enumerate(zip(before, after, strict=False), 1)
    return next((number for number, (old, new) in pairs if old != new), min(len(before), len(after)))
