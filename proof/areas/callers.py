"""Area `callers`: slow heads, slow bodies and stalled readers beside honest callers, who must not notice."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from proof.area import Area, Figure, Findings, Run, background, proves
from proof.caller import request
from proof.callers.attackers import Attack, Borne, attacking
from proof.gauges import gauged, percentile, waiting_bytes
from proof.load.generator import Outcome
from proof.load.platform import Loaded, loaded
from proof.world import PATH

_HEAD_SECONDS, _BODY_SECONDS, _STALL_SECONDS = 5.0, 30.0, 34.0
_GRACE_SECONDS = 2.0
"""For the attackers' own clock, which is read when they get round to it."""
_HONEST_CALLERS = 4
_READER_MIB = 1.0
"""The most that one stalled reader may cost a unit beside its sockets."""
_SPARE_MIB = 16.0
_STALLED_BYTES = 64 * 1024
"""A reader has stalled once this much waits for it."""
_CHUNK_BYTES = 16 * 1024
_MAX_WAITING = 1.0
"""MiB in the sockets of a unit for each connection of an attacker."""


@dataclass(frozen=True)
class Scale:
    slow_heads: int
    slow_bodies: int
    stalled: int
    seconds: float
    honest_p99: float

    @property
    def slots(self) -> int:
        """Attackers with a token take slots as honest callers do: there is no quota, so there must be enough."""
        return self.slow_bodies + 2 * self.stalled + 100


_QUICK = Scale(60, 20, 20, 8.0, honest_p99=3.0)
_FULL = Scale(2000, 500, 500, 75.0, honest_p99=1.0)


@dataclass
class Sockets:
    """The most that waited in the sockets of each unit, in MiB, and in any one of them."""

    pids: Mapping[str, int]
    peaks: dict[str, float] = field(default_factory=dict)
    largest: float = 0.0

    async def watch(self) -> None:
        while True:
            for name, pid in self.pids.items():
                waiting = [count / 2**20 for count in waiting_bytes(pid)]
                self.peaks[name] = max(self.peaks.get(name, 0.0), sum(waiting))
                self.largest = max([self.largest, *waiting])
            await asyncio.sleep(0.5)


async def run(run: Run) -> Findings:
    scale, found = _FULL if run.full else _QUICK, Findings()
    async with loaded(run, scale.slots) as on, gauged(on.pids, 0.5) as gauges:
        await on.generate("calls", callers=_HONEST_CALLERS, seconds=1)
        alone = await on.generate("calls", callers=_HONEST_CALLERS, seconds=run.pick(1, 10), pause=0.01)
        before = on.descriptors()
        gauges.mark()
        run.say(f"{scale.slow_heads} slow heads, {scale.slow_bodies} slow bodies, {scale.stalled} stalled readers")
        sockets = Sockets(on.pids)
        async with background(sockets.watch()):
            borne, beside = await asyncio.gather(
                attacking(_attack(on, scale)),
                on.generate("calls", callers=_HONEST_CALLERS, seconds=scale.seconds, pause=0.01),
            )
        _judge_attackers(found, borne, scale)
        _judge_sockets(found, sockets, scale)
        _judge_honest(found, alone, beside, scale)
        found.broken += await on.problems(before)
        found.figures += gauges.figures(scale.stalled * _READER_MIB + _SPARE_MIB)
        found.plots.append(gauges.plot("memory", "Memory of the units under attack"))
    return found


def _attack(on: Loaded, scale: Scale) -> Attack:
    order = {"number": 0, "chunks": 1 << 30, "pauseMs": 0, "pad": _CHUNK_BYTES}
    content = request(PATH, on.place.body(order, stream=True), on.place.token, stream=True)
    ports = [on.place.gateway_port, on.made.first.router.port]
    return Attack(ports, content.decode(), scale.seconds, scale.slow_heads, scale.slow_bodies, scale.stalled)


@proves(
    "They are cut off in time: a head after 5 s, a body after 30 s, a reader who takes nothing 30 s after its"
    " buffers are full."
)
def _judge_attackers(found: Findings, borne: Mapping[str, Borne], scale: Scale) -> None:
    bounds = {"slow heads": _HEAD_SECONDS, "slow bodies": _BODY_SECONDS, "stalled readers": _STALL_SECONDS}
    for name, one in borne.items():
        found.hits[name] += one.opened
        bound = bounds[name] + _GRACE_SECONDS
        if scale.seconds > bound:
            found.require(bool(one.ages), f"none of the {name} was ended")
            found.figures.append(Figure(f"oldest of the {name}", one.oldest, "s", at_most=bound))
    odd = {line for line in borne["slow bodies"].answers if not line.startswith("HTTP/1.1 400 ")}
    found.require(not odd, f"slow bodies were answered {sorted(odd)}")
    found.require(not borne["slow heads"].answers, "slow heads were answered")
    early = [age for age in borne["slow heads"].ages if age < _HEAD_SECONDS - _GRACE_SECONDS]
    found.require(not early, f"{len(early)} slow heads were ended before their time")


@proves("What they make wait in sockets stays small, and everything they held is given back.")
def _judge_sockets(found: Findings, sockets: Sockets, scale: Scale) -> None:
    found.require(sockets.largest * 2**20 >= _STALLED_BYTES, "no reader ever stalled")
    found.figures.append(Figure("the most that waited in one socket", sockets.largest, "MiB", at_most=_MAX_WAITING))
    bound = _MAX_WAITING * scale.stalled
    found.figures += [
        Figure(f"{name}: the most that waited in its sockets", peak, "MiB", at_most=bound)
        for name, peak in sockets.peaks.items()
    ]


@proves("Callers who never finish their head or their body, or take nothing of their stream, harm no honest caller.")
def _judge_honest(found: Findings, alone: Outcome, beside: Outcome, scale: Scale) -> None:
    failed = [call for call in beside.calls if call.outcome != "succeeded"]
    usual, attacked = (percentile([call.seconds for call in one.calls], 0.99) for one in (alone, beside))
    found.figures += [
        Figure("honest calls beside the attack", len(beside.calls), at_least=1),
        Figure("honest calls that failed", len(failed), at_most=0),
        Figure("an honest call alone, 99th percentile", usual, "s"),
        Figure("an honest call beside the attack, 99th percentile", attacked, "s", at_most=scale.honest_p99),
        Figure("the slowest honest call beside the attack", max(call.seconds for call in beside.calls), "s"),
    ]


AREA = Area("callers", "Slow and hostile callers", run, (_judge_honest, _judge_attackers, _judge_sockets), alone=True)
