"""A generator of load as a program: does one job after another and prints what came of every call."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, astuple, dataclass, field
from typing import Any

import uvloop

from proof.area import print_json
from proof.gauges import percentile
from proof.load.calls import Call, Caller, Place
from proof.load.jobs import JOBS

_WINDOW_SECONDS = 5.0
_MAX_LINE = 1 << 30


@dataclass(frozen=True)
class Lateness:
    """Of the chunks that came within a few seconds of each other, in milliseconds."""

    at: float
    median: float
    p99: float


@dataclass(frozen=True)
class Outcome:
    """What a job came to."""

    calls: Sequence[Call]
    late: Sequence[Lateness] = ()
    median_ms: float = 0.0
    p99_ms: float = 0.0
    counted: Mapping[str, float] = field(default_factory=dict)

    def of(self, outcome: str) -> list[Call]:
        return [call for call in self.calls if call.outcome == outcome]


@dataclass
class Generators:
    """Processes that do jobs, one at a time each; as many as there are jobs at once."""

    place: Place
    _all: list[asyncio.subprocess.Process] = field(default_factory=list)
    _idle: list[asyncio.subprocess.Process] = field(default_factory=list)

    async def do(self, what: str, **job: Any) -> Outcome:
        process = self._idle.pop() if self._idle else await self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"what": what, **job}).encode() + b"\n")
        said = await process.stdout.readline()
        if not said:
            raise RuntimeError(f"the generator broke off at {what}: {await process.wait()}")
        self._idle.append(process)
        found = json.loads(said)
        late, (median, p99) = [Lateness(*window) for window in found["late"]], found["all"]
        return Outcome([Call(**row) for row in found["calls"]], late, median, p99, found["counted"])

    async def close(self) -> None:
        for process in self._all:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def _started(self) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", __name__, stdin=pipe, stdout=pipe, limit=_MAX_LINE
        )
        self._all.append(process)
        assert process.stdin is not None
        process.stdin.write(json.dumps(asdict(self.place)).encode() + b"\n")
        return process


@asynccontextmanager
async def generators(place: Place) -> AsyncIterator[Generators]:
    ready = Generators(place)
    try:
        yield ready
    finally:
        await ready.close()


def main() -> int:
    """The first line says where calls go, each further one is a job."""
    place = Place(**json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        job = json.loads(line)
        print_json(uvloop.run(_done(place, job.pop("what"), job)))
    return 0


async def _done(place: Place, what: str, job: Mapping[str, Any]) -> dict[str, Any]:
    caller = Caller(place)
    try:
        counted = await JOBS[what](caller, job)
    finally:
        await caller.close()
    late = [value for _, value in caller.late]
    return {
        "calls": [{name: value for name, value in vars(call).items() if value} for call in caller.made],
        "late": [astuple(window) for window in _windows(caller.late)],
        "all": (percentile(late, 0.5), percentile(late, 0.99)),
        "counted": counted,
    }


def _windows(late: Sequence[tuple[float, float]]) -> list[Lateness]:
    if not late:
        return []
    began, windows = late[0][0], dict[int, list[float]]()
    for at, value in late:
        windows.setdefault(int((at - began) / _WINDOW_SECONDS), []).append(value)
    return [
        Lateness(number * _WINDOW_SECONDS, percentile(values, 0.5), percentile(values, 0.99))
        for number, values in sorted(windows.items())
    ]


if __name__ == "__main__":
    sys.exit(main())
