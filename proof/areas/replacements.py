"""Replacements: a Workspace moves between versions under calls, whatever the Router knows or has lost."""

import asyncio
from collections.abc import Mapping

from proof.area import Area, Figure, Findings, Run, proves
from tests.ledger.writing import breaches
from tests.support.replacing_calls import COLD, ReplacingCalls, replacing_calls

_CALLS_A_SECOND = 50
_MAX_OPEN = 64
_ROUTERS: Mapping[str, tuple[Mapping[str, str], bool]] = {
    "a warm Router": ({}, False),
    "a Router whose Card cache is cold": (COLD, False),
    "a Router whose watch is cut": ({}, True),
}
"""The settings of the Router, and whether its watch is cut before the first replacement."""


async def prove(run: Run) -> Findings:
    found = Findings()
    for name, (settings, is_cut) in _ROUTERS.items():
        async with run.stores() as (stores, _):
            async with replacing_calls(stores, **settings) as scene:
                await _replace_under_calls(scene, name, is_cut, run, found)
            found.require(not await breaches(stores.router), f"{name}: the Ledger breaks its own rules")
        run.say(f"{name}: {scene.answered} calls, done")
    return found


@proves(
    "While an Installation is replaced 20 times under 50 calls a second, nested calls included, no call is refused and"
    " each runs on exactly the old or the new Release, with a warm Router, a cold Card cache, and a watch that is cut."
)
async def _replace_under_calls(scene: ReplacingCalls, name: str, is_cut: bool, run: Run, found: Findings) -> None:
    replacements, pause = 2 * run.pick(5, 20), run.pick(1, 4) / 4
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_paced(scene, stop))
        await scene.more_answers(10)
        if is_cut:
            scene.line.cut()
        before = scene.line.resolves()
        await scene.replace_many(replacements, lambda: asyncio.sleep(pause))
        await scene.more_answers(10)
        stop.set()
    found.broken += [f"{name}: {problem}" for problem in scene.problems]
    found.hits[f"replacements with {name}"] += replacements
    found.hits[f"calls beside them with {name}"] += scene.answered
    if name != "a warm Router":
        found.hits[f"Cards that {name} asked for"] += scene.line.resolves() - before
    found.figures.append(Figure(f"calls a second with {name}", scene.answered / (loop.time() - began)))


async def _paced(scene: ReplacingCalls, stop: asyncio.Event) -> None:
    """Calls begin at a fixed rate, whether earlier ones have ended or not; a limit keeps a slow machine alive."""
    places, loop = asyncio.Semaphore(_MAX_OPEN), asyncio.get_running_loop()
    due = loop.time()

    async def one() -> None:
        try:
            await scene.call()
        finally:
            places.release()

    async with asyncio.TaskGroup() as calls:
        while not stop.is_set():
            await places.acquire()
            calls.create_task(one())
            due += 1 / _CALLS_A_SECOND
            await asyncio.sleep(max(0.0, due - loop.time()))


AREA = Area("replacements", "Replacements", prove, (_replace_under_calls,))
