"""A caller on a bare socket: sends exactly what it is told, keeps every byte with its time, and leaves in any way."""

import asyncio
import ctypes
import json
import socket
import struct
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum

from proof.record import TERMINAL_EVENTS, CallResult

_AT_ONCE = 256 * 1024
_SO_ATTACH_FILTER = 26
_RETURN_NOTHING = struct.pack("HBBI", 6, 0, 0, 0)
"""One instruction of the kernel's packet filter: of every segment that arrives, keep no byte."""


class Leaving(StrEnum):
    FIN = "FIN"
    RST = "RST"
    HALF_CLOSE = "half-close"
    SILENT = "silent drop"
    PIPELINED = "pipelined then FIN"


@dataclass
class Caller:
    """One connection. `pieces` are what arrived, each with seconds of the real clock."""

    sock: socket.socket
    began: float = field(default_factory=time.time)
    pieces: list[tuple[float, bytes]] = field(default_factory=list)
    left_at: float | None = None
    closed: bool = False
    """The other side has ended the connection."""

    @property
    def received(self) -> bytes:
        return b"".join(piece for _, piece in self.pieces)

    async def send(self, content: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.sock, content)

    async def until(self, mark: bytes, seconds: float = 10.0) -> bool:
        """Reads until the mark has arrived; False when the connection ended before."""
        async with asyncio.timeout(seconds):
            while mark not in self.received:
                if not await self._receive():
                    return False
        return True

    async def answer(self, seconds: float = 30.0) -> CallResult:
        """Reads one answer to its proper end, or as far as it comes within the time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not AnswerSoFar.read(self.received).complete and await self._receive():
                    pass
        return self.result()

    def leave(self, way: Leaving) -> None:
        self.left_at = time.time()
        if way is Leaving.SILENT:
            # The kernel throws away whatever arrives, keepalive probes included: to the other side, a dead machine.
            code = ctypes.create_string_buffer(_RETURN_NOTHING)
            program = struct.pack("HxxxxxxP", 1, ctypes.addressof(code))
            self.sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
            return
        if way is Leaving.HALF_CLOSE:
            self.sock.shutdown(socket.SHUT_WR)
            return
        if way is Leaving.PIPELINED:
            with suppress(OSError):
                self.sock.send(b"GET /livez HTTP/1.1\r\nhost: test\r\n\r\n")
        if way is Leaving.RST:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def result(self) -> CallResult:
        read = AnswerSoFar.read(self.received)
        return read.result(
            self.began, self.pieces[-1][0] if self.pieces else time.time(), left=self.left_at is not None
        )

    async def _receive(self) -> bool:
        try:
            piece = await asyncio.get_running_loop().sock_recv(self.sock, _AT_ONCE)
        except OSError:
            piece = b""
        if not piece:
            self.closed = True
            return False
        self.pieces.append((time.time(), piece))
        return True


@dataclass(frozen=True)
class AnswerSoFar:
    """As much of an HTTP answer as the bytes hold."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    complete: bool = False

    @classmethod
    def read(cls, content: bytes) -> "AnswerSoFar":
        head, mark, rest = content.partition(b"\r\n\r\n")
        if not mark:
            return cls()
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        status = int(first.split(" ")[1])
        if headers.get("transfer-encoding") == "chunked":
            return cls(status, headers, *_dechunked(rest))
        length = int(headers.get("content-length", "0"))
        return cls(status, headers, rest[:length], len(rest) >= length)

    def result(self, began: float, ended: float, *, left: bool) -> CallResult:
        trace_id = self.headers.get("x-platform-trace-id")
        found = CallResult(began, ended, self.status, trace_id, complete=self.complete, left=left, body=self.body)
        if self.headers.get("content-type") == "text/event-stream":
            frames = [frame for frame in self.body.split(b"\n\n")[:-1] if frame.startswith(b"data: ")]
            found.events = [json.loads(frame[6:]) for frame in frames]
            last = found.events[-1] if found.events else {}
            found.invocation_id = found.events[0]["invocationId"] if found.events else None
            found.code, found.outcome = last.get("error", {}).get("code"), TERMINAL_EVENTS.get(last.get("type", ""))
        elif self.complete:
            with suppress(ValueError):
                found.read_document(json.loads(self.body))
        return found


def _dechunked(content: bytes) -> tuple[bytes, bool]:
    """The body as far as whole chunks of it are there, and whether that is all of it."""
    body: list[bytes] = []
    while True:
        size, mark, rest = content.partition(b"\r\n")
        if not mark or len(rest) < int(size, 16) + 2:
            return b"".join(body), False
        if int(size, 16) == 0:
            return b"".join(body), True
        body.append(rest[: int(size, 16)])
        content = rest[int(size, 16) + 2 :]


def request(path: str, body: bytes, token: str, *, stream: bool) -> bytes:
    """A whole POST of an invocation."""
    accept = b"text/event-stream" if stream else b"application/json"
    lines = [b"POST %b HTTP/1.1" % path.encode(), b"host: test", b"content-type: application/json"]
    lines += [b"accept: " + accept, b"authorization: Bearer " + token.encode(), b"content-length: %d" % len(body)]
    return b"\r\n".join([*lines, b"", body])


@asynccontextmanager
async def calling(port: int, *, window: int | None = None) -> AsyncIterator[Caller]:
    """Connected, nothing sent yet; `window` makes the receive buffer small. Leaves in the end if it has not."""
    sock = socket.socket()
    try:
        if window is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        yield Caller(sock)
    finally:
        sock.close()
