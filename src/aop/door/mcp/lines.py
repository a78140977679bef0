"""Lines on descriptors that a host gave us, such as stdin and stdout: waited for in the event loop, left as they are.

They are not made non-blocking: a terminal is shared with the shell, which would find it so. A descriptor that is ready
gives what it has, and takes as much as a pipe takes at once. A file can not be waited for, and is always ready.
"""

import asyncio
import os
import select
import stat
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

_PIECE_BYTES: Final = 64 * 1024


async def lines_of(descriptor: int, max_bytes: int) -> AsyncGenerator[bytes | None, None]:
    """Each line without its end, also a last one that has none. None stands for a line of more than `max_bytes`."""
    line = bytearray()
    while piece := await _piece(descriptor):
        *ends, rest = piece.split(b"\n")
        for end in ends:
            line += end
            yield _bounded(line, max_bytes)
            line.clear()
        line += rest
        del line[max_bytes + 1 :]  # of a long line no more is held than shows that it is too long
    if line:
        yield _bounded(line, max_bytes)


def _bounded(line: bytearray, max_bytes: int) -> bytes | None:
    return bytes(line) if len(line) <= max_bytes else None


async def _piece(descriptor: int) -> bytes:
    """Nothing at the end, which may also come as an error: of a terminal that was closed, or of a socket."""
    loop = asyncio.get_running_loop()
    while True:
        await _ready(descriptor, loop.add_reader, loop.remove_reader)
        try:
            return os.read(descriptor, _PIECE_BYTES)
        except BlockingIOError:  # the host has made it non-blocking, and somebody else was faster
            continue
        except OSError:
            return b""


async def write_line(descriptor: int, line: bytes) -> None:
    """Whole, unless it is cancelled. A ConnectionError when no one can read it any more."""
    loop = asyncio.get_running_loop()
    rest = memoryview(line + b"\n")
    while rest:
        await _ready(descriptor, loop.add_writer, loop.remove_writer)
        with suppress(BlockingIOError):
            rest = rest[os.write(descriptor, rest[: select.PIPE_BUF]) :]


async def _ready(descriptor: int, add: Callable[..., Any], remove: Callable[[int], Any]) -> None:
    ready = asyncio.Event()
    try:
        add(descriptor, ready.set)
    except OSError:  # no pipe, socket or terminal: it never blocks, or says itself what is wrong with it
        return
    try:
        await ready.wait()
    finally:
        remove(descriptor)


@contextmanager
def when_reader_leaves(descriptor: int, other: int, gone: Callable[[], object]) -> Iterator[None]:
    """Inside, `gone` is called when the far end of the pipe or socket that we write to was closed.

    Not when it is the same as the `other`, from which we read: it is also ready when something has arrived. Nor of a
    terminal, for the same reason.
    """
    loop, here = asyncio.get_running_loop(), os.fstat(descriptor)
    watched = stat.S_ISFIFO(here.st_mode) or stat.S_ISSOCK(here.st_mode)
    if not watched or os.path.samestat(here, os.fstat(other)):
        yield
        return

    def leave() -> None:
        loop.remove_reader(descriptor)
        gone()

    loop.add_reader(descriptor, leave)
    try:
        yield
    finally:
        loop.remove_reader(descriptor)
