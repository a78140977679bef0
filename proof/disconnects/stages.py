"""The stages at which a caller leaves: how an invocation gets there, and what must be recorded of it."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tests.support.agent import a_message, a_task, data, input_of, invocation_of, method_of
from tests.support.peers import JSON, Received
from tests.support.streaming_agent import HEAD, artifact, event_of, send_body, task

_LARGE = "x" * 20_000


class Stage(StrEnum):
    HEADERS = "half of the head is sent"
    BODY = "half of the body is sent"
    AUTHORIZING = "the call is being authorized"
    ACCEPTING = "the call is being accepted"
    SENT = "JSON: the Agent has the message"
    HALF_HEAD = "JSON: half of the Agent's head is there"
    HALF_BODY = "JSON: half of the Agent's body is there"
    LOOKING = "JSON: the Agent works on a Task"
    OPENED = "stream: accepted, the Agent is silent"
    CHUNKS = "stream: between two chunks"
    STALLED = "stream: the caller does not read"
    ANSWERED = "the whole answer is read"


@dataclass(frozen=True)
class Fate:
    """What may be recorded, and how many times the Agent must be told to stop."""

    outcomes: frozenset[str | None]
    """None is: nothing recorded."""
    cancels: int = 0
    stream: bool = False


CANCELED: frozenset[str | None] = frozenset({"canceled"})
FATES: Mapping[Stage, Fate] = {
    Stage.HEADERS: Fate(frozenset({None})),
    Stage.BODY: Fate(frozenset({None})),
    Stage.AUTHORIZING: Fate(frozenset({None, "canceled"})),
    Stage.ACCEPTING: Fate(frozenset({None, "canceled"})),
    Stage.SENT: Fate(CANCELED),
    Stage.HALF_HEAD: Fate(CANCELED),
    Stage.HALF_BODY: Fate(CANCELED),
    Stage.LOOKING: Fate(CANCELED, cancels=1),
    Stage.OPENED: Fate(CANCELED, stream=True),
    Stage.CHUNKS: Fate(CANCELED, cancels=1, stream=True),
    Stage.STALLED: Fate(CANCELED, cancels=1, stream=True),
    Stage.ANSWERED: Fate(frozenset({"succeeded"})),
}
WAITING = (Stage.AUTHORIZING, Stage.ACCEPTING)
"""Reached only while the store is held."""
_ANSWER_HEAD = b"HTTP/1.1 200 Said\r\n%b\r\ncontent-length: 400\r\n\r\n" % JSON


@dataclass
class HoldingAgent:
    """Takes each invocation to the stage its input names, and keeps it there."""

    invocations: dict[int, str] = field(default_factory=dict)
    """By the number of the call."""
    _reached: dict[int, asyncio.Event] = field(default_factory=dict)

    def reached(self, number: int) -> asyncio.Event:
        return self._reached.setdefault(number, asyncio.Event())

    async def behave(self, received: Received) -> None:
        if method_of(received) == "tasks/get":
            await self._look(received)
            return
        wanted = json.loads(input_of(received))
        number, stage = int(wanted["call"]), Stage(wanted["stage"])
        self.invocations[number] = invocation_of(received)
        await self._lead(received, stage, number)

    async def _look(self, received: Received) -> None:
        number = next(key for key, value in self.invocations.items() if value == invocation_of(received))
        self.reached(number).set()
        await a_task("working")(received)

    async def _lead(self, received: Received, stage: Stage, number: int) -> None:
        if stage is Stage.LOOKING:
            await a_task("working")(received)
            return
        if stage is Stage.ANSWERED:
            await a_message(data(1))(received)
            self.reached(number).set()
            return
        await self._begin(received, stage)
        self.reached(number).set()
        if stage is Stage.STALLED:
            await _go_on(received)
        else:
            await received.wait_for_leaving()

    async def _begin(self, received: Received, stage: Stage) -> None:
        if stage is Stage.HALF_HEAD:
            await received.send(_ANSWER_HEAD[:20])
        elif stage is Stage.HALF_BODY:
            await received.send(_ANSWER_HEAD + b'{"jsonrpc"')
        elif FATES[stage].stream:
            await received.send(HEAD)
            if stage is not Stage.OPENED:
                await send_body(received, event_of(received, task()))
                await send_body(received, event_of(received, artifact(_LARGE if stage is Stage.STALLED else 1)))


async def _go_on(received: Received) -> None:
    """More and more, until nobody takes it any more."""
    leaving = asyncio.create_task(received.wait_for_leaving())
    try:
        while not leaving.done():
            more = asyncio.create_task(send_body(received, event_of(received, artifact(_LARGE, append=True))))
            await asyncio.wait({more, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not more.done():
                more.cancel()
            await asyncio.wait({more})
            if more.cancelled() or more.exception() is not None:
                return
    finally:
        leaving.cancel()
        await asyncio.wait({leaving})
