"""Turns ASGI response messages into bytes: framing, the head's own fields, no injection."""

import time
from collections.abc import Iterable, Sequence
from email.utils import formatdate
from typing import Final

from aop.net.headers import require_lines, require_name
from aop.net.own_server import SERVER_FIELDS, FixedHead, status_line

_COALESCED_BYTES: Final = 64 * 1024

_date_second = 0
_date_line = b""


def empty_answer(status: int) -> bytes:
    """The server's own answer, after which it closes."""
    return whole_answer(status, ((b"cache-control", b"no-store"),), b"")


def whole_answer(status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> bytes:
    """An answer to no request in particular, after which the server closes."""
    lines = [status_line(status), _date(), *map(b": ".join, headers)]
    lines += (b"connection: close", b"content-length: %d" % len(body), b"", body)
    return b"\r\n".join(lines)


class ResponseEncoder:
    """One response; the head waits for the first body message, so that a small answer is one write.

    An empty body message with `more_body` sends the head alone.
    """

    # Before anything is sent.
    head_sent = False
    finished = False
    keep_alive = False
    _status = 0
    _headers: Sequence[tuple[bytes, bytes]] = ()
    _chunked = False
    _left: int | None = None

    def __init__(self, method: str, version: str) -> None:
        self._version = version
        self._bodiless = method == "HEAD"

    def start(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        if self._status:
            raise RuntimeError("the response has already started")
        if not 200 <= status <= 599:
            raise ValueError("a final status is 200 to 599")
        self._headers = [*headers]
        for name, _ in self._headers:
            require_name(name)
        require_lines([value for _, value in self._headers])
        self._status = status

    def whole(self, head: FixedHead, values: tuple[bytes, ...], body: bytes, *, keep_alive: bool) -> bytes:
        """The same as `start` and `body` for a whole answer, in one step."""
        if self._status:
            raise RuntimeError("the response has already started")
        require_lines(values)
        self._status = head.status
        self.head_sent = self.finished = True
        self.keep_alive = keep_alive
        end = b"\r\n\r\n" if keep_alive else b"\r\nconnection: close\r\n\r\n"
        length, sent = b"\r\ncontent-length: %d" % len(body), b"" if self._bodiless else body
        return b"".join((head.before_date, _date(), head.varying_lines % values, length, end, sent))

    def body(self, body: bytes, *, more: bool, keep_alive: bool) -> list[bytes]:
        """The bytes to write, in order."""
        if not self._status or self.finished:
            raise RuntimeError("a body belongs between the start and the end of a response")
        parts = []
        if not self.head_sent:
            parts.append(self._head(len(body), more=more, keep_alive=keep_alive))
        if body and not self._bodiless:
            parts += self._content(body)
        if not more:
            if self._left and not self._bodiless:
                raise RuntimeError("the body is shorter than its content-length")
            if self._chunked:
                parts.append(b"0\r\n\r\n")
            self.finished = True
        self.head_sent = True
        if len(parts) > 1 and len(body) <= _COALESCED_BYTES:
            return [b"".join(parts)]
        return parts

    def _head(self, size: int, *, more: bool, keep_alive: bool) -> bytes:
        self.keep_alive = keep_alive
        lines = [status_line(self._status), _date()]
        for name, value in self._headers:
            if name == b"content-length":
                self._declare(value)
                if self._status == 204:
                    continue
            elif name in SERVER_FIELDS:
                # Only the wish to close is taken over; framing and date are the server's.
                self.keep_alive = self.keep_alive and (name, value.lower()) != (b"connection", b"close")
                continue
            lines.append(b"%b: %b" % (name, value))
        if self._status in {204, 304}:
            self._bodiless = True
        elif self._left is None:
            lines += self._framing(size, more=more)
        if not self.keep_alive:
            lines.append(b"connection: close")
        lines += (b"", b"")
        return b"\r\n".join(lines)

    def _declare(self, length: bytes) -> None:
        if self._left is not None or not length.isdigit():
            raise ValueError("content-length is one number")
        self._left = int(length)

    def _framing(self, size: int, *, more: bool) -> tuple[bytes, ...]:
        if not more:
            self._left = size
            return (b"content-length: %d" % size,)
        if self._version == "1.1":
            self._chunked = not self._bodiless
            return (b"transfer-encoding: chunked",)
        self.keep_alive = False  # the end of the connection is the end of the body
        return ()

    def _content(self, body: bytes) -> tuple[bytes, ...]:
        if self._chunked:
            return (b"%x\r\n" % len(body), body, b"\r\n")
        if self._left is not None:
            if len(body) > self._left:
                raise RuntimeError("the body is longer than its content-length")
            self._left -= len(body)
        return (body,)


def _date() -> bytes:
    global _date_second, _date_line
    now = int(time.time())
    if now != _date_second:
        _date_second, _date_line = now, b"date: " + formatdate(now, usegmt=True).encode("ascii")
    return _date_line
