"""Readers that rest in the middle of their answer, at every unit that callers reach: they get all of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from proof.agents.fronted import front_process
from proof.area import Findings, Run, proves
from proof.caller import Caller, Leaving, calling, request
from proof.callers.door import door_before, door_request, rpc
from proof.world import PATH, Plan, World, world_of
from tests.front.played import PlayedAgent
from tests.front.served import SKILL
from tests.support.agent import a_message, chosen, data, method_of
from tests.support.callers import post
from tests.support.cards import some_limits
from tests.support.peers import Behaviour, Received
from tests.support.replicas import Replica
from tests.support.streaming_agent import piece, status, streamed, task
from tests.support.waiting import becomes_true

_FIRST_BYTES = 1000
_SMALL, _SMALLEST = 16 * 1024, 4096
_LIMITS = {"maxOutputBytes": 4 * 1024 * 1024, "timeoutMs": 120_000}
_PATIENCE_SECONDS = 60.0
_DEAD_SECONDS = 60.0
_STEADY_BYTES = 24_000
"""In a second: 720,000 in 30 s, where 491,520 are enough."""


@dataclass(frozen=True)
class Answer:
    """So many chunks of so many bytes, each so long after the one before, or all of it at once."""

    size: int
    count: int = 1
    seconds: float = 0.0
    stream: bool = True
    window: int | None = None

    def __str__(self) -> str:
        kind = f"a stream of {self.count} chunks" if self.stream else "a whole answer"
        return f"{kind}, {self.size * self.count} bytes, window {self.window or 'as usual'}"

    @property
    def input(self) -> dict[str, float]:
        return {"size": self.size, "count": self.count, "seconds": self.seconds}


def _finished(sizes: Sequence[int], *windows: int | None) -> list[Answer]:
    """Sent by the Agent without a pause, in both modes."""
    wholes = [Answer(size, stream=False, window=window) for size in sizes for window in windows]
    return wholes + [Answer(size // 10, 10, window=window) for size in sizes for window in windows]


_QUICK = [
    *(*_finished([60_000], _SMALL), *_finished([150_000], None)),
    *(Answer(20_000, 16, 0.5), Answer(2000, 8, 0.7, window=_SMALLEST)),
]
_FULL = [
    *_finished([60_000, 150_000, 240_000, 420_000, 900_000], _SMALL, None),
    *(Answer(20_000, 16, 1.0), Answer(2000, 8, 1.5, window=_SMALLEST)),
]


@dataclass(frozen=True)
class Unit:
    """One that callers read from, and how it is asked for an answer."""

    name: str
    port: int
    request_for: Callable[[Answer], bytes]

    @asynccontextmanager
    async def reading(self, answer: Answer) -> AsyncIterator[Caller]:
        """By a caller that has the first bytes of its answer."""
        async with calling(self.port, window=answer.window) as caller:
            await caller.send(self.request_for(answer))
            await caller.take(_FIRST_BYTES)
            yield caller


async def rests(run: Run, found: Findings) -> None:
    plan = Plan(card={"limits": some_limits(**_LIMITS)})
    async with world_of(run, plan) as made, door_before(made) as door, _front(run.folder) as front:
        made.agent.usual = (_AS_ASKED,)
        units = _gateway(made), _door(made, door), front
        for seconds in (3.0, 9.0, 20.0, 29.0) if run.full else (9.0,):
            run.say(f"readers that rest for {seconds:g} s")
            await asyncio.gather(*(rest_at(run, found, unit, seconds) for unit in units))
        ended = {tuple(fact.type for fact in row.terminals) for row in await made.ledger.recorded()}
        found.require(ended == {("succeeded",)}, f"calls whose readers rest ended otherwise: {ended}")
        if run.full:
            run.say("a steady reader with the smallest window, and one that dies")
            await asyncio.gather(steady(found, _gateway(made)), dies(found, made))


@proves("A reader that rests for up to 29 s gets its whole answer, at the Gateway, the door and the front alike.")
async def rest_at(run: Run, found: Findings, unit: Unit, seconds: float) -> None:
    async def rest(answer: Answer) -> None:
        async with unit.reading(answer) as caller:
            await asyncio.sleep(seconds)
            body = await caller.whole(_PATIENCE_SECONDS)
        right = body is not None and body.count(b"x") >= answer.size * answer.count
        found.require(right, f"{answer}: cut at the {unit.name} by a rest of {seconds:g} s")
        found.hits[f"rests at the {unit.name}"] += 1

    await asyncio.gather(*map(rest, _FULL if run.full else _QUICK))


@proves("A reader that takes 24 KB in each second is never cut, however small its window is.")
async def steady(found: Findings, unit: Unit) -> None:
    answer = Answer(900_000, stream=False, window=_SMALLEST)
    loop = asyncio.get_running_loop()
    async with unit.reading(answer) as caller:
        begun = loop.time()
        while not caller.is_answered:
            due = _STEADY_BYTES * (loop.time() - begun) - len(caller.received)
            if due < _FIRST_BYTES:
                await asyncio.sleep(_FIRST_BYTES / _STEADY_BYTES)
            elif not await caller.take(int(due)):
                break
        found.require(caller.is_answered, f"a steady reader was cut after {len(caller.received)} bytes")
        found.hits["steady readers"] += 1


@proves("A reader whose machine dies while it rests has left: its call is canceled within 60 s.")
async def dies(found: Findings, made: World) -> None:
    async with _gateway(made).reading(Answer(20_000, 100, 1.0)) as caller:
        await asyncio.sleep(20)
        caller.leave(Leaving.SILENT)

        async def is_canceled() -> bool:
            rows = await made.ledger.recorded()
            return any(fact.type == "canceled" for row in rows for fact in row.terminals)

        try:
            await becomes_true(is_canceled, _DEAD_SECONDS)
        except TimeoutError:
            found.broken.append(f"a reader whose machine died was not found within {_DEAD_SECONDS:g} s")
        found.hits["readers that die"] += 1


def _gateway(made: World) -> Unit:
    def request_for(answer: Answer) -> bytes:
        body = made.first.request(json.dumps(answer.input).encode(), stream=answer.stream)
        return request(PATH, body, made.first.token, stream=answer.stream)

    return Unit("Gateway", made.first.gateway.port, request_for)


def _door(made: World, door: Replica) -> Unit:
    def request_for(answer: Answer) -> bytes:
        return door_request(made, door, answer.input, stream=answer.stream)

    return Unit("door", door.unit.port, request_for)


@asynccontextmanager
async def _front(folder: Path) -> AsyncIterator[Unit]:
    async with front_process(folder / "front", PlayedAgent(_AS_ASKED), **_LIMITS) as process:
        front, router = process.front, process.front.router

        def request_for(answer: Answer) -> bytes:
            body = json.loads(rpc(answer.input, stream=answer.stream))
            signed = router.request(body, capability=SKILL, stream=answer.stream)
            headers = [line for line in signed.headers if line[0] != b"content-type"]
            return post(front.path, signed.body, headers)

        yield Unit("front", front.port, request_for)


def _as_asked(received: Received) -> Behaviour:
    wanted = received.json["params"]["message"]["parts"][0]["data"]
    value, count = "x" * wanted["size"], wanted["count"]
    if method_of(received) == "message/send":
        return a_message(data(value))
    pauses = [wanted["seconds"]] if wanted["seconds"] else []
    chunks = [step for number in range(count) for step in (*pauses, piece(value, number, count))]
    return streamed(task(), *chunks, status("completed"))


_AS_ASKED = chosen(_as_asked)
