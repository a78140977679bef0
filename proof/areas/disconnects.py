"""Area `disconnects`: callers that leave at twelve stages in five ways; the right fact is recorded, and soon."""

from collections.abc import Sequence
from typing import NamedTuple

from proof.area import Area, Figure, Findings, Run, proves
from proof.caller import Leaving
from proof.disconnects.leavers import FATES, WAITING, Cell, HoldingAgent, Leavers, Stage, held
from proof.gathering import Seen, descriptors, problems_of
from proof.plan import Edge, Plan
from proof.record import Recorded
from proof.world import world_of
from tests.support.cards import some_limits

_AT_ONCE = 2
"""Rounds of all stages and ways that run beside each other."""
_AT_ONCE_WAITING = 10
_MAX_OUTPUT = 8 * 1024 * 1024
"""More than what lies in buffers between an Agent and a caller that does not read."""


class Bounds(NamedTuple):
    """When `canceled` must be durable, in general and after a silent end."""

    milliseconds: float
    silent_seconds: float


_ALONE, _BESIDE_OTHERS = Bounds(300.0, 8.0), Bounds(2000.0, 12.0)
"""What is promised, measured when nothing else runs; a quick run shares its cores with other tests."""


async def run(run: Run) -> Findings:
    found, times = Findings(), run.pick(1, 40)
    plan = Plan(edges=frozenset({Edge.CONTROL_PLANE_STORE}), card={"limits": some_limits(maxOutputBytes=_MAX_OUTPUT)})
    async with world_of(run, plan) as made:
        leavers = Leavers(made, HoldingAgent())
        made.agent.usual = (leavers.agent.behave,)
        # What the pools keep is no leak: they are filled before anything is counted.
        await leavers.all_leave([(Cell(Stage.ANSWERED, Leaving.FIN), 0.2)] * 60)
        before = descriptors(made)
        await _all_rounds(run, leavers, times)
        rows = await made.ledger.recorded()
        _judge(found, leavers, rows, _ALONE if run.full else _BESIDE_OTHERS)
        _require_cancels(found, leavers)
        results = [left.result for left in leavers.left]
        found.broken += await problems_of(made, Seen(results, before=before, counts=True))
    return found


async def _all_rounds(run: Run, leavers: Leavers, times: int) -> None:
    chance = run.random
    free = [Cell(stage, way) for stage in Stage if stage not in WAITING for way in Leaving]
    for first in range(0, times, _AT_ONCE):
        count = min(_AT_ONCE, times - first)
        run.say(f"{count * len(free)} callers leave at {len(Stage) - len(WAITING)} stages")
        # Spread out, so that what is measured is one leaving and not the storm of all of them.
        await leavers.all_leave([(cell, chance.uniform(0.0, 0.6 * count)) for cell in free * count])
    # Each of these takes as long as a silent machine; a quick run looks at one of them.
    for stage in WAITING if run.full else [chance.choice(WAITING)]:
        for first in range(0, times, _AT_ONCE_WAITING):
            count = min(_AT_ONCE_WAITING, times - first)
            run.say(f"{count * len(Leaving)} callers leave while {stage}")
            cells = [(Cell(stage, way), 0.15) for way in Leaving] * count
            await leavers.all_leave(cells, during=held(leavers.made, stage))


@proves(
    "A caller that leaves after acceptance is recorded as `canceled`, whatever the stage and however it leaves.",
    "One that leaves before leaves nothing behind; one that has its whole answer changes nothing.",
)
def _judge(found: Findings, leavers: Leavers, rows: Sequence[Recorded], bounds: Bounds) -> None:
    """Each caller's own record; what no Agent heard of can only be a call that left before or while it was accepted."""
    by_id = {row.invocation_id: row for row in rows}
    delays: dict[Leaving, list[float]] = {way: [] for way in Leaving}
    for left in leavers.left:
        found.hits[f"{left.cell.stage}: {left.cell.way}"] += 1
        row = by_id.pop(leavers.agent.invocations.get(left.number, ""), None)
        terminal = row.terminals[0] if row is not None and row.terminals else None
        if row is None and left.cell.stage in WAITING:
            continue
        outcome = None if terminal is None else terminal.type
        allowed = FATES[left.cell.stage].outcomes
        found.require(outcome in allowed, f"{left.cell.stage}, {left.cell.way}: recorded {terminal}")
        if (
            terminal is not None and outcome == "canceled" and left.cell.stage not in WAITING
        ):  # there the store was held
            delays[left.cell.way].append(max(0.0, (terminal.durable or 0.0) - left.at))
    strays = [row for row in by_id.values() if [fact.type for fact in row.terminals] != ["canceled"]]
    found.require(not strays, f"{len(strays)} records of nobody's call")
    found.broken += leavers.missed
    _measure(found, delays, bounds)


@proves("`canceled` is durable within 300 ms, after a machine that died silently within 8 s.")
def _measure(found: Findings, delays: dict[Leaving, list[float]], bounds: Bounds) -> None:
    for way, seconds in delays.items():
        name = f"canceled is durable after {way}, longest"
        if way is Leaving.SILENT:
            found.figures.append(Figure(name, max(seconds), "s", at_most=bounds.silent_seconds))
        else:
            found.figures.append(Figure(name, max(seconds) * 1000, "ms", at_most=bounds.milliseconds))


@proves("An Agent whose Task is known is told to stop exactly once, any other never.")
def _require_cancels(found: Findings, leavers: Leavers) -> None:
    """A Task the Router knew of gets one cancel, any other none."""
    for left in leavers.left:
        invocation_id = leavers.agent.invocations.get(left.number)
        if invocation_id is not None:
            cancels = leavers.made.agent.methods(invocation_id).count("tasks/cancel")
            expected = FATES[left.cell.stage].cancels
            found.require(cancels == expected, f"{left.cell.stage}, {left.cell.way}: {cancels} tasks/cancel")


AREA = Area("disconnects", "Disconnects", run, (_judge, _measure, _require_cancels), alone=True)
