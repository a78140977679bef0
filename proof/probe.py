"""Asks a unit over and over whether it lives, and counts what the unit's own loop did before it answered."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

_ASK = b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@dataclass
class Probed:
    """Milliseconds of processor time that the thread of the event loop took between a question and its answer."""

    gaps: list[float] = field(default_factory=list)
    during: str = ""
    """What goes on now, as told by whoever provokes it."""
    longest: float = 0.0
    longest_during: str = ""

    def take(self, gap: float) -> None:
        self.gaps.append(gap)
        if gap > self.longest:
            self.longest, self.longest_during = gap, self.during


def loop_ms(pid: int) -> float:
    """Processor time of the first thread, in which a unit has its event loop."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e6


@asynccontextmanager
async def probing(pid: int, port: int, seconds: float = 0.01) -> AsyncIterator[Probed]:
    """A pause of the machine is no gap: time in which the unit did not run is not counted."""
    probed = Probed()

    async def go_on() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            while True:
                before = loop_ms(pid)
                writer.write(_ASK)
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                assert head.startswith(b"HTTP/1.1 200"), head
                probed.take(loop_ms(pid) - before)
                await asyncio.sleep(seconds)
        finally:
            writer.close()

    task = asyncio.create_task(go_on())
    try:
        yield probed
    finally:
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled():
            task.result()
