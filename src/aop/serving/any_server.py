"""Runs an application of ours on any ASGI server: adds what only our own server puts into the scope.

ADR 1 says what holds on such a server and what is lost. A request of our own server never comes here.
"""

import asyncio
from urllib.parse import quote_from_bytes

from aop.net.asgi import ASGIApp, Disconnect, Message, Receive, Scope, Send
from aop.net.headers import VISIBLE, without_underscores

DISCONNECTED = "aop.disconnected"
"""Only our own server sets this member of the scope."""
_EMPTY_BODY: Message = {"type": "http.request", "body": b"", "more_body": False}
_GONE: Message = {"type": "http.disconnect"}


async def on_any_server(application: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":  # an exception is how an ASGI server learns that the application has no lifespan
        raise RuntimeError("only HTTP is served")
    headers, imitates = without_underscores(list(scope["headers"]))
    declares_body = any(name in {b"content-length", b"transfer-encoding"} for name, _ in headers)
    exchange = _Exchange(receive, send, declares_body=declares_body)
    path = scope.get("raw_path") or str(scope["path"]).encode()
    completed: Scope = {
        **scope,
        "headers": headers,
        "raw_path": quote_from_bytes(path, safe=VISIBLE).encode("ascii"),
        DISCONNECTED: exchange.disconnect,
        "aop.comment": exchange.comment,
        "aop.ambiguity": "header_name" if imitates else None,
    }
    try:
        await application(completed, exchange.receive, exchange.send)
    finally:
        await exchange.close()


class _Exchange:
    """One request on a server that reports a leaving peer only to a caller of `receive`.

    A task waits there as soon as no more of the body is to come, or to be read because the answer has begun. Sends are
    made one at a time, because a comment may be due while an event is being sent.
    """

    def __init__(self, receive: Receive, send: Send, *, declares_body: bool) -> None:
        self.disconnect = Disconnect()
        self._receive = receive
        self._send = send
        self._sending = asyncio.Lock()
        self._finished = False
        self._body_received = False
        self._watch: asyncio.Task[None] | None = None
        self._comments: set[asyncio.Task[None]] = set()
        if not declares_body:
            self._watch = asyncio.create_task(self._watch_peer())

    async def receive(self) -> Message:
        if self._watch is None:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self.disconnect.set()
            elif not message.get("more_body", False):
                self._body_received = True
                self._watch = asyncio.create_task(self._watch_peer())
            return message
        if not self._body_received:
            self._body_received = True
            return _EMPTY_BODY
        await self.disconnect.wait()
        return _GONE

    async def send(self, message: Message) -> None:
        async with self._sending:
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                # Servers also report a disconnect when an answer has ended in the ordinary way.
                self._finished = True
                if self._watch is not None:
                    self._watch.cancel()
            elif self._watch is None:
                self._watch = asyncio.create_task(self._watch_peer())
            await self._deliver(message)

    def comment(self, body: bytes) -> None:
        """Left out while anything is being sent."""
        if not self._sending.locked():
            task = asyncio.create_task(self._send_comment(body))
            self._comments.add(task)
            task.add_done_callback(self._comments.discard)

    async def close(self) -> None:
        """Nothing of the exchange runs any more when this returns."""
        tasks = {*self._comments, *([] if self._watch is None else [self._watch])}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _send_comment(self, body: bytes) -> None:
        async with self._sending:
            if not self._finished:
                await self._deliver({"type": "http.response.body", "body": body, "more_body": True})

    async def _deliver(self, message: Message) -> None:
        if self.disconnect.is_set():
            return
        try:
            await self._send(message)
        except OSError:  # the form in which some servers report that the peer is gone
            self.disconnect.set()

    async def _watch_peer(self) -> None:
        """What is left of a body is dropped: nobody will read it."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.disconnect.set()
