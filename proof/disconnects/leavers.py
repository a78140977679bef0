"""One caller of each stage and way, many at a time: gets there, leaves, and stays silent until all is recorded."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field

from proof.caller import Caller, Leaving, calling, request
from proof.disconnects.stages import FATES, HoldingAgent, Stage
from proof.gathering import settled
from proof.record import Told
from proof.traffic import PATH
from proof.world import Edge, World

_SMALL_WINDOW = 4096
_STALL_SECONDS = 0.4
_NOTICED_SECONDS = 0.05
_GOES_ON_SECONDS = 0.5
"""Until what waited for the store has been accepted, or not."""


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
    told: Told


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
        self.left.append(Left(number, cell, caller.left_at or 0.0, caller.told()))

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
