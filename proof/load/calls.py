"""The calls of one generator: each is made, checked against its order as it arrives, and kept as a small value."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from aop.contracts.invocation import StreamEvent
from aop.contracts.result_stream import ResultStreamReader, StreamBroken
from aop.net.http import Answer, HttpClient, HttpError, StreamedAnswer, Target
from aop.net.sse import COMMENT, EventTooLarge, FrameReader, FramingBroken
from proof.load.agent import CAPABILITY
from proof.record import TERMINAL_EVENTS, Told

_MOST = 1 << 30
_LINE = slice(len(b"data: "), -len(b"\n\n"))

Order = Mapping[str, Any]


@dataclass(frozen=True)
class Place:
    """Where calls go, and in whose name."""

    gateway_port: int
    agent_port: int
    path: str
    token: str
    agent_id: str

    @property
    def gateway(self) -> Target:
        return Target("http", "127.0.0.1", self.gateway_port, "127.0.0.1")

    @property
    def agent(self) -> Target:
        return Target("http", "127.0.0.1", self.agent_port, "127.0.0.1")


@dataclass
class Call:
    """What became of one call. `wrong` says what it got otherwise than ordered."""

    began: float
    ended: float = 0.0
    status: int | None = None
    trace_id: str | None = None
    invocation_id: str | None = None
    code: str | None = None
    outcome: str | None = None
    complete: bool = False
    left: bool = False
    chunks: Sequence[int] = ()
    wrong: str | None = None
    reason: str | None = None

    @property
    def shed(self) -> bool:
        return self.status == 503 and self.code == "OVERLOADED"

    @property
    def seconds(self) -> float:
        return self.ended - self.began

    def told(self) -> Told:
        return Told(
            self.began,
            self.ended,
            self.status,
            self.trace_id,
            self.invocation_id,
            self.code,
            self.outcome,
            complete=self.complete,
            left=self.left,
            reason=self.reason,
        )


@dataclass
class Caller:
    """All calls of one generator go through it."""

    place: Place
    made: list[Call] = field(default_factory=list)
    late: list[tuple[float, float]] = field(default_factory=list)
    """Of each chunk: when it came, and how many milliseconds after its Agent sent it."""
    _client: HttpClient = field(
        default_factory=lambda: HttpClient(idle_seconds=2, connect_seconds=30, max_idle_per_target=8192)
    )

    async def close(self) -> None:
        await self._client.close()

    async def ask(self, method: str, path: str, body: object = None, *, agent: bool = False) -> Answer:
        """Anything but an invocation; a body that is bytes goes as it is."""
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        target = self.place.agent if agent else self.place.gateway
        return await self._client.request(
            target, method, path, headers=self._headers[:2], body=content, deadline=_in(30), max_body=_MOST
        )

    async def json(self, order: Order, expected: Any = None) -> Call:
        """`expected` is the result; without one, the number of the order."""
        call = self._begun()
        try:
            answer = await self._client.request(
                self.place.gateway,
                "POST",
                self.place.path,
                headers=self._headers,
                body=self._body(order, stream=False),
                deadline=_in(60),
                max_body=_MOST,
            )
        except HttpError as error:
            call.ended, call.wrong = time.time(), f"no answer: {error}"
            return call
        _read_whole(call, answer)
        wanted = {"number": order["number"]} if expected is None else expected
        if call.outcome == "succeeded":
            result = json.loads(answer.body)["result"]
            if {name: result.get(name) for name in wanted} != wanted:
                call.wrong = "the answer of another call"
        return call

    async def stream(self, order: Order, leave_after: int | None = None) -> Call:
        """Reads to the end, or leaves behind so many events."""
        call = self._begun()
        headers = (*self._headers[:2], (b"accept", b"text/event-stream"))
        seconds = order["chunks"] * order.get("pauseMs", 0) / 1000 + 60
        try:
            async with self._client.stream(
                self.place.gateway,
                "POST",
                self.place.path,
                headers=headers,
                body=self._body(order, stream=True),
                deadline=_in(seconds),
                max_body=_MOST,
            ) as answer:
                await self._read_stream(call, order, answer, leave_after)
        except (HttpError, StreamBroken, FramingBroken, EventTooLarge) as error:
            call.wrong = f"broken off: {error}"
        call.ended = call.ended or time.time()
        return call

    async def _read_stream(self, call: Call, order: Order, answer: StreamedAnswer, leave_after: int | None) -> None:
        call.status, call.trace_id = answer.status, _text(answer.header(b"x-platform-trace-id"))
        if answer.status != 200:
            _read_whole(call, Answer(answer.status, answer.headers, b"".join([piece async for piece in answer])))
            return
        reader, events, seen = FrameReader(1 << 20), ResultStreamReader(), list[int]()
        count = 0
        call.chunks = seen
        async for piece in answer:
            now = time.time()
            for frame in reader.feed(piece):
                if frame == COMMENT:
                    continue
                self._take(call, order, events.read(frame[_LINE]), seen, now)
                count += 1
                if count == leave_after:
                    call.left, call.ended = True, now
                    return
        call.ended, call.complete = time.time(), events.ended

    def _take(self, call: Call, order: Order, event: StreamEvent, seen: list[int], now: float) -> None:
        call.invocation_id = event.invocation_id
        if isinstance(event.chunk, msgspec.Raw):
            value = json.loads(bytes(event.chunk))
            seen.append(value["chunk"])
            self.late.append((now, (now - value["at"]) * 1000))
            if value["of"] != order["number"]:
                call.wrong = "a chunk of another call"
        elif event.type in TERMINAL_EVENTS:
            call.outcome = TERMINAL_EVENTS[event.type]
            call.code = event.error.code if event.error else None

    def _begun(self) -> Call:
        self.made.append(Call(time.time()))
        return self.made[-1]

    @property
    def _headers(self) -> tuple[tuple[bytes, bytes], ...]:
        token = f"Bearer {self.place.token}".encode()
        return (b"authorization", token), (b"content-type", b"application/json"), (b"accept", b"application/json")

    def _body(self, order: Order, *, stream: bool) -> bytes:
        wanted = {"agentId": self.place.agent_id, "capability": CAPABILITY, "input": order, "stream": stream}
        return json.dumps(wanted).encode()


def _read_whole(call: Call, answer: Answer) -> None:
    found = json.loads(answer.body)
    call.ended, call.status, call.complete = time.time(), answer.status, True
    call.trace_id = _text(answer.header(b"x-platform-trace-id"))
    call.invocation_id, call.code, call.reason = found.get("invocationId"), found.get("code"), found.get("reason")
    if call.invocation_id is not None:
        failed = {"TIMEOUT": "timed_out", "CANCELED": "canceled"}.get(str(call.code), "failed")
        call.outcome = "succeeded" if answer.status == 200 else failed


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def _in(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds
