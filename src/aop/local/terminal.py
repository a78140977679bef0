"""Writes to the terminal from a thread of its own, so that a stalled one never stalls the platform."""

import errno
import os
import queue
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TextIO

from aop.contracts.text import cleaned

_WAITING_LIMIT = 10_000
_DRAIN_SECONDS = 2.0
_USUAL_WIDTH = 100
_MAX_SILENCE = 2.5


class ColouredText(NamedTuple):
    """A text with the number of its colour."""

    text: str
    colour: int


Line = Sequence[str | ColouredText]
"""The pieces of a line. Colours are put on here alone, so that no text brings its own."""


class LineTerminal:
    """Lines are shown in order. When too many wait, new ones are dropped; the log files have them."""

    def __init__(self, out: TextIO, *, coloured: bool, max_silence: float = _MAX_SILENCE) -> None:
        self.coloured = coloured
        self.while_silent: Callable[[], Line] | None = None
        """What to show whenever nothing was shown for a while; None when no one waits for anything."""
        self._out = out
        self._max_silence = max_silence
        self._lines: queue.Queue[Line | None] = queue.Queue(_WAITING_LIMIT)
        self._writer = threading.Thread(target=self._write, name="terminal", daemon=True)

    @classmethod
    def standard(cls, environment: Mapping[str, str]) -> "LineTerminal":
        return cls(sys.stdout, coloured=sys.stdout.isatty() and "NO_COLOR" not in environment)

    @property
    def width(self) -> int:
        try:
            return os.get_terminal_size(self._out.fileno()).columns or _USUAL_WIDTH
        except (OSError, ValueError):
            return _USUAL_WIDTH

    def __enter__(self) -> "LineTerminal":
        self._writer.start()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._lines.put(None, timeout=_DRAIN_SECONDS)
        except queue.Full:
            return
        self._writer.join(_DRAIN_SECONDS)

    def show(self, *line: str | ColouredText) -> None:
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            return

    def _write(self) -> None:
        while (line := self._next()) is not None:
            try:
                self._out.write("".join(map(self._drawn, line)) + "\n")
                if self._lines.empty():
                    self._out.flush()
            except (OSError, ValueError) as problem:
                if getattr(problem, "errno", None) != errno.ENOSPC:  # of a file, which may have room later
                    return  # the reader left; the platform goes on

    def _next(self) -> Line | None:
        while True:
            try:
                return self._lines.get(timeout=None if self.while_silent is None else self._max_silence)
            except queue.Empty:
                if self.while_silent is not None:
                    return self.while_silent()

    def _drawn(self, piece: str | ColouredText) -> str:
        if isinstance(piece, str):
            return _one_line(piece)
        text = _one_line(piece.text)
        return f"\x1b[{piece.colour}m{text}\x1b[0m" if self.coloured else text


def _one_line(text: str) -> str:
    return cleaned(text.expandtabs(), lines=False)


def write_line(text: str, stream: TextIO) -> None:
    """Writes at once, for a program that ends after it."""
    stream.write(cleaned(text) + "\n")
    stream.flush()
