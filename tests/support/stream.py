"""A caller of result streams on a bare socket, which keeps every frame with its time, may stall, and leaves as told."""

import asyncio
import json
import re
import socket
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aop.contracts.documents import document
from aop.contracts.errors import ErrorCode, code_entries
from tests.support.callers import connected, post
from tests.support.loop import SPACE, Platform
from tests.support.units import Headers
from tests.support.waiting import PATIENCE_SECONDS, becomes_true

EVENT_STREAM = (b"accept", b"text/event-stream")
IDS = ("invocationId", "rootTaskId", "traceId")
TERMINALS = {"completed": "succeeded", "failed": "failed", "canceled": "canceled", "timed_out": "timed_out"}
_FRAME = re.compile(rb"data: (\{[^\r\n]*\})\n\n|(:\n\n)")
_RECEIVED_AT_ONCE = 256 * 1024


@dataclass(frozen=True)
class Frame:
    """One frame as it came off the wire, and when; a comment has no event."""

    at: float
    raw: bytes
    event: dict[str, Any] | None


class StreamCaller:
    """Whatever is not a Stream Event v2 in its framing, order and identity fails the test that reads it."""

    def __init__(self, sock: socket.socket) -> None:
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self.frames: list[Frame] = []
        self.events: list[dict[str, Any]] = []
        self.body = b""
        self.ended = False
        """The response came to its proper end."""
        self._socket = sock
        self._wire = b""
        self._unread = b""

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def chunks(self) -> list[Any]:
        return [event["chunk"] for event in self.events if event["type"] == "chunk"]

    @property
    def chunk_bytes(self) -> int:
        """Of JSON, in all chunks."""
        marks = [frame.raw.partition(b',"chunk":')[2] for frame in self.frames]
        return sum(len(mark) - len(b"}\n\n") for mark in marks if mark)

    @property
    def invocation_id(self) -> str:
        return str(self.events[0]["invocationId"])

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    async def head(self, seconds: float = PATIENCE_SECONDS) -> None:
        async with asyncio.timeout(seconds):
            while b"\r\n\r\n" not in self._wire:
                assert await self._receive(), "closed before the end of the head"
        head, _, self._wire = self._wire.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(first.split(" ")[1])
        pairs = [line.partition(":") for line in lines]
        self.headers = [(name.lower(), value.strip()) for name, _, value in pairs]
        assert self.values("transfer-encoding") == ["chunked"] or self.status != 200

    async def frame(self, seconds: float = PATIENCE_SECONDS) -> Frame | None:
        """The next frame, comments included; None at the proper end of the response."""
        async with asyncio.timeout(seconds):
            while True:
                match = _FRAME.match(self._unread)
                if match is not None:
                    self._unread = self._unread[match.end() :]
                    return self._kept(match)
                self._require_beginning()
                if self.ended:
                    assert self._unread == b"", "the response ended inside a frame"
                    return None
                await self._more()

    async def event(self, kind: str | None = None, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        """The next event, which is of this type."""
        while True:
            frame = await self.frame(seconds)
            assert frame is not None, f"the stream ended after {self.types}"
            if frame.event is not None:
                assert kind in {None, frame.event["type"]}, frame.event
                return frame.event

    async def rest(self, seconds: float = PATIENCE_SECONDS) -> list[dict[str, Any]]:
        """Reads to the end of the response; all events of the stream."""
        async with asyncio.timeout(seconds):
            while await self.frame(seconds) is not None:
                pass
        return self.events

    async def whole(self, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        """Reads a stream that ends in exactly one terminal, last; gives that."""
        events = await self.rest(seconds)
        assert events[-1]["type"] in TERMINALS, self.types
        return events[-1]

    async def text(self, seconds: float = PATIENCE_SECONDS) -> bytes:
        """The body of an answer that is no stream."""
        async with asyncio.timeout(seconds):
            while len(self._wire) < int(self.values("content-length")[0]):
                assert await self._receive()
        return self._wire

    def leave(self) -> None:
        """In good order: FIN."""
        self._socket.close()

    def reset(self) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def half_close(self) -> None:
        """Says that nothing more will be sent, and stays."""
        self._socket.shutdown(socket.SHUT_WR)

    def _kept(self, match: re.Match[bytes]) -> Frame:
        event = None if match[1] is None else json.loads(match[1])
        if event is not None:
            self._require_next(event)
            self.events.append(event)
        self.frames.append(Frame(asyncio.get_running_loop().time(), match[0], event))
        return self.frames[-1]

    def _require_next(self, event: dict[str, Any]) -> None:
        assert document("invocation-stream-event/2").violations(event) == (), event
        before = self.events
        assert event["sequence"] == len(before)
        assert (event["type"] == "accepted") == (not before)
        assert event["type"] != "chunk" or event["chunkIndex"] == len(before) - 1
        assert not before or before[-1]["type"] not in TERMINALS, "an event after the terminal"
        assert not before or all(event[name] == before[0][name] for name in IDS)
        if "error" in event:
            error = event["error"]
            assert [error[name] for name in IDS] == [event[name] for name in IDS]
            assert error["message"] == code_entries()[ErrorCode(error["code"])].message
            reserved = {"timed_out": "TIMEOUT", "canceled": "CANCELED"}.get(event["type"])
            assert error["code"] == reserved if reserved else error["code"] not in {"TIMEOUT", "CANCELED"}

    def _require_beginning(self) -> None:
        line = self._unread
        assert line.startswith((b"data: {", b":\n")) or b"data: {".startswith(line) or line == b":", line[:80]
        assert b"\r" not in line, line[:80]
        assert b"\n" not in line[:-1], line[:80]

    async def _more(self) -> None:
        """At least one chunk of the body, or its end."""
        while True:
            size, mark, rest = self._wire.partition(b"\r\n")
            if mark and len(rest) >= int(size, 16) + 2:
                content = rest[: int(size, 16)]
                self._wire = rest[len(content) + 2 :]
                self.body += content
                self._unread += content
                self.ended = not content
                return
            assert await self._receive(), f"cut off after {self.types}"

    async def _receive(self) -> bool:
        received = await asyncio.get_running_loop().sock_recv(self._socket, _RECEIVED_AT_ONCE)
        self._wire += received
        return bool(received)


@asynccontextmanager
async def calling(
    port: int, path: str, body: bytes, headers: Headers, *, window: int | None = None
) -> AsyncIterator[StreamCaller]:
    """A caller whose request is sent."""
    async with connected(port, window=window) as sock:
        await asyncio.get_running_loop().sock_sendall(sock, post(path, body, headers))
        yield StreamCaller(sock)


@asynccontextmanager
async def requesting(
    platform: Platform,
    content: bytes = b"{}",
    *,
    accept: Sequence[bytes] = (b"text/event-stream",),
    window: int | None = None,
    **members: Any,
) -> AsyncIterator[StreamCaller]:
    """A caller of the Gateway who asks for a stream and has read nothing yet."""
    headers = [(b"authorization", f"Bearer {platform.token}".encode()), *((b"accept", value) for value in accept)]
    body = platform.request(content, **{"stream": True, **members})
    path = f"/v1/workspaces/{SPACE}/invocations"
    async with calling(platform.gateway.port, path, body, headers, window=window) as caller:
        yield caller


@asynccontextmanager
async def streaming(platform: Platform, content: bytes = b"{}", **members: Any) -> AsyncIterator[StreamCaller]:
    """Likewise, and the stream was accepted."""
    async with requesting(platform, content, **members) as caller:
        await caller.head()
        assert caller.status == 200, await caller.text()
        await caller.event("accepted")
        yield caller


async def require_agreement(platform: Platform, caller: StreamCaller) -> Any:
    """What the caller saw, to the end, is what the Ledger tells; gives its detail."""
    terminal = caller.events[-1]
    detail = await platform.ended(caller.invocation_id)
    last = detail["events"][-1]
    assert last["type"] == TERMINALS[terminal["type"]]
    assert last.get("error") == terminal.get("error")
    assert detail["invocation"].get("reason") == terminal.get("error", {}).get("reason")
    assert [detail["invocation"][name] for name in IDS] == [terminal[name] for name in IDS]
    progress = [event for event in detail["events"] if event["type"] == "stream"]
    assert sum(event["chunkCount"] for event in progress) == len(caller.chunks)
    assert sum(event["chunkBytes"] for event in progress) == caller.chunk_bytes
    assert not progress or progress[-1]["chunkIndex"] == len(caller.chunks) - 1
    return detail


async def require_sent(platform: Platform, caller: StreamCaller, *, cancels: bool) -> None:
    """The Agent got one message, and one cancel or none, which follows the terminal."""
    expected = ["message/stream", *["tasks/cancel"] * cancels]

    async def is_so() -> bool:
        return platform.agent.methods(caller.invocation_id) == expected

    await becomes_true(is_so)
    await asyncio.sleep(0.03)
    assert await is_so()
