"""What the supervisor must know of one unit, and how it tells that the unit is ready."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from aop.processes.child import Launch

Ready = Callable[[int], Awaitable[bool]]
"""Called with the process id, again and again, until it returns True."""

_ANSWER_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class SupervisedUnit:
    name: str
    launch: Launch
    ready: Ready
    stop_signal: signal.Signals = signal.SIGTERM
    forced_signal: signal.Signals = signal.SIGKILL
    stop_seconds: float = 5.0
    max_pause_seconds: float = 10.0
    """Before it is started again; the pause doubles while it keeps ending."""
    visible: bool = True
    """Whether its log also goes to the terminal."""
    label: str = ""
    """What people see and its log file is called, where that is not its name."""
    may_stay_down: bool = False
    """Whether the others go on when it refuses to run after it was ready; its last log lines then say why."""

    @property
    def called(self) -> str:
        return self.label or self.name


def answers_ready(origin: str) -> Ready:
    """Whether `/readyz` of that origin answers 200."""
    parts = urlsplit(origin)
    host, port = parts.hostname or "127.0.0.1", parts.port or 80
    request = f"GET /readyz HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode()

    async def ready(_: int) -> bool:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await _status(host, port, request) == b"200"
        except (OSError, TimeoutError, ValueError):
            return False

    return ready


async def _status(host: str, port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(request)
        line = await reader.readline()
        return line.split(b" ", 2)[1] if line.count(b" ") >= 1 else b""
    finally:
        writer.close()
