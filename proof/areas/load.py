"""Area `load`: many streams beside mixed traffic, JSON callers, cancels, nested calls and overload on one platform."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.measure import Plot, Series
from proof.area import Area, Figure, Findings, Run, proves
from proof.gauges import Gauges, gauged, percentile
from proof.load.calls import Call
from proof.load.generator import Lateness, Outcome
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
        await self.on.generate("calls", callers=self.scale.slots, seconds=0.5, pauseMs=300)
        await self.on.generate("streams", count=8, chunks=3, pauseMs=10, spread=0.1)

    @proves("Of 100 chunks 99 come at most 250 ms late, with 500 streams beside mixed traffic, search and publishing.")
    async def streams_beside_the_rest(self) -> None:
        scale, seed = self.scale, self.run.seed
        spread = min(10.0, scale.stream_seconds / 3)
        seconds = scale.stream_seconds + spread
        publish_every = seconds / 300 + 0.5
        self.run.say(f"{scale.streams} streams for {scale.stream_seconds:.0f} s beside mixed traffic")
        streams, mixed = await asyncio.gather(
            self.on.generate("streams", count=scale.streams, chunks=scale.chunks, pauseMs=scale.pace_ms, spread=spread),
            self.on.generate(
                "mixed", callers=scale.mixed_callers, seconds=seconds, pause=0.03, publishEvery=publish_every, seed=seed
            ),
        )
        self._require_success("a stream", streams.calls)
        self._require_success("a mixed call", mixed.calls)
        self.found.hits.update({"streams": len(streams.calls), "mixed invocations": len(mixed.calls)})
        self.found.hits.update({name: int(count) for name, count in mixed.counted.items()})
        self.found.figures += _stream_figures(streams, scale)
        self.found.plots.append(_lateness_plot(streams.late))

    async def json_alone(self) -> None:
        scale = self.scale
        self.run.say(f"{scale.json_callers} JSON callers for {scale.json_seconds} s")
        outcome = await self.on.generate("calls", callers=scale.json_callers, seconds=scale.json_seconds)
        self._require_success("a JSON call", outcome.calls)
        self.found.hits["JSON calls"] += len(outcome.calls)
        seconds = [call.seconds for call in outcome.calls]
        self.found.figures += [
            Figure("JSON calls a second", len(seconds) / scale.json_seconds, "1/s"),
            Figure("a JSON call, median", percentile(seconds, 0.5) * 1000, "ms"),
            Figure("a JSON call, 99th percentile", percentile(seconds, 0.99) * 1000, "ms"),
        ]

    async def cancels(self) -> None:
        self.run.say(f"{self.scale.cancels} streams opened and left")
        outcome = await self.on.generate(
            "cancels", count=self.scale.cancels, callers=min(64, self.scale.slots // 2), seed=self.run.seed
        )
        left = [call for call in outcome.calls if call.left]
        self.found.require(len(left) == self.scale.cancels, f"only {len(left)} streams were opened and left")
        self.found.hits["streams left by their caller"] += len(left)

    async def nested(self) -> None:
        roots = self.scale.roots
        self.run.say(f"{roots} roots of each nested shape")
        outcome = await self.on.generate("nested", roots=roots, shapes=_SHAPES, callers=min(8, roots))
        self._require_success("a nested call", outcome.calls)
        self.found.hits["roots with children"] += len(outcome.calls)
        seconds = [call.seconds for call in outcome.calls]
        self.found.figures.append(Figure("a root with its children, 99th percentile", percentile(seconds, 0.99), "s"))

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
        plain = await self.on.generate("calls", callers=scale.slots, seconds=usual, pauseMs=pause)
        self._require_success("a call into the last slot", plain.calls)
        rate = _goodput(plain)
        storm = await self.on.generate("overload", rate=5 * rate, seconds=scale.overload_seconds, pauseMs=pause)
        sheds = [call for call in storm.calls if call.shed]
        self._require_success("a call admitted under overload", [call for call in storm.calls if not call.shed])
        self.found.hits["calls shed"] += len(sheds)
        kept = _goodput(storm) / rate
        slowest = percentile([call.seconds for call in sheds], 0.99) * 1000
        rows = {row.trace_id for row in await self.on.made.ledger.recorded()} & {call.trace_id for call in sheds}
        self.found.figures += [
            Figure("calls a second with all slots taken", rate, "1/s"),
            Figure("goodput under five times that, part of it", kept, at_least=0.7),
            Figure("calls offered under overload", len(storm.calls)),
            Figure("time to answer a shed call, 99th percentile", slowest, "ms", at_most=scale.shed_ms),
            Figure("Ledger rows for shed calls", len(rows), at_most=0),
        ]

    def _require_success(self, what: str, calls: Sequence[Call]) -> None:
        failed = [call for call in calls if call.outcome != "succeeded"]
        for call in failed[:5]:
            self.found.broken.append(f"{what}: {call.status} {call.code} {call.outcome} {call.wrong or ''}")
        self.found.require(not failed, f"{len(failed)} of {len(calls)} failed: {what}")


async def run(run: Run) -> Findings:
    scale = _FULL if run.full else _QUICK
    async with loaded(run, scale.slots) as on, gauged(on.pids, 1.0 if run.full else 0.2) as gauges:
        course = Course(run, on, scale)
        await course.warm()
        before = on.descriptors()
        gauges.mark()
        await course.streams_beside_the_rest()
        await course.json_alone()
        await course.cancels()
        await course.nested()
        await course.overload()
        await asyncio.sleep(run.pick(1, int(_QUIET_SECONDS)))
        course.found.figures += gauges.figures(_MAX_RISE_MIB)
        if run.full:
            await asyncio.sleep(_POOL_SECONDS - _QUIET_SECONDS)
        course.found.broken += await on.problems(before)
    course.found.figures.append(Figure("invocations in all", len([call for call in on.calls if call.invocation_id])))
    course.found.plots.append(gauges.plot("memory", "Memory of the units"))
    return course.found


@proves("Under load nothing is lost, doubled, mixed up or out of order, and every invariant holds.")
def _stream_figures(streams: Outcome, scale: Scale) -> list[Figure]:
    lost = doubled = unordered = 0
    for call in streams.calls:
        lost += scale.chunks - len(set(call.chunks))
        doubled += len(call.chunks) - len(set(call.chunks))
        unordered += sum(after < before for before, after in zip(call.chunks, call.chunks[1:], strict=False))
    return [
        Figure("streams at once", scale.streams),
        Figure("seconds of each stream", scale.stream_seconds, "s"),
        Figure("chunks lost", lost, at_most=0),
        Figure("chunks doubled", doubled, at_most=0),
        Figure("chunks out of order", unordered, at_most=0),
        Figure("lateness of a chunk, median", streams.median_ms, "ms"),
        Figure("lateness of a chunk, 99th percentile", streams.p99_ms, "ms", at_most=scale.late_ms),
    ]


def _goodput(outcome: Outcome) -> float:
    """Successes a second, from the first call to the last answer."""
    seconds = max(call.ended for call in outcome.calls) - min(call.began for call in outcome.calls)
    return len(outcome.of("succeeded")) / seconds


def _lateness_plot(late: Sequence[Lateness]) -> Plot:
    median = Series("median", [(window.at, window.median) for window in late])
    p99 = Series("99th percentile", [(window.at, window.p99) for window in late])
    last = late[-1].at if late else 0.0
    marks = [round(last * part / 5) for part in range(6)]
    return Plot("lateness", "Lateness of a chunk over time", "seconds", "ms", [median, p99], marks_x=marks)


AREA = Area(
    "load", "Load", run, (_stream_figures, Course.streams_beside_the_rest, Course.overload, Gauges.figures), alone=True
)
