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

import h11

from proof.record import TERMINAL_EVENTS, CallResult
from tests.support.callers import connected, post

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
class AnswerSoFar:
    """As much of an HTTP answer as has come."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    complete: bool = False

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


def _reader() -> h11.Connection:
    """It reads no answer before a request: any will do."""
    reader = h11.Connection(h11.CLIENT)
    reader.send(h11.Request(method="POST", target="/", headers=[("host", "test")]))
    reader.send(h11.EndOfMessage())
    return reader


@dataclass
class Caller:
    """One connection; times are seconds of the real clock."""

    sock: socket.socket
    began: float = field(default_factory=time.time)
    received: bytes = b""
    left_at: float | None = None
    _answer: AnswerSoFar = field(default_factory=AnswerSoFar)
    _reader: h11.Connection = field(default_factory=_reader)
    _last_at: float | None = None

    async def send(self, content: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.sock, content)

    async def until(self, mark: bytes, seconds: float = 10.0) -> bool:
        """Reads until the mark has arrived; False when the connection ended before."""
        async with asyncio.timeout(seconds):
            while mark not in self.received:
                if not await self._receive():
                    return False
        return True

    @property
    def is_answered(self) -> bool:
        return self._answer.complete

    async def take(self, size: int) -> bool:
        """So many bytes at most, as soon as there are some; False at the end of the connection."""
        return await self._receive(size)

    async def answer(self, seconds: float = 30.0) -> CallResult:
        """Reads one answer to its proper end, or as far as it comes within the time."""
        await self.whole(seconds)
        return self.result()

    async def whole(self, seconds: float) -> bytes | None:
        """Likewise; the body of an answer that came to its proper end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self._answer.complete and await self._receive():
                    pass
        return self._answer.body if self._answer.complete else None

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
        return self._answer.result(self.began, self._last_at or time.time(), left=self.left_at is not None)

    async def _receive(self, size: int = _AT_ONCE) -> bool:
        try:
            piece = await asyncio.get_running_loop().sock_recv(self.sock, size)
        except OSError:
            return False
        self.received += piece
        self._last_at = time.time()
        if piece:
            self._reader.receive_data(piece)
            self._read()
        return bool(piece)

    def _read(self) -> None:
        while not self._answer.complete:
            match self._reader.next_event():
                case h11.Response() as head:
                    self._answer.status = head.status_code
                    self._answer.headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
                case h11.Data(data=data):
                    self._answer.body += bytes(data)
                case h11.EndOfMessage():
                    self._answer.complete = True
                case _:
                    return


def request(path: str, body: bytes, token: str, *, stream: bool) -> bytes:
    """A whole POST of an invocation."""
    accept = b"text/event-stream" if stream else b"application/json"
    return post(path, body, ((b"accept", accept), (b"authorization", b"Bearer " + token.encode())))


@asynccontextmanager
async def calling(port: int, *, window: int | None = None) -> AsyncIterator[Caller]:
    """Connected, nothing sent yet."""
    async with connected(port, window=window) as sock:
        yield Caller(sock)
