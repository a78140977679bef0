"""Waiting for a person, or for a pipe: one Ctrl-C is enough, also in the middle of a running event loop."""

import getpass
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from aop.cli.problems import CommandProblem
from aop.contracts.text import cleaned


@contextmanager
def interruptible() -> Iterator[None]:
    """An event loop takes the first Ctrl-C for itself and cannot act on it while a read blocks it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except click.Abort:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, before)


def confirmed(question: str) -> bool:
    """Where there is nobody to ask, nobody confirms."""
    if not sys.stdin.isatty():
        return False
    with interruptible():
        return click.confirm(cleaned(question), err=True)


def hidden_line(prompt: str) -> str:
    """What a person types without seeing it, or the first line of the standard input."""
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
