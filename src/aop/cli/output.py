"""What a command writes: documents for programs, lines for people, notes beside both; plain where no terminal is."""

import os
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import ClassVar, TextIO

import msgspec
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from aop.cli import options
from aop.cli.asking import confirmed
from aop.cli.problems import Problem

Line = str | Text
Cell = str | Text

STATUS_STYLES = {
    "succeeded": "green",
    "published": "green",
    "verified": "green",
    "enabled": "green",
    "ok": "green",
    "live": "green",
    "failed": "red",
    "revoked": "red",
    "unavailable": "red",
    "lost": "red",
    "timed_out": "yellow",
    "canceled": "yellow",
    "suspended": "yellow",
    "disabled": "yellow",
    "initializing": "yellow",
    "running": "cyan",
    "routing": "cyan",
    "pending": "cyan",
    "pending_verification": "cyan",
    "draft": "cyan",
    "uninstalled": "dim",
}
_KEPT = {"\n", "\t"}
_GAP, _NARROWEST_PROSE = 2, 24


class Output:
    """One command's channels. `json` is set by --json: then only documents are written, one per line."""

    shared: ClassVar[options.Shared] = options.OUTPUT

    def __init__(self, *, as_json: bool = False, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.json = as_json
        self._out, self._err = _console(out or sys.stdout), _console(err or sys.stderr)

    @property
    def is_terminal(self) -> bool:
        return self._out.is_terminal

    @property
    def width(self) -> int:
        """The columns of the terminal; plenty where there is none."""
        return self._out.width if self._out.is_terminal else 120

    @property
    def fold(self) -> int | None:
        """Where prose in a table is folded; nowhere in what a program may read."""
        return self._out.width if self._out.is_terminal else None

    def tell(self, document: object, *lines: Line) -> None:
        """The outcome: the document with --json, the lines without."""
        if self.json:
            self.document(document)
        else:
            self.show(*lines)

    def document(self, value: object) -> None:
        self._out.file.write(msgspec.json.encode(value).decode() + "\n")
        self._out.file.flush()

    def show(self, *lines: Line) -> None:
        """For people only."""
        if not self.json:
            for line in lines:
                self._out.print(shown(line))

    def write(self, text: str) -> None:
        """A piece of text as it comes, without a new line after it."""
        self._out.print(shown(text), end="")
        self._out.file.flush()

    def note(self, *lines: Line) -> None:
        """Beside the outcome: not part of what a program reads, and left out with --json."""
        if not self.json:
            for line in lines:
                self._err.print(shown(line))

    def problem(self, problem: Problem) -> None:
        if self.json:
            self._err.file.write(msgspec.json.encode(problem.document()).decode() + "\n")
            self._err.file.flush()
            return
        known = problem.code if problem.code.isupper() else "error"
        self._err.print(Text.assemble((known, "bold red"), ": ", shown(str(problem))))
        for place in problem.violations:
            self._err.print(Text(f"  {shown(place.pointer or '(whole body)')}: {place.rule}"))
        if problem.recovery:
            self._err.print(Text.assemble(("  what to do  ", "bold"), shown(problem.recovery)))
        for name, value in (("invocation", problem.invocation_id), ("trace", problem.trace_id)):
            if value is not None:
                self._err.print(Text(f"  {name:<11} {value}", "dim"))

    def confirms(self, question: str) -> bool:
        """Asks the person; where there is none to ask, nobody confirms."""
        return not self.json and confirmed(question)

    @contextmanager
    def working(self, text: str) -> Iterator[None]:
        """A spinner while something takes its time; nothing where nobody watches."""
        if self.json or not self._err.is_terminal:
            yield
            return
        with self._err.status(Text(text), spinner="dots"):
            yield


def _console(file: TextIO) -> Console:
    plain = bool(os.environ.get("NO_COLOR"))  # noqa: TID251
    if isinstance(file, TextIOWrapper):
        file.reconfigure(errors="replace")  # a narrow encoding costs a character, not the whole output
    return Console(
        file=file,
        color_system=None if plain else "auto",
        soft_wrap=True,
        highlight=False,
        markup=False,
        emoji=False,
    )


def shown(text: Line) -> Text:
    """Text as it may reach a terminal: what others wrote cannot move its cursor or change its colours."""
    if isinstance(text, Text):
        return text
    return Text("".join(sign if sign in _KEPT or unicodedata.category(sign) != "Cc" else "\ufffd" for sign in text))


def moment(text: str) -> str:
    """A time of the contract, which is always UTC, to the second."""
    return f"{text[:10]} {text[11:19]}Z"


def status(text: str) -> Text:
    return Text(text, STATUS_STYLES.get(text, ""))


def table(headings: Sequence[str], rows: Sequence[Sequence[Cell]], fold: int | None = None) -> list[Text]:
    """Aligned columns. Nothing is cut to fit a terminal: an id is there to be copied.

    With `fold`, the last column is prose and goes on below itself where that many columns are full.
    """
    cells = [
        [Text(heading.upper(), "dim") for heading in headings],
        *([_one_line(cell) for cell in row] for row in rows),
    ]
    widths = [max(cell_len(cell.plain) for cell in column) for column in zip(*cells, strict=True)]
    before = sum(widths[:-1]) + _GAP * (len(widths) - 1)
    if fold is None or fold - before < _NARROWEST_PROSE:
        return [_joined(row, widths) for row in cells]
    return [line for row in cells for line in _folded(row, widths, before, fold - before)]


def facts(*pairs: tuple[str, Cell | None]) -> list[Text]:
    """Names and values below each other; a pair without a value is left out."""
    kept = [(name, value) for name, value in pairs if value is not None and str(value) != ""]
    width = max((len(name) for name, _ in kept), default=0)
    return [Text.assemble((f"{name:<{width}}", "dim"), "  ", shown(value)) for name, value in kept]


def _one_line(cell: Cell) -> Text:
    return cell if isinstance(cell, Text) else shown(" ".join(cell.split()))


def _joined(row: Sequence[Text], widths: Sequence[int]) -> Text:
    line = Text()
    for cell, width in zip(row, widths, strict=True):
        line.append_text(cell)
        line.append(" " * (width - cell_len(cell.plain) + _GAP))
    line.rstrip()
    return line


def _folded(row: Sequence[Text], widths: Sequence[int], before: int, room: int) -> Iterator[Text]:
    first, *others = textwrap.wrap(row[-1].plain, room) or [""]
    yield _joined([*row[:-1], Text(first, row[-1].style)], widths)
    yield from (Text(" " * before + line) for line in others)
