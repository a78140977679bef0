"""Area `disconnects`: callers that leave at twelve stages in five ways; the right fact is recorded, and soon."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field

from proof.area import Area, Figure, Findings, Run, proves
from proof.caller import Caller, Leaving, calling, request
from proof.gathering import Seen, descriptors, problems_of, settled
from proof.record import Recorded
from proof.world import PATH, Plan, World, world_of
from tests.support.agent import a_message, a_task, data, input_of, invocation_of, method_of
from tests.support.cards import some_limits
from tests.support.peers import JSON, Behaviour, Received, hold, partly
from tests.support.streaming_agent import artifact, endless, streamed, task

_AT_ONCE = 2
"""Rounds of all stages and ways that run beside each other."""
_AT_ONCE_WAITING = 10
_MAX_OUTPUT = 8 * 1024 * 1024
"""More than what lies in buffers between an Agent and a caller that does not read."""
_SMALL_WINDOW = 4096
_STALL_SECONDS = 0.4
_NOTICED_SECONDS = 0.05
_GOES_ON_SECONDS = 0.5
"""Until what waited for the store has been accepted, or not."""
_FOUND_SECONDS = 75.0
"""Until also those that left without a word are found."""
_ALONE, _BESIDE_OTHERS = (0.3, 60.0), (2.0, 64.0)
"""Within so many seconds `canceled` must be durable, in general and after a silent end: what is promised, measured when
nothing else runs, and what a quick run can show, which shares its cores with other tests."""


@dataclass(frozen=True)
class Stage:
    """What the Agent does there, what may be recorded (None is: nothing), and how many cancels the Agent must get."""

    name: str
    behaviour: Behaviour = hold
    outcomes: frozenset[str | None] = frozenset({"canceled"})
    cancels: int = 0
    stream: bool = False

    def __str__(self) -> str:
        return self.name


_NOTHING: frozenset[str | None] = frozenset({None})
_ANSWER = b"HTTP/1.1 200 Said\r\n%b\r\ncontent-length: 400\r\n\r\n" % JSON
_CHUNK = streamed(task(), artifact(1), end="open")
HEADERS = Stage("half of the head is sent", outcomes=_NOTHING)
BODY = Stage("half of the body is sent", outcomes=_NOTHING)
AUTHORIZING = Stage("the call is being authorized", outcomes=_NOTHING | {"canceled"})
ACCEPTING = Stage("the call is being accepted", outcomes=_NOTHING | {"canceled"})
SENT = Stage("JSON: the Agent has the message")
HALF_HEAD = Stage("JSON: half of the Agent's head is there", partly(_ANSWER[:20]))
HALF_BODY = Stage("JSON: half of the Agent's body is there", partly(_ANSWER + b'{"jsonrpc"'))
PROBING = Stage("JSON: the Agent works on a Task", a_task("working"), cancels=1)
OPENED = Stage("stream: accepted, the Agent is silent", streamed(end="open"), stream=True)
CHUNKS = Stage("stream: between two chunks", _CHUNK, cancels=1, stream=True)
STALLED = Stage("stream: the caller does not read", endless("x" * 20_000), cancels=1, stream=True)
ANSWERED = Stage("the whole answer is read", a_message(data(1)), frozenset({"succeeded"}))
WAITING = (AUTHORIZING, ACCEPTING)
"""Reached only while the store is held."""
FREE = (HEADERS, BODY, SENT, HALF_HEAD, HALF_BODY, PROBING, OPENED, CHUNKS, STALLED, ANSWERED)


@dataclass
class Leaver:
    """One caller, which leaves in its way at its stage, after so many seconds there."""

    stage: Stage
    way: Leaving
    pause: float
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    invocation_id: str = ""
    """As the Agent heard it."""
    caller: Caller = field(init=False)

    def __str__(self) -> str:
        return f"{self.stage}, {self.way}"

    async def leave(self, made: World, caller: Caller, number: int) -> None:
        self.caller = caller
        content = json.dumps({"call": number}).encode()
        body = made.first.request(content, stream=self.stage.stream)
        whole = request(PATH, body, made.first.token, stream=self.stage.stream)
        head = whole.index(b"\r\n\r\n") + 4
        sent = {HEADERS: head // 2, BODY: head + len(body) // 2}.get(self.stage, len(whole))
        await caller.send(whole[:sent])
        if None not in self.stage.outcomes:
            await self._be_there(caller)
        await asyncio.sleep(self.pause)
        caller.leave(self.way)

    async def _be_there(self, caller: Caller) -> None:
        await self.reached.wait()
        if self.stage is ANSWERED:
            await caller.answer()
        elif self.stage is STALLED:
            await asyncio.sleep(_STALL_SECONDS)
        elif self.stage.stream:
            await caller.until(b'"chunk"' if self.stage is CHUNKS else b'"accepted"')


@dataclass
class Leavers:
    """All callers by their number, and the Agent that takes each invocation to its stage and keeps it there."""

    made: World
    found: Findings
    all: list[Leaver] = field(default_factory=list)

    async def behave(self, received: Received) -> None:
        """A Task is worked on once it is asked for; any other stage is there with the message."""
        probed = method_of(received) == "tasks/get"
        if probed:
            leaver = next(one for one in self.all if one.invocation_id == invocation_of(received))
        else:
            leaver = self.all[json.loads(input_of(received))["call"]]
            leaver.invocation_id = invocation_of(received)
        if probed or leaver.stage is not PROBING:
            leaver.reached.set()
        await leaver.stage.behaviour(received)

    async def leave(self, leavers: Sequence[Leaver], during: AbstractAsyncContextManager[None] | None = None) -> None:
        """All of them `during` that scope.

        Returns once everything accepted has ended; until then those that left without a word keep their sockets.
        """
        async with AsyncExitStack() as staying:
            async with during or nullcontext():
                leaving = []
                for one in leavers:
                    window = _SMALL_WINDOW if one.stage is STALLED else None
                    caller = await staying.enter_async_context(calling(self.made.first.gateway.port, window=window))
                    leaving.append(self._leave(one, caller, len(self.all)))
                    self.all.append(one)
                await asyncio.gather(*leaving)
                await asyncio.sleep(_NOTICED_SECONDS)
            if during is not None:
                await asyncio.sleep(_GOES_ON_SECONDS)
            await settled(self.made, _FOUND_SECONDS)

    async def _leave(self, one: Leaver, caller: Caller, number: int) -> None:
        try:
            async with asyncio.timeout(15):
                await one.leave(self.made, caller, number)
        except TimeoutError:
            self.found.broken.append(f"{one}: not reached")


@asynccontextmanager
async def _held(made: World, stage: Stage) -> AsyncIterator[None]:
    """The store waits at just this stage."""
    if stage is ACCEPTING:
        async with made.ledger.locked("invocation"):
            yield
        return
    made.proxies["control-plane"].freeze()
    try:
        yield
    finally:
        made.proxies["control-plane"].thaw()


async def run(run: Run) -> Findings:
    found = Findings()
    plan = Plan(proxies=True, card={"limits": some_limits(maxOutputBytes=_MAX_OUTPUT)})
    async with world_of(run, plan) as made:
        leavers = Leavers(made, found)
        made.agent.usual = (leavers.behave,)
        # What the pools keep is no leak: they are filled before anything is counted.
        await leavers.leave([Leaver(ANSWERED, Leaving.FIN, 0.2) for _ in range(60)])
        before = descriptors(made)
        await _all_rounds(run, leavers, run.pick(1, 40))
        _judge(found, leavers, await made.ledger.recorded(), _ALONE if run.full else _BESIDE_OTHERS)
        _require_cancels(found, leavers)
        results = [one.caller.result() for one in leavers.all]
        found.broken += await problems_of(made, Seen(results, before=before, counts=True))
    return found


async def _all_rounds(run: Run, leavers: Leavers, times: int) -> None:
    chance = run.random
    for first in range(0, times, _AT_ONCE):
        count = min(_AT_ONCE, times - first)
        run.say(f"{count} times {len(Leaving)} callers leave at {len(FREE)} stages")
        # Spread out, so that what is measured is one leaving and not the storm of all of them.
        cells = [(stage, way) for _ in range(count) for stage in FREE for way in Leaving]
        await leavers.leave([Leaver(*cell, chance.uniform(0.0, 0.6 * count)) for cell in cells])
    # Each of these takes as long as a silent machine; a quick run looks at one of them.
    for stage in WAITING if run.full else [chance.choice(WAITING)]:
        for first in range(0, times, _AT_ONCE_WAITING):
            count = min(_AT_ONCE_WAITING, times - first)
            run.say(f"{count} times {len(Leaving)} callers leave while {stage}")
            waiting = [Leaver(stage, way, 0.15) for _ in range(count) for way in Leaving]
            await leavers.leave(waiting, during=_held(leavers.made, stage))


@proves(
    "A caller that leaves after acceptance is recorded as `canceled`, whatever the stage and however it leaves.",
    "One that leaves before leaves nothing behind; one that has its whole answer changes nothing.",
)
def _judge(found: Findings, leavers: Leavers, rows: Sequence[Recorded], bounds: tuple[float, float]) -> None:
    """Each caller's own record; what no Agent heard of can only be a call that left before or while it was accepted."""
    by_id = {row.invocation_id: row for row in rows}
    delays: dict[Leaving, list[float]] = {way: [] for way in Leaving}
    for one in leavers.all:
        found.hits[f"{one.stage}: {one.way}"] += 1
        row = by_id.pop(one.invocation_id, None)
        terminal = row.terminals[0] if row is not None and row.terminals else None
        if row is None and one.stage in WAITING:
            continue
        outcome = None if terminal is None else terminal.type
        found.require(outcome in one.stage.outcomes, f"{one}: recorded {terminal}")
        if terminal is not None and outcome == "canceled" and one.stage not in WAITING:  # there the store was held
            delays[one.way].append(max(0.0, (terminal.durable or 0.0) - (one.caller.left_at or 0.0)))
    strays = [row for row in by_id.values() if [fact.type for fact in row.terminals] != ["canceled"]]
    found.require(not strays, f"{len(strays)} records of nobody's call")
    _measure(found, delays, *bounds)


@proves("`canceled` is durable within 300 ms, after a machine that died silently within 60 s.")
def _measure(found: Findings, delays: dict[Leaving, list[float]], usual: float, silent: float) -> None:
    for way, seconds in delays.items():
        bound = silent if way is Leaving.SILENT else usual
        found.figures.append(Figure(f"canceled is durable after {way}, longest", max(seconds), "s", at_most=bound))


@proves("An Agent whose Task is known is told to stop exactly once, any other never.")
def _require_cancels(found: Findings, leavers: Leavers) -> None:
    for one in leavers.all:
        if one.invocation_id:
            cancels = leavers.made.agent.methods(one.invocation_id).count("tasks/cancel")
            found.require(cancels == one.stage.cancels, f"{one}: {cancels} tasks/cancel")


AREA = Area("disconnects", "Disconnects", run, (_judge, _measure, _require_cancels), alone=True)
