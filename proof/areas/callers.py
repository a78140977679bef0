"""Area `callers`: slow heads, slow bodies and stalled readers beside honest callers, who must not notice."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from proof.area import Area, Figure, Findings, Run, proves
from proof.caller import request
from proof.callers.attackers import SMALL_WINDOW, Attacker, Fate, besiege
from proof.callers.strangers import Siege, judge_beside, judge_refusals, withstand
from proof.gauges import memory, percentile, returned, waiting_bytes
from proof.load import jobs
from proof.load.jobs import Outcome
from proof.load.platform import Loaded, loaded
from proof.world import PATH
from tests.support.waiting import background

_HEAD_SECONDS, _BODY_SECONDS, _STALL_SECONDS = 5.0, 30.0, 38.0
_GRACE_SECONDS = 2.0
"""For a unit that is busy with all of them at once."""
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


_QUICK_SIEGE, _FULL_SIEGES = Siege(40, 4.0, honest_p99=3.0), (Siege(750, 60.0), Siege(750, 60.0, workers=3))
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
    async with loaded(run, scale.slots) as on:
        await on.generate(jobs.calls, callers=_HONEST_CALLERS, seconds=1)
        before, held = on.descriptors(), memory(on.pids)
        run.say(f"{scale.slow_heads} slow heads, {scale.slow_bodies} slow bodies, {scale.stalled} stalled readers")
        sockets = Sockets(on.pids)
        async with background(sockets.watch()):
            fates, beside = await asyncio.gather(
                on.apart(besiege, _attackers(on, scale), scale.seconds),
                on.generate(jobs.calls, callers=_HONEST_CALLERS, seconds=scale.seconds, pause=0.01),
            )
        _judge_attackers(found, fates, scale)
        _judge_sockets(found, sockets, scale)
        _judge_honest(found, beside, scale)
        for siege in _FULL_SIEGES if run.full else (_QUICK_SIEGE,):
            await withstand(run, on, siege, found)
        found.broken += await on.problems(before)
        found.figures += returned(on.pids, held, scale.stalled * _READER_MIB + _SPARE_MIB)
    return found


def _attackers(on: Loaded, scale: Scale) -> dict[str, Sequence[Attacker]]:
    """Slow heads at both units. A stalled reader asks for a stream that does not end, and takes nothing of it."""
    gateway, router, token = on.place.gateway_port, on.made.first.router.port, on.place.token
    order = json.dumps({"number": 0, "chunks": 1 << 30, "pad": _CHUNK_BYTES}).encode()
    body = on.made.first.request(order, agentId=on.place.agent_id, stream=True)
    whole = request(PATH, body, token, stream=True)
    unfinished = whole.partition(b"\r\n\r\n")[0].replace(b"content-length: ", b"content-length: 9") + b"\r\n\r\n"
    head = b"POST /v1/agents HTTP/1.1\r\nhost: test\r\nx-slow: "
    stalled = Attacker(whole, gateway, takes=0, option=SMALL_WINDOW, again_seconds=20.0)
    return {
        "slow heads": [Attacker(head, (gateway, router)[turn % 2], sends=True) for turn in range(scale.slow_heads)],
        "slow bodies": [Attacker(unfinished, gateway, sends=True)] * scale.slow_bodies,
        "stalled readers": [stalled] * scale.stalled,
    }


@proves(
    "They are cut off in time: a head after 5 s, a body after 30 s, a reader who takes nothing 38 s after its"
    " buffers are full."
)
def _judge_attackers(found: Findings, fates: Mapping[str, Sequence[Fate]], scale: Scale) -> None:
    bounds = {"slow heads": _HEAD_SECONDS, "slow bodies": _BODY_SECONDS, "stalled readers": _STALL_SECONDS}
    for name, all_of_kind in fates.items():
        found.hits[name] += len(all_of_kind)
        bound = bounds[name] + _GRACE_SECONDS
        if scale.seconds > bound:
            found.require(any(fate.cut for fate in all_of_kind), f"none of the {name} was ended")
            oldest = max(fate.open_at for fate in all_of_kind)
            found.figures.append(Figure(f"oldest of the {name} that was seen open", oldest, "s", at_most=bound))
    answers = {name: {fate.status for fate in of_kind} - {""} for name, of_kind in fates.items()}
    odd = {line for line in answers["slow bodies"] if not line.startswith("HTTP/1.1 400 ")}
    found.require(not odd, f"slow bodies were answered {sorted(odd)}")
    found.require(not answers["slow heads"], "slow heads were answered")
    early = [fate for fate in fates["slow heads"] if fate.cut and fate.age < _HEAD_SECONDS - _GRACE_SECONDS]
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
def _judge_honest(found: Findings, beside: Outcome, scale: Scale) -> None:
    failed = [call for call in beside.calls if call.outcome != "succeeded"]
    slowest = percentile([call.seconds for call in beside.calls], 0.99)
    found.figures += [
        Figure("honest calls beside the attack", len(beside.calls), at_least=1),
        Figure("honest calls that failed", len(failed), at_most=0),
        Figure("an honest call beside the attack, 99th percentile", slowest, "s", at_most=scale.honest_p99),
    ]


_PROOFS = (_judge_honest, _judge_attackers, _judge_sockets, judge_refusals, judge_beside)
AREA = Area("callers", "Slow and hostile callers", run, _PROOFS, alone=True)
