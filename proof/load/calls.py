"""The calls of one generator: each is made, checked against its order as it arrives, and kept as a small value."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from aop.client import Client, ClientError, PlatformError
from aop.contracts.invocation import StreamEvent
from aop.net.http import HttpClient, Target
from proof.record import TERMINAL_EVENTS, CallResult
from tests.support.loop import CAPABILITY, SPACE

Order = Mapping[str, Any]
_OUTCOMES = {"completed": "succeeded", "failed": "failed", "canceled": "canceled"}
"""What a Task at the door says of its Invocation."""


@dataclass(frozen=True)
class Place:
    """Where calls go, in whose name, and where the Agent finds the proofs that it serves."""

    gateway_port: int
    agent_url: str
    proofs: Path
    token: str
    agent_id: str


@dataclass
class Call(CallResult):
    """`chunks` are the numbers of those that came; `wrong` says what it got otherwise than ordered."""

    chunks: list[int] = field(default_factory=list)
    wrong: str | None = None

    @property
    def chunk_count(self) -> int:
        return len(self.chunks)

    @property
    def shed(self) -> bool:
        return self.status == 503 and self.code == "OVERLOADED"

    def fail(self, error: ClientError) -> None:
        self.trace_id, self.invocation_id = error.trace_id, error.invocation_id
        if isinstance(error, PlatformError):
            self.status, self.complete = error.status, True
            self.read_document({"invocationId": error.invocation_id, "code": error.code, "reason": error.reason})
        else:
            self.wrong = f"no whole answer: {error}"


@dataclass
class Caller:
    """All calls of one generator go through it. `late` has of each chunk how many milliseconds after its Agent sent it
    it came; `counted` what else was done, by what it is."""

    place: Place
    made: list[Call] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.door = HttpClient(idle_seconds=5, connect_seconds=60)
        self.client = Client(f"http://127.0.0.1:{self.place.gateway_port}", self.place.token)

    async def json(self, order: Order, expected: Mapping[str, Any] | None = None) -> Call:
        """`expected` is what the result must hold; without one, the number of the order."""
        call = self._begun()
        try:
            found = await self.client.invoke(SPACE, self.place.agent_id, CAPABILITY, order, timeout=60)
        except ClientError as error:
            call.fail(error)
        else:
            call.status, call.complete, call.outcome = 200, True, found.status
            call.trace_id, call.invocation_id = found.trace_id, found.invocation_id
            if not (expected or {"number": order["number"]}).items() <= found.value.items():
                call.wrong = "the answer of another call"
        call.ended = time.time()
        return call

    async def stream(self, order: Order, leave_after: int | None = None) -> Call:
        """Reads to the end, or leaves after so many events."""
        call = self._begun()
        try:
            async with self.client.stream(SPACE, self.place.agent_id, CAPABILITY, order) as stream:
                call.status, call.trace_id, call.invocation_id = 200, stream.trace_id, stream.invocation_id
                count = 0
                async for event in stream.events():
                    self._take(call, order, event)
                    count += 1
                    if count == leave_after:
                        call.left = True
                        break
                call.complete = not call.left
        except ClientError as error:
            call.fail(error)
        call.ended = time.time()
        return call

    async def at_door(self, port: int, order: Order) -> Call:
        call, place, metadata = self._begun(), self.place, {"skillId": CAPABILITY}
        parts = [{"kind": "data", "data": order}]
        message = {"kind": "message", "role": "user", "messageId": "m", "parts": parts, "metadata": metadata}
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
        bearer = (b"authorization", f"Bearer {place.token}".encode())
        answer = await self.door.request(
            Target("http", "127.0.0.1", port, "127.0.0.1"),
            "POST",
            f"/a2a/{SPACE}/{place.agent_id}",
            headers=(bearer, (b"content-type", b"application/json")),
            body=json.dumps(body).encode(),
            deadline=asyncio.get_running_loop().time() + 60,
            max_body=1 << 20,
        )
        call.status, call.complete, found = answer.status, True, json.loads(answer.body)
        if "result" in found:
            task = found["result"]
            call.outcome, call.invocation_id = _OUTCOMES[task["status"]["state"]], task["id"]
            call.trace_id = task["metadata"]["traceId"]
            if task["artifacts"][0]["parts"][0]["data"]["number"] != order["number"]:
                call.wrong = "the answer of another call"
        else:
            call.code = found.get("code") or str(found["error"]["code"])
        call.ended = time.time()
        return call

    def _take(self, call: Call, order: Order, event: StreamEvent) -> None:
        if event.chunk is not msgspec.UNSET:
            value = json.loads(bytes(event.chunk))
            call.chunks.append(value["chunk"])
            self.late.append((time.time() - value["at"]) * 1000)
            if value["of"] != order["number"]:
                call.wrong = "a chunk of another call"
        elif event.type in TERMINAL_EVENTS:
            call.outcome = TERMINAL_EVENTS[event.type]
            call.code = event.error.code if event.error else None

    def _begun(self) -> Call:
        self.made.append(Call(time.time()))
        return self.made[-1]
