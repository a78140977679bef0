"""Runs a command and ends everything it started when this program is told to end: also what has left its group."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, NamedTuple

_PR_SET_CHILD_SUBREAPER = 36
_ORDERLY_SECONDS = 8.0
_KILL_SECONDS = 5.0
_POLL_SECONDS = 0.05


class Ended(Exception):
    """This program was told to end; everything that was started has ended."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


class _Process(NamedTuple):
    pid: int
    parent: int
    group: int


@contextmanager
def ending_all() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP interrupt all descendants as Ctrl-C does, then kill what is left, and raise Ended."""
    if sys.platform == "linux":
        # Whoever loses its parent becomes our child, so that nobody is out of sight.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def end(number: int, _: FrameType | None) -> None:
        raise Ended(number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    except (Ended, KeyboardInterrupt) as told:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        # After Ctrl-C the terminal has told everybody in the group already.
        _end_descendants(interrupting=isinstance(told, Ended))
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_code(
    command: Sequence[str], environment: Mapping[str, str], seen: Callable[[bytes], None] | None = None
) -> int:
    """Of the command, whose output goes to `seen` as it comes, or straight to the terminal."""
    # Not as a context: its end would wait for the child before anybody has told it to end.
    child = subprocess.Popen(list(command), env=environment, stdout=None if seen is None else subprocess.PIPE)
    if seen is not None and child.stdout is not None:
        with child.stdout:
            _pass_on(child.stdout, seen)
    return child.wait()


def _pass_on(output: IO[bytes], seen: Callable[[bytes], None]) -> None:
    while piece := os.read(output.fileno(), 65536):
        seen(piece)


def _end_descendants(*, interrupting: bool) -> None:
    own_group = os.getpgrp()
    for process in _descendants():
        if interrupting and process.group == own_group:  # the others, such as servers and browsers, are ended by those
            _send(process.pid, signal.SIGINT)
    deadline = time.monotonic() + _ORDERLY_SECONDS
    while _descendants() and time.monotonic() < deadline:
        _reap()
        time.sleep(_POLL_SECONDS)
    deadline = time.monotonic() + _KILL_SECONDS  # one of another user, or stuck in the kernel, does not end
    while (left := _descendants()) and time.monotonic() < deadline:
        for process in left:
            _send(process.pid, signal.SIGKILL)
        _reap()
        time.sleep(_POLL_SECONDS)


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return  # gone, or of another user, whose parent ends it


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _descendants() -> list[_Process]:
    """Those that live, nearest first."""
    found, parents = list[_Process](), {os.getpid()}
    listed = list(_processes())
    while parents:
        below_them = [process for process in listed if process.parent in parents]
        found += below_them
        parents = {process.pid for process in below_them}
    return found


def _processes() -> Iterator[_Process]:
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name is in parentheses and may have any character; the state, parent and group follow it.
            state, parent, group = entry.read_text(errors="replace").rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if state != "Z":
            yield _Process(int(entry.parent.name), int(parent), int(group))
