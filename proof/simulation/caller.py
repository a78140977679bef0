"""A caller of the simulated Router, in place of the HTTP server: reads at its pace, stalls, leaves, and keeps all."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

import msgspec

from aop.net.asgi import Disconnect
from proof.record import TERMINAL_EVENTS
from proof.simulation.loop import History

_TYPES = {"CANCELED": "canceled", "TIMEOUT": "timed_out"}


class Caller:
    """`outcome` is how its Invocation ended, as the caller knows it, in the words of the Ledger."""

    def __init__(self, name: str, stalls: float, history: History) -> None:
        self.name = name
        self.outcome: str | None = None
        self.refused: str | None = None
        self.reason: str | None = None
        """Of the refusal."""
        self.frames: list[dict[str, Any]] = []
        self.ids: set[tuple[str, str, str]] = set()
        self.gone = Disconnect()
        self.answered_at: float | None = None
        self.finished = False
        self._stalls = stalls
        self._status = 0
        self._body = b""
        self._history = history

    def leave(self) -> None:
        if not self.gone.is_set() and not self.finished:
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
            "aop.disconnected": self.gone,
            "aop.whole_body": lambda: body,
            "aop.comment": self.comment,
            "aop.ambiguity": None,
        }

    def comment(self, piece: bytes) -> None:
        """As the server does: left out while the peer takes nothing."""
        if not self.gone.is_set() and not self.finished and not self._stalls:
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
        if piece.startswith((b"data: ", b":")):
            for frame in piece.decode().split("\n\n"):
                if frame.startswith("data: "):
                    self._read_frame(msgspec.json.decode(frame[6:]))
        else:
            self._body += piece
            if is_last and self._body:
                self._read_answer(msgspec.json.decode(self._body))
        self.finished = is_last

    def _read_frame(self, event: dict[str, Any]) -> None:
        self.frames.append(event)
        self.ids.add((event["invocationId"], event["rootTaskId"], event["traceId"]))
        if event["type"] in TERMINAL_EVENTS:
            code = event.get("error", {}).get("code", "")
            self._learn(f"{TERMINAL_EVENTS[event['type']]} {code}".strip())
        else:
            self._history.note(self.name, "caller got", event["type"])

    def _read_answer(self, answer: dict[str, Any]) -> None:
        if "invocationId" not in answer:
            self.refused, self.reason = answer["code"], answer.get("reason")
            self._history.note(self.name, "caller was refused", self.refused or "")
            return
        self.ids.add((answer["invocationId"], answer["rootTaskId"], answer["traceId"]))
        if self._status == 200:
            self._learn("succeeded")
        else:
            self._learn(f"{_TYPES.get(answer['code'], 'failed')} {answer['code']}")

    def _learn(self, outcome: str) -> None:
        if self._history.is_over:
            return
        self.outcome = outcome
        self.answered_at = self._history.loop.time()
        self._history.note(self.name, "caller was told", outcome)
