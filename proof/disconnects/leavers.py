"""One caller of each stage and way, many at a time: gets there, leaves, and stays silent until all is recorded."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum

from proof.caller import Caller, Leaving, calling, request
from proof.gathering import settled
from proof.plan import Edge
from proof.record import CallResult
from proof.world import PATH, World
from tests.support.agent import a_message, a_task, data, input_of, invocation_of, method_of
from tests.support.peers import JSON, Received
from tests.support.streaming_agent import HEAD, artifact, event_of, send_body, task

_SMALL_WINDOW = 4096
_STALL_SECONDS = 0.4
_NOTICED_SECONDS = 0.05
_GOES_ON_SECONDS = 0.5
"""Until what waited for the store has been accepted, or not."""
_LARGE = "x" * 20_000


class Stage(StrEnum):
    HEADERS = "half of the head is sent"
    BODY = "half of the body is sent"
    AUTHORIZING = "the call is being authorized"
    ACCEPTING = "the call is being accepted"
    SENT = "JSON: the Agent has the message"
    HALF_HEAD = "JSON: half of the Agent's head is there"
    HALF_BODY = "JSON: half of the Agent's body is there"
    PROBING = "JSON: the Agent works on a Task"
    OPENED = "stream: accepted, the Agent is silent"
    CHUNKS = "stream: between two chunks"
    STALLED = "stream: the caller does not read"
    ANSWERED = "the whole answer is read"


@dataclass(frozen=True)
class Fate:
    """What may be recorded, and how many cancels the Agent must get."""

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
    Stage.PROBING: Fate(CANCELED, cancels=1),
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
            number = next(key for key, value in self.invocations.items() if value == invocation_of(received))
            self.reached(number).set()
            await a_task("working")(received)
            return
        order = json.loads(input_of(received))
        number, stage = int(order["call"]), Stage(order["stage"])
        self.invocations[number] = invocation_of(received)
        if stage is Stage.PROBING:
            await a_task("working")(received)
            return
        await self._begin(received, stage)
        self.reached(number).set()
        if stage is Stage.STALLED:
            await _go_on(received)
        elif stage is not Stage.ANSWERED:
            await received.wait_for_leaving()

    async def _begin(self, received: Received, stage: Stage) -> None:
        if stage is Stage.ANSWERED:
            await a_message(data(1))(received)
        elif stage is Stage.HALF_HEAD:
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


@dataclass(frozen=True)
class Cell:
    stage: Stage
    way: Leaving


@dataclass
class Left:
    """A caller that has left; `at` is when, in seconds of the real clock."""

    number: int
    cell: Cell
    at: float
    result: CallResult


@dataclass
class Leavers:
    made: World
    agent: HoldingAgent
    left: list[Left] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    _number: int = 0

    async def all_leave(
        self, cells: Sequence[tuple[Cell, float]], during: AbstractAsyncContextManager[None] | None = None
    ) -> None:
        """Each after so many seconds at its stage, all of them `during` that scope.

        Returns once everything accepted has ended; until then those that left without a word keep their sockets.
        """
        async with AsyncExitStack() as staying:
            async with during or nullcontext():
                callers = []
                for cell, pause in cells:
                    caller = await staying.enter_async_context(connected(self.made, cell))
                    callers.append(asyncio.create_task(self._leave(caller, cell, pause)))
                await asyncio.gather(*callers)
                await asyncio.sleep(_NOTICED_SECONDS)
            if during is not None:
                await asyncio.sleep(_GOES_ON_SECONDS)
            await settled(self.made)

    async def _leave(self, caller: Caller, cell: Cell, pause: float) -> None:
        self._number += 1
        number = self._number
        try:
            async with asyncio.timeout(15):
                await self._reach(caller, cell.stage, number)
        except TimeoutError:
            self.missed.append(f"{cell.stage}, {cell.way}: not reached")
        await asyncio.sleep(pause)
        caller.leave(cell.way)
        self.left.append(Left(number, cell, caller.left_at or 0.0, caller.result()))

    async def _reach(self, caller: Caller, stage: Stage, number: int) -> None:
        stream = FATES[stage].stream
        content = json.dumps({"call": number, "stage": stage.value}).encode()
        body = self.made.first.request(content, stream=stream)
        whole = request(PATH, body, self.made.first.token, stream=stream)
        head = whole.index(b"\r\n\r\n") + 4
        sent = {Stage.HEADERS: head // 2, Stage.BODY: head + len(body) // 2}.get(stage, len(whole))
        await caller.send(whole[:sent])
        if stage in {Stage.HEADERS, Stage.BODY, Stage.AUTHORIZING, Stage.ACCEPTING}:
            return
        await self.agent.reached(number).wait()
        if stage is Stage.ANSWERED:
            await caller.answer()
        elif stage is Stage.STALLED:
            await asyncio.sleep(_STALL_SECONDS)
        elif stream:
            await caller.until(b'"chunk"' if stage is Stage.CHUNKS else b'"accepted"')


def connected(made: World, cell: Cell) -> AbstractAsyncContextManager[Caller]:
    return calling(made.gateway_port(), window=_SMALL_WINDOW if cell.stage is Stage.STALLED else None)


@asynccontextmanager
async def held(made: World, stage: Stage) -> AsyncIterator[None]:
    """The store waits at just this stage."""
    if stage is Stage.ACCEPTING:
        async with made.ledger.locked("invocation"):
            yield
        return
    made.on(Edge.CONTROL_PLANE_STORE).freeze()
    try:
        yield
    finally:
        made.on(Edge.CONTROL_PLANE_STORE).thaw()
