"""A long event of a stream is read like a long answer: not in the event loop."""

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aop.a2a.judge import TrackedTask
from aop.cards.checks import IN_LOOP_BYTES
from aop.net.http import TakePiece
from aop.net.sse import frame
from aop.router.a2a.agent import AgentConversation, Agents, CatchUp, WriteMessage
from aop.router.a2a.streaming import stream_chunks


class Conversation(AgentConversation):
    """Hands out the events it was given, and notes which texts are read elsewhere."""

    def __init__(self, *events: bytes) -> None:
        self._arriving = events
        self.max_event = 1 << 20
        self._agents = cast("Agents", SimpleNamespace(checks=self))
        self.read_elsewhere: list[bytes] = []

    def message(self, write: WriteMessage, content: bytes) -> tuple[str, bytes]:
        return "1", write("1", "inv_1", content)

    async def stream(
        self, body: bytes, request_id: str, deadline: float, delegation: bytes, take: TakePiece, catch_up: CatchUp
    ) -> bool:
        return not take(b"".join(map(frame, self._arriving))) and await catch_up()

    async def is_strict(self, text: bytes, _: int) -> bool:
        self.read_elsewhere.append(text)
        return True


def update(value: object, **more: Any) -> bytes:
    artifact = {"artifactId": "a", "parts": [{"kind": "data", "data": value}]}
    result = {"kind": "artifact-update", "taskId": "t", "contextId": "c", "artifact": artifact, **more}
    return json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}).encode()


@pytest.mark.rows("SAFE-01")
async def test_a_long_event_is_not_read_in_the_loop_repeated_or_not() -> None:
    long: Any = [{}] * (IN_LOOP_BYTES // 4 + 1)
    events = [update(0), update(1, append=True), update(2, append=True), *[update(long, append=True)] * 2]
    status = {"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": "completed"}, "final": True}
    ended = json.dumps({"jsonrpc": "2.0", "id": "1", "result": status}).encode()
    last = update(3, append=True, lastChunk=True)
    conversation, chunks = Conversation(*events, last, ended), list[object]()

    def deliver(arrived: Sequence[bytes], _: Sequence[object]) -> None:
        chunks.extend(map(json.loads, arrived))

    known = TrackedTask("inv_1")
    await stream_chunks(conversation, b"1", b"", known, 0.0, deliver)
    assert chunks == [0, 1, 2, long, long, 3]
    assert conversation.read_elsewhere == events[-2:]
