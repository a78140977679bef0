"""The logs of supervised units: every line to a file, the same readably to the terminal, the last ones in memory."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO

from aop.local.log_lines import LogLines
from aop.local.terminal import Line, LineTerminal

_FILE_LIMIT = 10 * 1024 * 1024
_KEPT_LINES = 12


class LogFile:
    """Appends; when it has grown over its limit it becomes `.1`, in place of the one before.

    Opened when it is first needed, and again after it could not be: a disk may be full just then.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def write(self, line: bytes) -> None:
        if self._file is not None and self._file.tell() > _FILE_LIMIT:
            self.close()
            self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        if self._file is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            self._file = os.fdopen(os.open(self._path, flags, 0o600), "ab", buffering=0)
        self._file.write(line)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class UnitLogs:
    def __init__(self, terminal: LineTerminal, log: Callable[[str], Path]) -> None:
        self.terminal = terminal
        self.shows_requests = True
        """Whether the terminal gets the requests that units record; probes of health are in the files alone."""
        self._log = log
        self._lines = LogLines()
        self._last: dict[str, deque[str]] = {}
        self._step, self._began = "starting", time.monotonic()

    def begin_start(self) -> None:
        """From now on a person waits: what is going on is shown again when nothing else is."""
        self.shows_requests = False
        self.terminal.while_silent = self._still

    def end_start(self) -> None:
        self.shows_requests = True
        self.terminal.while_silent = None

    def say(self, text: str) -> None:
        self._step = text
        self.terminal.show(*self._lines.render("up", text))

    def last_lines(self, name: str) -> list[str]:
        return list(self._last.get(name, ()))

    async def follow(self, name: str, output: asyncio.StreamReader, *, visible: bool) -> None:
        """Until the unit's output ends."""
        last = self._last[name] = deque(maxlen=_KEPT_LINES)
        file, kept = LogFile(self._log(name)), True
        try:
            while line := await next_line(output):
                kept = self._kept(name, file, line, kept=kept)
                text = line.decode(errors="replace").rstrip("\n")
                last.append(text)
                if visible and not self._is_left_out(text):
                    self.terminal.show(*self._lines.render(name, text))
        finally:
            file.close()

    def _kept(self, name: str, file: LogFile, line: bytes, *, kept: bool) -> bool:
        """A full disk must not stop the reading: the unit would block on its next line."""
        try:
            file.write(line)
        except OSError as problem:
            if kept:
                self.say(f"the log file of {name} cannot be written: {problem.strerror}")
            return False
        return True

    def _still(self) -> Line:
        return self._lines.render("up", f"still at it after {time.monotonic() - self._began:.0f} s: {self._step}")

    def _is_left_out(self, text: str) -> bool:
        return self._lines.is_probe(text) if self.shows_requests else self._lines.is_request(text)


async def next_line(output: asyncio.StreamReader) -> bytes:
    """With its end of line; a line beyond the reader's limit comes in pieces."""
    try:
        return await output.readuntil(b"\n")
    except asyncio.IncompleteReadError as end:
        return end.partial
    except asyncio.LimitOverrunError as long:
        return await output.read(long.consumed)
