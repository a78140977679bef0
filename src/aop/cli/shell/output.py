"""What a command writes: documents for programs, lines for people, notes beside both; plain without a terminal."""

import os
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import ClassVar, TextIO

import click
import msgspec
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from aop.cli.shell import options
from aop.cli.shell.asking import interruptible
from aop.cli.shell.narrow import NARROW
from aop.cli.shell.problems import CommandProblem
from aop.contracts.text import cleaned, escaped

Line = str | Text
Cell = str | Text
Part = str | Text | tuple[str, str]

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
    "not ready": "red",
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
_GAP, _NARROWEST_PROSE = 2, 24


class Output:
    """One command's channels. `json` is set by --json: then only documents are written, one per line."""

    shared: ClassVar[Sequence[options.Declare]] = options.OUTPUT

    def __init__(self, *, as_json: bool = False, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.json = as_json
        self._out, self._err = _console(out or sys.stdout), _console(err or sys.stderr)

    @property
    def is_terminal(self) -> bool:
        return self._out.is_terminal

    @property
    def width(self) -> int:
        """The columns of the terminal; 120 without one."""
        return self._out.width if self._out.is_terminal else 120

    @property
    def fold(self) -> int | None:
        """The column at which text in a table is folded; None without a terminal."""
        return self._out.width if self._out.is_terminal else None

    def tell(self, document: object, *lines: Line) -> None:
        """The outcome: the document with --json, the lines without."""
        if self.json:
            self.document(document)
        else:
            self.show(*lines)

    def document(self, value: object) -> None:
        _write_document(self._out, value)

    def show(self, *lines: Line) -> None:
        """For people only."""
        if not self.json:
            for line in lines:
                self._out.print(text_of(line))

    def write(self, text: str) -> None:
        """A piece of text as it comes, without a new line after it."""
        self._out.print(text_of(text), end="")
        self._out.file.flush()

    def note(self, *lines: Line) -> None:
        """Goes to stderr; not written with --json."""
        if not self.json:
            for line in lines:
                self._err.print(text_of(line))

    def problem(self, problem: CommandProblem) -> None:
        if self.json:
            _write_document(self._err, problem.document())
            return
        known = problem.code if problem.code.isupper() else "error"
        self._err.print(styled((known, "bold red"), ": ", text_of(str(problem))))
        for place in problem.violations:
            words = problem.expected(place)
            said = place.rule if words is None else f"{place.rule}, {words}"
            self._err.print(styled(f"  {place.pointer or '(whole body)'}: {said}"))
        if problem.reason is not None:
            self._err.print(styled(("  reason      ", "bold"), f"{problem.reason}: {problem.sentence}"))
        if problem.hint is not None:
            self._err.print(styled(("  hint        ", "bold"), problem.hint))
        if problem.recovery:
            self._err.print(styled(("  what to do  ", "bold"), problem.recovery))
        for name, value in (("invocation", problem.invocation_id), ("trace", problem.trace_id)):
            if value is not None:
                self._err.print(styled((f"  {name:<11} {value}", "dim")))

    def confirms(self, question: str) -> bool:
        """Asks the person. Without a terminal, or with --json, the answer is no."""
        if self.json or not sys.stdin.isatty():
            return False
        with interruptible():
            return click.confirm(cleaned(question), err=True)

    def require_yes(self, yes: bool, question: str, outcome: str) -> None:
        """Unless --yes was given, or the person says yes, the command ends with this outcome."""
        if not yes and not self.confirms(question):
            raise CommandProblem(outcome, code="declined", recovery="answer yes, or pass --yes")

    def asks(self, question: str, default: str | None) -> str | None:
        """What a person types, or the default. Without a terminal, or with --json, there is no answer."""
        if self.json or not sys.stdin.isatty():
            return None
        named = default is not None
        with interruptible():
            text: str = click.prompt(cleaned(question), default=default or "", show_default=named, err=True)
        return text.strip() or None

    @contextmanager
    def working(self, text: str) -> Iterator[None]:
        """A spinner while something takes time; nothing without a terminal."""
        if self.json or not self._err.is_terminal:
            yield
            return
        with self._err.status(styled(text), spinner="dots"):
            yield


class Notes(Output):
    """Of a command that runs until it is stopped: it has no outcome to write, and no --json."""

    shared = ()


class _CleanConsole(Console):
    """The one way to the terminal: whatever is drawn, no character of others moves, hides or reorders anything.

    Texts are cleaned when they are made as well, as a mark is wider than what it stands for and columns are counted.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(cleaned(segment.text), segment.style)


def _write_document(console: Console, value: object) -> None:
    """On one line, also when a raw value contains line breaks."""
    console.file.write(escaped(msgspec.json.encode(value).decode()).replace("\n", " ") + "\n")
    console.file.flush()


def _console(file: TextIO) -> Console:
    plain = bool(os.environ.get("NO_COLOR"))  # noqa: TID251
    if isinstance(file, TextIOWrapper):
        file.reconfigure(errors=NARROW)
    return _CleanConsole(
        file=file,
        color_system=None if plain else "auto",
        soft_wrap=True,
        highlight=False,
        markup=False,
        emoji=False,
    )


def text_of(text: Line) -> Text:
    """A text with its line breaks."""
    return text if isinstance(text, Text) else Text(cleaned(text))


def prose(text: str) -> Text:
    """A text of several lines, indented, so that no line of it looks like one of ours."""
    return text_of(textwrap.indent(cleaned(text), "  "))


def styled(*parts: Part) -> Text:
    """One line of texts with their styles. A text of others cannot begin a new line."""
    return Text.assemble(*(_part(part) for part in parts))


def json_text(value: bytes | msgspec.Raw, indent: int = -1) -> str:
    """JSON for people; numbers and strings keep their spelling."""
    return escaped(msgspec.json.format(bytes(value), indent=indent).decode())


def moment(text: str) -> str:
    """A time of the contract, which is always UTC, to the second."""
    return f"{text[:10]} {text[11:19]}Z"


def status(text: str) -> Text:
    return styled((text, STATUS_STYLES.get(text, "")))


def table(headings: Sequence[str], rows: Sequence[Sequence[Cell]], fold: int | None = None) -> list[Line]:
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


def facts(*pairs: tuple[str, Cell | None]) -> list[Line]:
    """Names and values below each other; a pair without a value is left out."""
    kept = [(name, value) for name, value in pairs if value is not None and str(value) != ""]
    width = max((len(name) for name, _ in kept), default=0)
    return [styled((f"{name:<{width}}", "dim"), "  ", value) for name, value in kept]


def _one_line(cell: Cell) -> Text:
    return cell if isinstance(cell, Text) else text_of(" ".join(cleaned(cell).split()))


def _part(part: Part) -> Text:
    if isinstance(part, Text):
        return part
    text, style = (part, "") if isinstance(part, str) else part
    return Text(cleaned(text, lines=False), style)


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
