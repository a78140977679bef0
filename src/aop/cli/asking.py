"""Waits for a person or a pipe. One Ctrl-C is enough, also inside a running event loop."""

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
    """An event loop handles the first Ctrl-C itself, but a blocking read keeps it from acting."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except click.Abort:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, before)


def confirmed(question: str) -> bool:
    """Without a terminal the answer is no."""
    if not sys.stdin.isatty():
        return False
    with interruptible():
        return click.confirm(cleaned(question), err=True)


def answered(question: str, default: str | None) -> str | None:
    """What a person types, or the default. Without a terminal there is no answer."""
    if not sys.stdin.isatty():
        return None
    with interruptible():
        text: str = click.prompt(cleaned(question), default=default or "", show_default=default is not None, err=True)
    return text.strip() or None


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
