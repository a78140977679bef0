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
from proof.record import TERMINAL_EVENTS, CallResult
from proof.world import PATH

_MAX_BODY = 1 << 30
_LINE = slice(len(b"data: "), -len(b"\n\n"))

Order = Mapping[str, Any]


@dataclass(frozen=True)
class Place:
    """Where calls go, and in whose name."""

    gateway_port: int
    agent_port: int
    token: str
    agent_id: str

    def body(self, order: Order, *, stream: bool) -> bytes:
        call = {"agentId": self.agent_id, "capability": CAPABILITY, "input": order, "stream": stream}
        return json.dumps(call).encode()


@dataclass
class Call(CallResult):
    """`chunks` are the numbers of those that came; `wrong` says what it got otherwise than ordered."""

    chunks: Sequence[int] = ()
    wrong: str | None = None

    @property
    def shed(self) -> bool:
        return self.status == 503 and self.code == "OVERLOADED"

    def read_whole(self, answer: Answer) -> Any:
        self.ended, self.status, self.complete = time.time(), answer.status, True
        self.trace_id = _text(answer.header(b"x-platform-trace-id"))
        self.read_document(found := json.loads(answer.body))
        return found


@dataclass
class Caller:
    """All calls of one generator go through it. `late` has of each chunk when it came, and how many milliseconds
    after its Agent sent it."""

    place: Place
    made: list[Call] = field(default_factory=list)
    late: list[tuple[float, float]] = field(default_factory=list)
    _client: HttpClient = field(
        default_factory=lambda: HttpClient(idle_seconds=2, connect_seconds=30, max_idle_per_target=8192)
    )

    async def close(self) -> None:
        await self._client.close()

    async def ask(self, method: str, path: str, body: object = None, *, agent: bool = False) -> Answer:
        """Anything but an invocation; a body that is bytes goes as it is."""
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        target = self._target(self.place.agent_port) if agent else self._target(self.place.gateway_port)
        return await self._client.request(target, method, path, **self._sent(content, 30))

    async def json(self, order: Order, expected: Any = None) -> Call:
        """`expected` is the result; without one, the number of the order."""
        call, target = self._begun(), self._target(self.place.gateway_port)
        body = self.place.body(order, stream=False)
        try:
            answer = await self._client.request(target, "POST", PATH, **self._sent(body, 60, b"application/json"))
        except HttpError as error:
            call.ended, call.wrong = time.time(), f"no answer: {error}"
            return call
        result, expected = call.read_whole(answer).get("result"), expected or {"number": order["number"]}
        if call.outcome == "succeeded" and {name: result.get(name) for name in expected} != expected:
            call.wrong = "the answer of another call"
        return call

    async def stream(self, order: Order, leave_after: int | None = None) -> Call:
        """Reads to the end, or leaves behind so many events."""
        call, target = self._begun(), self._target(self.place.gateway_port)
        seconds = order["chunks"] * order.get("pauseMs", 0) / 1000 + 60
        sent = self._sent(self.place.body(order, stream=True), seconds, b"text/event-stream")
        try:
            async with self._client.stream(target, "POST", PATH, **sent) as answer:
                await self._read_stream(call, order, answer, leave_after)
        except (HttpError, StreamBroken, FramingBroken, EventTooLarge) as error:
            call.wrong = f"broken off: {error}"
        call.ended = call.ended or time.time()
        return call

    async def _read_stream(self, call: Call, order: Order, answer: StreamedAnswer, leave_after: int | None) -> None:
        call.status, call.trace_id = answer.status, _text(answer.header(b"x-platform-trace-id"))
        if answer.status != 200:
            call.read_whole(Answer(answer.status, answer.headers, b"".join([piece async for piece in answer])))
            return
        reader, events, seen, count = FrameReader(1 << 20), ResultStreamReader(), list[int](), 0
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

    def _target(self, port: int) -> Target:
        return Target("http", "127.0.0.1", port, "127.0.0.1")

    def _sent(self, body: bytes, seconds: float, accept: bytes | None = None) -> dict[str, Any]:
        headers = [(b"authorization", f"Bearer {self.place.token}".encode()), (b"content-type", b"application/json")]
        if accept is not None:
            headers.append((b"accept", accept))
        deadline = asyncio.get_running_loop().time() + seconds
        return {"headers": headers, "body": body, "deadline": deadline, "max_body": _MAX_BODY}


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()
