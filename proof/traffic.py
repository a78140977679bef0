"""Honest traffic while something breaks, and what lets an Invocation run for as long as a proof needs it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from proof.gauges import percentile
from proof.record import CallResult
from proof.world import World
from tests.support.agent import a_message, chosen, data, method_of
from tests.support.canaries import OUTPUT_CANARY
from tests.support.cards import some_limits
from tests.support.peers import Behaviour
from tests.support.streaming_agent import piece, status, streamed, task

_PAUSE = 0.05
"""What an honest caller waits after a failure, before its next own call."""
_LONG_MS = 600_000
LONG_CARD = {"limits": some_limits(timeoutMs=_LONG_MS)}
LONG_DEADLINE = {"PLATFORM_INVOCATION_DEADLINE_MS": str(_LONG_MS)}
"""Of both units."""


@dataclass(frozen=True)
class Load:
    """So many callers of each kind, each with one call at a time; `pause` between two calls of one caller."""

    json: int = 6
    streams: int = 2
    pause: float = 0.0


@dataclass
class Traffic:
    made: World
    load: Load = Load()
    results: list[CallResult] = field(default_factory=list)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def call(self, *, stream: bool, side: int = 0) -> CallResult:
        """One call on a connection of its own; none of its failures is raised."""
        self.results.append(await self.made.call(stream=stream, side=side, seconds=40))
        return self.results[-1]

    @property
    def p99(self) -> float:
        return percentile([result.seconds for result in self.results], 0.99)

    @property
    def failures(self) -> list[CallResult]:
        return [result for result in self.results if result.outcome != "succeeded"]

    async def succeeds(self, seconds: float) -> float:
        """Waits for the success of a call that began from now on; how many seconds from now that was."""
        since, seen = time.time(), len(self.results)
        async with asyncio.timeout(seconds):
            while True:
                for result in self.results[seen:]:
                    if result.outcome == "succeeded" and result.began >= since:
                        return result.ended - since
                await asyncio.sleep(0.01)

    async def go_on(self, *, stream: bool, side: int) -> None:
        while not self.stopped.is_set():
            result = await self.call(stream=stream, side=side)
            await asyncio.sleep(self.load.pause if result.outcome == "succeeded" else max(self.load.pause, _PAUSE))


def by_mode(whole: Behaviour, stream: Behaviour) -> Behaviour:
    """One for calls that want a whole answer, the other for those that want a stream."""
    return chosen(lambda received: stream if method_of(received) == "message/stream" else whole)


def answering(chunks: int = 3, pause: float = 0.0) -> Behaviour:
    """Both modes, with the output canary in each answer and chunk. With a pause before it, each event travels alone."""
    value = {"secret": OUTPUT_CANARY}
    events = [step for number in range(chunks) for step in (pause, piece(value, number, chunks))]
    return by_mode(a_message(data(value)), streamed(task(), *events, pause, status("completed")))


@asynccontextmanager
async def traffic(made: World, load: Load = Load()) -> AsyncIterator[Traffic]:  # noqa: B008
    """Goes on inside the scope; every call has ended behind it."""
    going, sides = Traffic(made, load), len(made.sides)
    kinds = [False] * load.json + [True] * load.streams
    tasks = [
        asyncio.create_task(going.go_on(stream=stream, side=number % sides)) for number, stream in enumerate(kinds)
    ]
    try:
        yield going
    finally:
        going.stopped.set()
        await asyncio.gather(*tasks)
