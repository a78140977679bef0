"""What a mutant is: one text of the product and another in its place, made from a change of its syntax. It names no
test."""

import ast
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


@dataclass(frozen=True)
class Change:
    """The piece of a file between two byte offsets becomes another text."""

    operator: str
    start: int
    end: int
    new: str


def span(node: ast.AST, source: bytes) -> tuple[int, int]:
    """The byte offsets between which the node stands."""
    starts = [0, *(place + 1 for place, byte in enumerate(source) if byte == ord("\n"))]
    first, last = starts[node.lineno - 1], starts[node.end_lineno - 1]  # type: ignore[attr-defined]  # it has a place
    return first + node.col_offset, last + node.end_col_offset  # type: ignore[attr-defined]  # as above


def mutant_of(name: str, file: str, change: Change, source: bytes) -> Mutant | None:
    """As a text that stands once in its file: whole lines, and as many around them as that takes.

    None when the change does not compile, or means nothing.
    """
    changed = source[: change.start] + change.new.encode() + source[change.end :]
    if not _compiles(changed) or ast.dump(ast.parse(changed)) == ast.dump(ast.parse(source)):
        return None
    begin, end = source.rfind(b"\n", 0, change.start) + 1, _end_of_line(source, change.end)
    while source.count(source[begin:end]) > 1:
        begin, end = source.rfind(b"\n", 0, max(0, begin - 1)) + 1, _end_of_line(source, end)
    new = changed[begin : end + len(changed) - len(source)]
    return Mutant(name, file, source[begin:end].decode(), new.decode(), change.operator)


def _end_of_line(source: bytes, place: int) -> int:
    found = source.find(b"\n", place)
    return len(source) if found < 0 else found + 1


def _compiles(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


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
