"""Waits for a person or a pipe. One Ctrl-C is enough, also inside a running event loop."""

import asyncio
import getpass
import os
import select
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from aop.cli.shell.problems import CommandProblem
from aop.contracts.text import cleaned

_POLL_SECONDS = 0.1
_MAX_ANSWER = 1_024
_YES, _NO = frozenset({"y", "yes"}), frozenset({"", "n", "no"})


@contextmanager
def interruptible() -> Iterator[None]:
    """An event loop handles the first Ctrl-C itself, but a blocking read keeps it from acting."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except click.Abort:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, before)


async def confirmed_meanwhile(question: str, show: Callable[[str], None]) -> bool:
    """Whether a person says yes, while the event loop goes on with other work. Without a person the answer is no.

    Other lines may be written before the answer comes, so the question is a whole line. What was typed before it is no
    answer to it.
    """
    if not _is_in_front():
        return False
    termios.tcflush(sys.stdin, termios.TCIFLUSH)
    while True:
        show(f"{question} Type y or n, then Enter.")
        answer = await _typed_line()
        if answer in _YES | _NO:
            return answer in _YES


async def _typed_line() -> str:
    """Empty when the terminal has gone. A program in the background that reads is stopped by the system."""
    while not (_is_in_front() and select.select([sys.stdin], [], [], 0)[0]):  # noqa: ASYNC110  no event tells it
        await asyncio.sleep(_POLL_SECONDS)
    try:
        return os.read(sys.stdin.fileno(), _MAX_ANSWER).decode(errors="replace").strip().lower()
    except OSError:
        return ""


def _is_in_front() -> bool:
    """Whether a terminal is there, and what is typed there is for this program."""
    if not sys.stdin.isatty():
        return False
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:  # a terminal that starts and stops nobody
        return True


def hidden_line(prompt: str) -> str:
    """What a person types without an echo, or the first line of stdin."""
    with interruptible():
        if not sys.stdin.isatty():
            return sys.stdin.readline()
        try:
            return getpass.getpass(cleaned(prompt))
        except EOFError:
            raise CommandProblem("nothing was given") from None


def standard_input() -> bytes:
    with interruptible():
        return sys.stdin.buffer.read()
