"""One started process: ready or ended, stopped within a bound; with a Launch also unable to outlive this one."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_LAUNCHER = Path(__file__).with_name("launcher.py")
_LINE_LIMIT = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start, as whom, and which signal it gets when the supervisor dies."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    death_signal: signal.Signals = signal.SIGKILL
    user: int | None = None
    listeners: tuple[socket.socket, ...] = ()
    """Handed to the process, which then needs none of its own; the supervisor keeps them open for the next one."""
    folder: Path | None = None
    """Where it runs; None for the folder of the supervisor."""

    def arguments(self) -> tuple[str, ...]:
        user = -1 if self.user is None else self.user
        numbers = (os.getpid(), int(self.death_signal), user)
        handed = ",".join(map(str, self.descriptors)) or "-"
        return (sys.executable, "-I", "-S", str(_LAUNCHER), *map(str, numbers), handed, *self.command)

    @property
    def descriptors(self) -> tuple[int, ...]:
        return tuple(listener.fileno() for listener in self.listeners)


class Child:
    """A process that was started in the group of this one, or by `start`, which gives it a group of its own."""

    def __init__(self, process: asyncio.subprocess.Process, *, leads_group: bool = False) -> None:
        self._process = process
        self._leads_group = leads_group

    @classmethod
    async def start(cls, launch: Launch, output: int | IO[bytes] = asyncio.subprocess.PIPE) -> "Child":
        """The launcher replaces itself, so `pid` is the command's own process id and group."""
        process = await asyncio.create_subprocess_exec(
            *launch.arguments(),
            env=dict(launch.environment),
            cwd=launch.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            pass_fds=launch.descriptors,
            limit=_LINE_LIMIT,
        )
        return cls(process, leads_group=True)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return self._process.returncode

    @property
    def output(self) -> asyncio.StreamReader | None:
        return self._process.stdout

    async def wait(self) -> int:
        return await self._process.wait()

    async def becomes_ready(
        self, ready: Callable[[], Awaitable[bool]], pause_seconds: float, seconds: float | None
    ) -> bool:
        """Asks again and again. False when the process ended first, and when it runs and is not ready in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.exit_code is None:
                    if await ready():
                        return True
                    await asyncio.sleep(pause_seconds)
        return False

    async def stop(self, polite: signal.Signals, seconds: float, forced: signal.Signals = signal.SIGKILL) -> None:
        """Sends `polite`, waits `seconds` at most, sends `forced`. Nothing of the group is left, even if cancelled."""
        try:
            self.send(polite)
            if not await self._gone_within(seconds):
                self.send(forced)
                await self._gone_within(seconds)
        finally:
            self.send(signal.SIGKILL)
            await self._process.wait()  # even if cancelled, as nobody else would take its exit code

    def send(self, number: signal.Signals) -> None:
        """To its own group, where it has one: also to processes that the command started."""
        try:
            if self._leads_group:
                os.killpg(self._process.pid, number)
            elif self._process.returncode is None:
                # Not by the library's send_signal: it waits for the process first, and the loop then has no exit code.
                os.kill(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return  # nobody is left; a zombie of another user answers the second way

    async def _gone_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._process.wait()
        except TimeoutError:
            return False
        return True


def describe_exit(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    return f"signal {signal.Signals(-code).name}" if -code in signal.valid_signals() else f"signal {-code}"
