"""Honest traffic while something breaks: callers that go on until told to stop, each keeping all it was told."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from proof.caller import calling, request
from proof.gathering import INPUT_CANARY, OUTPUT_CANARY
from proof.record import Told
from proof.world import World
from tests.support.agent import a_message, chosen, data, method_of
from tests.support.loop import SPACE
from tests.support.peers import Behaviour
from tests.support.streaming_agent import a_whole_stream, streamed

PATH = f"/v1/workspaces/{SPACE}/invocations"
_PAUSE = 0.05
"""What an honest caller waits after a failure, before its next own call."""


@dataclass(frozen=True)
class Load:
    """So many callers of each kind, each with one call at a time; `pause` between two calls of one caller."""

    json: int = 6
    streams: int = 2
    pause: float = 0.0
    answer_seconds: float = 40.0


@dataclass
class Traffic:
    made: World
    load: Load = Load()
    told: list[Told] = field(default_factory=list)
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def call(self, *, stream: bool, side: int = 0) -> Told:
        """One call on a connection of its own; None of its failures is raised."""
        body = self.made.sides[side].request(json.dumps({"secret": INPUT_CANARY}).encode(), stream=stream)
        began = time.time()
        try:
            async with calling(self.made.gateway_port(side)) as caller:
                await caller.send(request(PATH, body, self.made.sides[side].token, stream=stream))
                told = await caller.answer(self.load.answer_seconds)
        except OSError:
            told = Told(began, time.time())
        self.told.append(told)
        return told

    def successes(self, since: float = 0.0) -> list[Told]:
        return [told for told in self.told if told.outcome == "succeeded" and told.began >= since]

    async def succeeds(self, seconds: float) -> float:
        """Waits for the success of a call that began from now on; how many seconds from now that was."""
        since = time.time()
        async with asyncio.timeout(seconds):
            while not self.successes(since):  # noqa: ASYNC110  what is awaited tells nobody
                await asyncio.sleep(0.01)
        return min(told.ended for told in self.successes(since)) - since

    def start(self) -> None:
        kinds = [False] * self.load.json + [True] * self.load.streams
        sides = len(self.made.sides)
        self._tasks = [
            asyncio.create_task(self._go_on(stream=stream, side=number % sides)) for number, stream in enumerate(kinds)
        ]

    async def stop(self) -> Sequence[Told]:
        """Lets every call end."""
        self._over.set()
        if self._tasks:
            await asyncio.gather(*self._tasks)
        return self.told

    async def _go_on(self, *, stream: bool, side: int) -> None:
        while not self._over.is_set():
            told = await self.call(stream=stream, side=side)
            await asyncio.sleep(self.load.pause if told.outcome == "succeeded" else max(self.load.pause, _PAUSE))


def answering(chunks: int = 3) -> Behaviour:
    """Both modes at once, with the output canary in each answer."""
    whole = a_message(data({"secret": OUTPUT_CANARY}))
    stream = streamed(*a_whole_stream(chunks))
    return chosen(lambda received: stream if method_of(received) == "message/stream" else whole)


@asynccontextmanager
async def traffic(made: World, load: Load = Load()) -> AsyncIterator[Traffic]:  # noqa: B008
    """Goes on inside the scope; every call has ended behind it."""
    going = Traffic(made, load)
    going.start()
    try:
        yield going
    finally:
        await going.stop()
