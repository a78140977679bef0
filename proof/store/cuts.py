"""The store's connection cut behind every byte of one invocation's transactions, in either direction."""

from collections.abc import Sequence

from proof.area import Findings, Run
from proof.fault_proxy import Direction, FaultProxy
from proof.traffic import Load, Traffic
from proof.world import Edge, World

Point = tuple[Direction, int]


async def cut_everywhere(run: Run, made: World, found: Findings) -> Traffic:
    """One call at a time, so that the byte is that of this call; gives what the callers saw."""
    proxy, calls = made.on(Edge.ROUTER_STORE), Traffic(made, Load(json=0, streams=0))
    up, down = await _points(calls, proxy)
    chosen = [*up, *down] if run.full else [*run.random.sample(up, 14), *run.random.sample(down, 6)]
    for number, (way, behind) in enumerate(chosen):
        if number % 250 == 0:
            run.say(f"cut behind a byte of the accepting or ending transaction: {number} of {len(chosen)}")
        # The connections that were cut are new again, so that nothing but the transactions passes.
        warm = await calls.call(stream=False)
        found.require(warm.outcome == "succeeded", f"after a cut {way} behind byte {behind}: {warm.status} {warm.code}")
        before = proxy.hits["cut"]
        proxy.cut(way, behind)
        await calls.call(stream=False)
        proxy.disarm()
        await proxy.cut_done()
        found.hits[f"cut at an exact byte, {way}"] += proxy.hits["cut"] - before
    return calls


async def _points(calls: Traffic, proxy: FaultProxy) -> tuple[Sequence[Point], Sequence[Point]]:
    """Every byte, up and down, of both transactions of an invocation, as they pass when nothing else does."""
    for _ in range(3):
        await calls.call(stream=False)
    up, down = proxy.up, proxy.down
    await calls.call(stream=False)
    sent, received = proxy.up - up, proxy.down - down
    return [("up", byte) for byte in range(1, sent + 1)], [("down", byte) for byte in range(1, received + 1)]
