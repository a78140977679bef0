"""A caller of the simulated Router, in place of the HTTP server: reads at its pace, stalls, leaves, and keeps all."""

import asyncio
import re
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from aop.net.asgi import Disconnect
from aop.net.own_server import OWN_SERVER, FixedHead
from proof.caller import AnswerSoFar
from proof.record import CallResult
from tests.ledger.simulated.loop import History

_NAMED = re.compile(rb'"(?:type|code)":"(\w+)"')


class Caller:
    def __init__(self, name: str, stalls: float, history: History) -> None:
        self.name = name
        self.gone = Disconnect()
        self.answered_at = 0.0
        self._stalls = stalls
        self._status: int | None = None
        self._headers: Mapping[str, str] = {}
        self._body = b""
        self._finished = False
        self._place = 0
        self._history = history

    @property
    def result(self) -> CallResult:
        """In place of its end it has the place in the history where it was answered."""
        read = AnswerSoFar(self._status, self._headers, self._body, self._finished)
        return read.result(0, self._place, left=self.gone.is_set())

    def leave(self) -> None:
        if not self.gone.is_set() and not self._finished:
            self._history.note(self.name, "caller left")
            self._history.hit("caller left")
            self.gone.set()

    def scope(self, path: bytes, token: str, body: bytes, *, stream: bool) -> MutableMapping[str, Any]:
        accept = b"text/event-stream" if stream else b"application/json"
        return {
            "type": "http",
            "method": "POST",
            "raw_path": path,
            "query_string": b"",
            "headers": [
                (b"authorization", b"Bearer " + token.encode("ascii")),
                (b"content-type", b"application/json"),
                (b"accept", accept),
            ],
            OWN_SERVER: _Served(self, body),
        }

    def comment(self, piece: bytes) -> None:
        """As the server does: left out while the peer takes nothing."""
        if not self.gone.is_set() and not self._finished and not self._stalls:
            self._take(piece, is_last=False)

    async def receive(self) -> MutableMapping[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """As the server does: after the peer has gone a send is silent, and one to a peer that stalls waits."""
        if self.gone.is_set():
            return
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = {name.decode(): value.decode() for name, value in message["headers"]}
            return
        self._take(message.get("body", b""), is_last=not message.get("more_body", False))
        if self._stalls:
            self._history.hit("caller stalled")
            try:
                async with asyncio.timeout(self._stalls):
                    await self.gone.wait()
            except TimeoutError:
                self._stalls = 0.0

    def _take(self, piece: bytes, *, is_last: bool) -> None:
        if self._history.is_over:
            return
        self._body += piece
        self._finished = is_last
        if piece:
            self._history.note(self.name, "caller got", b" ".join(_NAMED.findall(piece)).decode())
            self._place, self.answered_at = len(self._history.happened), self._history.loop.time()


class _Served:
    """What the server gives the Router for one request of this caller."""

    ambiguity = None

    def __init__(self, caller: Caller, body: bytes) -> None:
        self.disconnect = caller.gone
        self.comment = caller.comment
        self._caller = caller
        self._body = body

    def whole_body(self) -> bytes:
        return self._body

    async def answer(self, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> None:
        await self._caller.send({"type": "http.response.start", "status": status, "headers": headers})
        await self._caller.send({"type": "http.response.body", "body": body})

    async def answer_fixed(self, head: FixedHead, body: bytes, *values: bytes) -> None:
        await self.answer(head.status, head.headers(values), body)

    def write_now(self, _: bytes) -> bool:
        return False
