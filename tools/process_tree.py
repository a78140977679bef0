"""Runs a command and ends everything it started when this program is told to end: also what has left its group."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, NamedTuple

_PR_SET_CHILD_SUBREAPER = 36
_ORDERLY_SECONDS = 7.0
_KILL_SECONDS = 2.0
_POLL_SECONDS = 0.05


class Ended(SystemExit):
    """This program was told to end; everything that was started has ended. No loop takes it for a fault of its own."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.name = signal.Signals(number).name


class _Process(NamedTuple):
    pid: int
    parent: int
    group: int


@contextmanager
def ending_all(ended: Callable[[int], BaseException] = Ended) -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP interrupt all descendants as Ctrl-C does, and raise what `ended` makes of them.

    After Ctrl-C the terminal has told all of them. At the end, what is left is killed. However long it takes to clear
    up, all has ended within 10 seconds.
    """
    if sys.platform == "linux":
        # Whoever loses its parent becomes our child, so that nobody is out of sight.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def end(number: int, _: FrameType | None) -> None:
        for other in before:
            signal.signal(other, signal.SIG_IGN)
        told.append(number)
        # What clears up on the way out may wait for a server that takes its time, or for ever.
        threading.Thread(target=_kill_later, args=(128 + number,), daemon=True).start()
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        _interrupt_group()
        raise ended(number)

    # A shell lets what it starts in the background ignore SIGINT, and so it stays.
    ignores = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    numbers = (signal.SIGTERM, signal.SIGHUP) if ignores else (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    told = list[int]()
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        if told:  # perhaps by what is inside, which has made an exit code of it
            _end_descendants()
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


def _kill_later(code: int) -> None:
    time.sleep(_ORDERLY_SECONDS)
    _kill_descendants()
    os._exit(code)


def _interrupt_group() -> None:
    for process in _descendants():
        if process.group == os.getpgrp():  # the others, such as servers and browsers, are ended by those
            _send(process.pid, signal.SIGINT)


def _end_descendants() -> None:
    deadline, orphans = time.monotonic() + _ORDERLY_SECONDS, set[int]()
    while (left := _descendants()) and time.monotonic() < deadline:
        for process in left:
            if process.parent == os.getpid() and process.group != os.getpgrp() and process.pid not in orphans:
                # Whoever would have ended it is gone: a closed terminal takes a worker of tests, and not its servers.
                orphans.add(process.pid)
                _send(process.pid, signal.SIGTERM)
        _reap()
        time.sleep(_POLL_SECONDS)
    _kill_descendants()


def _kill_descendants() -> None:
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
