"""A terminal with a person in front of it: runs the command on a pseudo-terminal and answers its questions."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.waiting import PATIENCE_SECONDS

CTRL_C = "\x03"
Answers = Mapping[str, str | Callable[[], None]]


@dataclass(frozen=True)
class Session:
    code: int
    screen: str
    """Everything that was written, control sequences included."""


def at_terminal(
    *arguments: str, answers: Answers | None = None, folder: Path, data: Path | None = None, **settings: str
) -> Session:
    """`answers` are typed when the text before them has appeared, each once; what is no text is done instead."""
    environment = {
        "PATH": os.defpath,
        "TERM": "xterm-256color",
        "COLUMNS": "100",
        "AOP_DATA": str(data or os.devnull),
        "XDG_CONFIG_HOME": str(folder / "config"),
        **settings,
    }
    screen, inside = pty.openpty()
    command = [sys.executable, "-m", "aop", *arguments]
    with subprocess.Popen(
        command, env=environment, stdin=inside, stdout=inside, stderr=inside, start_new_session=True
    ) as process:
        os.close(inside)
        try:
            written = _watched(process, screen, dict(answers or {}))
        finally:
            os.close(screen)
            process.kill()
    return Session(process.returncode, written)


def _watched(process: "subprocess.Popen[bytes]", screen: int, answers: dict[str, str | Callable[[], None]]) -> str:
    written, deadline = "", time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if not select.select([screen], [], [], 0.5)[0]:
            continue
        try:
            written += os.read(screen, 65536).decode(errors="replace")
        except OSError:  # the other side is closed
            process.wait(PATIENCE_SECONDS)
            return written
        for question in [question for question in answers if question in written]:
            answer = answers.pop(question)
            if answer == CTRL_C:
                # Nobody is as fast as to press it between the question and the reading of the answer.
                time.sleep(0.5)
                process.send_signal(signal.SIGINT)
            elif callable(answer):
                answer()
            else:
                os.write(screen, answer.encode())
    raise AssertionError(f"it did not end:\n{written}")
