"""Area `load`: many streams beside mixed traffic, JSON callers, cancels, nested calls and overload on one platform."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from proof.area import Area, Figure, Findings, Run, proves
from proof.gauges import memory, percentile, returned
from proof.load import jobs
from proof.load.calls import Call
from proof.load.jobs import Outcome
from proof.load.platform import Loaded, loaded

_POOL_SECONDS = 32.0
"""Between units, connections rest for 30 s before they are closed."""
_QUIET_SECONDS = 10.0
_MAX_RISE_MIB = 32.0
_SHAPES = [[1, 1, 1, 1, 1], [3, 3]]
"""Five levels below the root; three children with three each."""


@dataclass(frozen=True)
class Scale:
    """How much of everything. Times of answers are bounded in the full run; the quick one shares its machine."""

    slots: int
    streams: int
    chunks: int
    pace_ms: int
    mixed_callers: int
    json_callers: int
    json_seconds: int
    cancels: int
    roots: int
    overload_seconds: int
    call_ms: int
    """How long the Agent takes for a call of the overload: with all slots taken, that is what they give."""
    late_ms: float
    shed_ms: float

    @property
    def stream_seconds(self) -> float:
        return self.chunks * self.pace_ms / 1000


_QUICK = Scale(40, 30, 20, 100, 4, 16, 1, 150, 4, 2, 500, late_ms=2000.0, shed_ms=1000.0)
_FULL = Scale(768, 500, 585, 1000, 8, 32, 120, 20_000, 100, 60, 3000, late_ms=250.0, shed_ms=100.0)


@dataclass
class Course:
    """The parts of one run, one after the other."""

    run: Run
    on: Loaded
    scale: Scale
    found: Findings = field(default_factory=Findings)

    async def warm(self) -> None:
        """Every slot taken once, so that pools and caches are as large as they get."""
        await self.on.generate(jobs.calls, callers=self.scale.slots, seconds=0.5, pause_ms=300)
        await self.on.generate(jobs.streams, number=8, chunks=3, pause_ms=10, spread=0.1)

    @proves("Of 100 chunks 99 come at most 250 ms late, with 500 streams beside mixed traffic, search and publishing.")
    async def streams_beside_the_rest(self) -> None:
        scale = self.scale
        spread = min(10.0, scale.stream_seconds / 3)
        seconds = scale.stream_seconds + spread
        self.run.say(f"{scale.streams} streams for {scale.stream_seconds:.0f} s beside mixed traffic")
        generate, shape = self.on.generate, {"chunks": scale.chunks, "pause_ms": scale.pace_ms}
        among = {"callers": scale.mixed_callers, "pause": 0.03, "publish_every": seconds / 300 + 0.5}
        streams, mixed = await asyncio.gather(
            generate(jobs.streams, number=scale.streams, spread=spread, **shape),
            generate(jobs.mixed, seconds=seconds, seed=self.run.seed, **among),
        )
        self._require_success("a stream", streams.calls)
        self._require_success("a mixed call", mixed.calls)
        self.found.hits.update(mixed.counted)
        self.found.figures += _stream_figures(streams, scale)

    async def json_alone(self) -> None:
        scale = self.scale
        self.run.say(f"{scale.json_callers} JSON callers for {scale.json_seconds} s")
        outcome = await self.on.generate(jobs.calls, callers=scale.json_callers, seconds=scale.json_seconds)
        self._require_success("a JSON call", outcome.calls)
        self.found.figures.append(Figure("JSON calls a second", len(outcome.calls) / scale.json_seconds, "1/s"))

    async def cancels(self) -> None:
        number = self.scale.cancels
        self.run.say(f"{number} streams opened and left")
        callers = min(64, self.scale.slots // 2)
        outcome = await self.on.generate(jobs.cancels, number=number, callers=callers, seed=self.run.seed)
        left = sum(call.left for call in outcome.calls)
        self.found.require(left == number, f"only {left} streams were opened and left")
        self.found.hits["streams left by their caller"] += left

    async def nested(self) -> None:
        roots = self.scale.roots
        self.run.say(f"{roots} roots of each nested shape")
        outcome = await self.on.generate(jobs.nested, roots=roots, shapes=_SHAPES, callers=min(8, roots))
        self._require_success("a root with children", outcome.calls)

    @proves(
        "Under five times the calls it has room for, the platform gives at least 70 % of what it gives"
        " without, refuses the rest within 100 ms, and records nothing of those."
    )
    async def overload(self) -> None:
        scale, pause = self.scale, self.scale.call_ms
        usual = max(scale.overload_seconds / 4, 3 * pause / 1000)
        self.run.say(
            f"all {scale.slots} slots taken for {usual:.0f} s, then five times as much for {scale.overload_seconds} s"
        )
        plain = await self.on.generate(jobs.calls, callers=scale.slots, seconds=usual, pause_ms=pause)
        self._require_success("a call into the last slot", plain.calls)
        rate = _goodput(plain)
        storm = await self.on.generate(jobs.overload, rate=5 * rate, seconds=scale.overload_seconds, pause_ms=pause)
        sheds = [call for call in storm.calls if call.shed]
        self._require_success("a call admitted under overload", [call for call in storm.calls if not call.shed])
        self.found.hits["calls shed"] += len(sheds)
        slowest = percentile([call.seconds for call in sheds], 0.99) * 1000
        rows = {row.trace_id for row in await self.on.made.ledger.recorded()} & {call.trace_id for call in sheds}
        self.found.figures += [
            Figure("calls a second with all slots taken", rate, "1/s"),
            Figure("goodput under five times that, part of it", _goodput(storm) / rate, at_least=0.7),
            Figure("time to answer a shed call, 99th percentile", slowest, "ms", at_most=scale.shed_ms),
            Figure("Ledger rows for shed calls", len(rows), at_most=0),
        ]

    def _require_success(self, what: str, calls: Sequence[Call]) -> None:
        self.found.hits[what] += len(calls)
        failed = [call for call in calls if call.outcome != "succeeded"]
        for call in failed[:5]:
            self.found.broken.append(f"{what}: {call.status} {call.code} {call.outcome} {call.wrong or ''}")
        self.found.require(not failed, f"{len(failed)} of {len(calls)} failed: {what}")


async def run(run: Run) -> Findings:
    scale = _FULL if run.full else _QUICK
    async with loaded(run, scale.slots) as on:
        course = Course(run, on, scale)
        await course.warm()
        descriptors, held = on.descriptors(), memory(on.pids)
        await course.streams_beside_the_rest()
        await course.json_alone()
        await course.cancels()
        await course.nested()
        await course.overload()
        await asyncio.sleep(run.pick(1, int(_QUIET_SECONDS)))
        course.found.figures += returned(on.pids, held, _MAX_RISE_MIB)
        if run.full:
            await asyncio.sleep(_POOL_SECONDS - _QUIET_SECONDS)
        course.found.broken += await on.problems(descriptors)
    return course.found


@proves("Under load nothing is lost, doubled, mixed up or out of order, and every invariant holds.")
def _stream_figures(streams: Outcome, scale: Scale) -> list[Figure]:
    lost = doubled = unordered = 0
    for call in streams.calls:
        lost += scale.chunks - len(set(call.chunks))
        doubled += len(call.chunks) - len(set(call.chunks))
        unordered += sum(after < before for before, after in zip(call.chunks, call.chunks[1:], strict=False))
    return [
        Figure("chunks lost", lost, at_most=0),
        Figure("chunks doubled", doubled, at_most=0),
        Figure("chunks out of order", unordered, at_most=0),
        Figure("lateness of a chunk, 99th percentile", streams.p99_ms, "ms", at_most=scale.late_ms),
    ]


def _goodput(outcome: Outcome) -> float:
    """Successes a second, from the first call to the last answer."""
    seconds = max(call.ended for call in outcome.calls) - min(call.began for call in outcome.calls)
    return sum(call.outcome == "succeeded" for call in outcome.calls) / seconds


AREA = Area(
    "load", "Load", run, (_stream_figures, Course.streams_beside_the_rest, Course.overload, returned), alone=True
)
