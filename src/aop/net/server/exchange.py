"""One request and its response, as the ASGI application sees them."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Protocol
from urllib.parse import unquote_to_bytes

from aop.net.asgi import AnswerBroken, ASGIApp, Disconnect, Message, Scope
from aop.net.own_server import OWN_SERVER, FixedHead, OwnServer
from aop.net.server.request import RequestReader
from aop.net.server.response import ResponseEncoder

LOG = logging.getLogger("aop.server")

_PIECE_BYTES = 64 * 1024
_PERCENT = ord("%")
_ASGI = {"version": "3.0", "spec_version": "2.4"}
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


Address = tuple[str, int]


class PeerConnection(Protocol):
    """What an exchange needs of its connection."""

    @property
    def writable(self) -> bool: ...

    @property
    def max_write_bytes(self) -> int: ...

    def write(self, parts: Sequence[bytes | memoryview]) -> None: ...

    def write_comment(self, comment: bytes) -> None: ...

    def watch_pace(self) -> None: ...

    def resume_reading(self) -> None: ...

    def may_stay_open(self) -> bool: ...

    def exchange_finished(self, *, keep_alive: bool) -> None: ...

    def exchange_failed(self, *, answered: bool) -> None: ...


class Exchange:
    """Runs the application once; after a disconnect its sends are silent and its receives say so."""

    _body_received = False
    _writing = False
    _waiters: Sequence[asyncio.Future[None]] = ()

    def __init__(self, connection: PeerConnection, reader: RequestReader) -> None:
        self.disconnect = Disconnect()
        self._connection = connection
        self._reader = reader
        self._encoder = ResponseEncoder(reader.method, reader.version)

    def scope(self, client: Address | None, server: Address | None) -> Scope:
        """What ASGI names, and what only this server gives."""
        own: OwnServer = self
        reader, path = self._reader, self._reader.path
        return {
            "type": "http",
            "asgi": _ASGI,
            "http_version": reader.version,
            "method": reader.method,
            "scheme": "http",
            "path": path.decode("ascii") if _PERCENT not in path else unquote_to_bytes(path).decode("utf-8", "replace"),
            "raw_path": path,
            "query_string": reader.query,
            "root_path": "",
            "headers": reader.headers,
            "client": client,
            "server": server,
            OWN_SERVER: own,
        }

    @property
    def ambiguity(self) -> str | None:
        return self._reader.ambiguity

    async def run(self, app: ASGIApp, scope: Scope) -> None:
        try:
            await app(scope, self.receive, self.send)
            if not self._encoder.finished and not self.disconnect.is_set():
                LOG.error("the application returned before the end of its response")
        except AnswerBroken:
            pass  # the application knows, and says in its own log why
        except Exception:
            # The edge: nothing above could answer the peer. The unit's log keeps class and places, never the text.
            LOG.exception("the application raised")
        finally:
            if not self._encoder.finished and not self.disconnect.is_set():
                self._connection.exchange_failed(answered=self._encoder.head_sent)

    async def receive(self) -> Message:
        reader = self._reader
        if reader.expects_continue and not reader.complete:
            reader.expects_continue = False
            if not reader.pieces and not self._encoder.head_sent and not self.disconnect.is_set():
                self._connection.write([_CONTINUE])
        while True:
            if self.disconnect.is_set() or self._encoder.finished:
                return {"type": "http.disconnect"}
            if reader.pieces or (reader.complete and not self._body_received):
                self._body_received = reader.complete
                body = reader.take()
                self._connection.resume_reading()
                return {"type": "http.request", "body": body, "more_body": not self._body_received}
            await self._change()

    async def send(self, message: Message) -> None:
        if self.disconnect.is_set():
            return
        if message["type"] == "http.response.start":
            self._encoder.start(message["status"], message.get("headers", ()))
            return
        if message["type"] != "http.response.body":
            raise ValueError("a message that this server does not know")
        await self._send_body(message.get("body", b""), more=message.get("more_body", False))

    async def _send_body(self, body: bytes, *, more: bool) -> None:
        encoder = self._encoder
        if not self._connection.writable:  # after a part that was written past this, or a comment
            self._connection.watch_pace()
            await self._drained()
        parts = encoder.body(body, more=more, keep_alive=self._may_keep_alive())
        if len(body) > self._connection.max_write_bytes:
            await self._write_pieces(parts)
        else:
            self._connection.write(parts)
        # Also after the last part: a next request is not read before the peer has taken this answer.
        if not self._connection.writable:
            await self._drained()
        if encoder.finished and not self.disconnect.is_set():
            self._connection.exchange_finished(keep_alive=encoder.keep_alive)
            self.wake()

    async def _write_pieces(self, parts: Iterable[bytes]) -> None:
        """The transport never holds more than one piece: the rest stays where it is until the peer has drained that."""
        self._writing = True
        try:
            for part in parts:
                view = memoryview(part)
                for start in range(0, len(part), _PIECE_BYTES):
                    self._connection.write((view[start : start + _PIECE_BYTES],))
                    await self._drained()
                    if self.disconnect.is_set():
                        return
        finally:
            self._writing = False

    async def _drained(self) -> None:
        while not self._connection.writable and not self.disconnect.is_set():
            await self._change()

    def write_now(self, body: bytes) -> bool:
        connection, encoder = self._connection, self._encoder
        is_free = connection.writable and encoder.head_sent and not self._writing and not self.disconnect.is_set()
        if not is_free or encoder.finished or len(body) > connection.max_write_bytes:
            return False
        connection.write(encoder.body(body, more=True, keep_alive=encoder.keep_alive))
        return True

    def comment(self, body: bytes) -> None:
        if self._writing or not self._connection.writable or self._encoder.finished or self.disconnect.is_set():
            return
        parts = self._encoder.body(body, more=True, keep_alive=self._may_keep_alive())
        self._connection.write_comment(b"".join(parts))

    def whole_body(self) -> bytes | None:
        reader = self._reader
        if not reader.complete or self._body_received or self.disconnect.is_set():
            return None
        self._body_received = True
        body = reader.take()
        self._connection.resume_reading()
        return body

    async def answer(self, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> None:
        if not self.disconnect.is_set():
            self._encoder.start(status, headers)
            await self._send_body(body, more=False)

    async def answer_fixed(self, head: FixedHead, body: bytes, *values: bytes) -> None:
        connection = self._connection
        if len(body) > _PIECE_BYTES:
            await self.answer(head.status, head.headers(values), body)
        elif not self.disconnect.is_set():
            keep_alive = self._may_keep_alive()
            connection.write((self._encoder.whole(head, values, body, keep_alive=keep_alive),))
            if not connection.writable:
                await self._drained()
            if not self.disconnect.is_set():
                connection.exchange_finished(keep_alive=keep_alive)
                self.wake()

    def has_answered(self) -> bool:
        return self._encoder.head_sent

    def wake(self) -> None:
        """Something that a receive or a send may wait for has changed."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def peer_gone(self) -> None:
        self.disconnect.set()
        self.wake()

    def _may_keep_alive(self) -> bool:
        # The rest of a body that nobody will read cannot be distinguished from a next request.
        return self._reader.keep_alive and self._reader.complete and self._connection.may_stay_open()

    async def _change(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiters = (*self._waiters, waiter)
        try:
            await waiter
        finally:
            self._waiters = [other for other in self._waiters if other is not waiter]
