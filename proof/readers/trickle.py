"""Readers who take a little of a large answer every half second.

Every other one takes 2 KB with the smallest window, the others 6 KB in segments as on a network.
"""

import asyncio
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

_TAKEN_BYTES, _MORE_TAKEN_BYTES = 2048, 6144
_PAUSE_SECONDS = 0.5
_SMALL_WINDOW = 4096
_SEGMENT = 1400


@dataclass
class Reader:
    """How one reader fared: its first line, how much it took, and how old it was when the platform cut it."""

    status: str = ""
    taken: int = 0
    cut_after: float | None = None

    @property
    def refused(self) -> bool:
        return self.status.startswith("HTTP/1.1 503")


async def trickle(port: int, requests: Sequence[bytes], seconds: float) -> list[Reader]:
    """One reader for each request, all at once, for so long."""
    reading = [_read(port, request, seconds, small=number % 2 == 0) for number, request in enumerate(requests)]
    return await asyncio.gather(*reading)


async def _read(port: int, request: bytes, seconds: float, *, small: bool) -> Reader:
    found, loop, begun = Reader(), asyncio.get_running_loop(), time.monotonic()
    with socket.socket() as reader:
        if small:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_WINDOW)
        else:
            reader.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, _SEGMENT)
        reader.setblocking(False)
        try:
            await loop.sock_connect(reader, ("127.0.0.1", port))
            await loop.sock_sendall(reader, request)
            while time.monotonic() - begun < seconds:
                if not _take(reader, found, _TAKEN_BYTES if small else _MORE_TAKEN_BYTES):
                    break
                await asyncio.sleep(_PAUSE_SECONDS)
            else:
                return found
        except ConnectionError:
            pass
    found.cut_after = time.monotonic() - begun
    return found


def _take(reader: socket.socket, found: Reader, size: int) -> bool:
    try:
        piece = reader.recv(size)
    except BlockingIOError:
        return True
    found.status = found.status or piece.split(b"\r\n")[0].decode("latin-1")
    found.taken += len(piece)
    return bool(piece)
