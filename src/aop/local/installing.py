"""Installs packages beside each other: says every few seconds what goes on, and when one step fails, all end at once.

It needs the standard library alone: it runs before there is any environment.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TypeVar

from aop.base.file_locks import try_lock
from aop.contracts.text import cleaned
from aop.local.install_problems import SetupFailed, explained, without_colours

T = TypeVar("T")
Say = Callable[[str], None]

_MAX_SILENCE = 2.0
_POLL_SECONDS = 0.1
_TAIL_BYTES = 400
_MAX_NOTE = 60
# Without a network an installer shall not try for minutes; whoever sets one of these has a reason.
_FEW_RETRIES = {
    "PIP_RETRIES": "2",
    "UV_HTTP_RETRIES": "2",
    "npm_config_fetch_retries": "1",
    "npm_config_fetch_retry_mintimeout": "1000",
    "npm_config_fetch_retry_maxtimeout": "3000",
    "npm_config_fetch_timeout": "60000",
}


class StoppedByOther(SetupFailed):
    """Another step failed; the message is of that one."""


class SetupProgress:
    """One set-up: its steps, the lines it says, and its end."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._lock = threading.Lock()
        self._began = self._said = time.monotonic()
        self._running: dict[str, Callable[[], str]] = {}
        self._ended = threading.Event()

    @classmethod
    def of(cls, say: Say) -> "SetupProgress":
        """The one that goes on already, or a new one."""
        return say if isinstance(say, cls) else cls(say)

    def __call__(self, text: str) -> None:
        with self._lock:
            self._said = time.monotonic()
            self._say(text)

    def together(self, *acts: Callable[[], T]) -> list[T]:
        """Runs them beside each other. The first that fails ends the others, and so does Ctrl-C."""
        with ThreadPoolExecutor(max(1, len(acts))) as pool:
            futures = [pool.submit(act) for act in acts]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                if not all(one.done() and one.exception() is None for one in futures):
                    self._ended.set()
        problems = [problem for one in futures if (problem := one.exception()) is not None]
        told = [problem for problem in problems if not isinstance(problem, StoppedByOther)] or problems
        if told:
            raise told[0]
        return [one.result() for one in futures]

    def run(
        self,
        step: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        folder: Path | None = None,
    ) -> None:
        """Raises SetupFailed with one sentence when the command fails; its output is shown in no other case."""
        with TemporaryFile() as output:
            try:
                code = self._ran(step, command, _FEW_RETRIES | dict(environment), folder, output)
            except OSError as problem:
                raise SetupFailed(f"{step}: {command[0]} cannot be run: {problem.strerror}") from None
            if code:
                output.seek(0)
                raise SetupFailed(explained(step, command, output.read().decode(errors="replace")))

    @contextmanager
    def step(self, name: str, note: Callable[[], str] = str) -> Iterator[None]:
        """It is named in the lines that say what goes on."""
        with self._lock:
            self._running[name] = note
        try:
            yield
        finally:
            with self._lock:
                del self._running[name]

    @contextmanager
    def alone(self, descriptor: int, what: str) -> Iterator[None]:
        """Holds the lock on an open file or folder; waits until it is free, and says so."""
        if not try_lock(descriptor):
            self(f"waiting for {what}, which another command does")
            with self.step(f"waiting for {what}"):
                while not try_lock(descriptor):
                    self.wait_a_little()
        yield  # whoever opened it closes it, which ends the lock

    def stop(self) -> None:
        """Ends every step that runs."""
        self._ended.set()

    def wait_a_little(self) -> None:
        """For a step that waits for something else; as `go_on`."""
        self._ended.wait(_POLL_SECONDS)
        self.go_on()

    def go_on(self) -> None:
        """Between the pieces of a step: says what goes on when it is time, raises when all shall end."""
        if self._ended.is_set():
            raise StoppedByOther("the set-up was stopped")
        self._break_silence()

    def _ran(
        self,
        step: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path | None,
        output: IO[bytes],
    ) -> int:
        # A session of its own, so that whatever the installer starts can be ended with it.
        child = subprocess.Popen(  # noqa: S603
            list(command),
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            with self.step(step, lambda: _last_line(output.fileno())):
                while (code := child.poll()) is None:
                    self.wait_a_little()
            return code
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()

    def _break_silence(self) -> None:
        with self._lock:
            now = time.monotonic()
            if now - self._said < _MAX_SILENCE:
                return
            self._said = now
            steps = [f"{name} ({text})" if (text := note()) else name for name, note in self._running.items()]
            self._say(f"still at it after {now - self._began:.0f} s: {', '.join(steps)}")


def _last_line(output: int) -> str:
    """The last output of an installer, so that a reader sees it move."""
    start = max(0, os.fstat(output).st_size - _TAIL_BYTES)
    text = without_colours(os.pread(output, _TAIL_BYTES, start).decode(errors="replace"))
    lines = (line.strip() for line in reversed(text.replace("\r", "\n").split("\n")))
    return cleaned(next(filter(None, lines), "")[:_MAX_NOTE], lines=False)
