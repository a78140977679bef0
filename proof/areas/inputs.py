"""Inputs: generated calls, JSON at every entry point, HTTP framing, lives of objects at once, and fuzzed readers."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

from proof.area import Area, Figure, Findings, Run, give_way, proves
from proof.authorization.world import World, opened_world
from proof.inputs.credential_reader import Credentials
from proof.inputs.document_readers import Answers, Cards
from proof.inputs.framing import send_all, wires
from proof.inputs.generated_calls import Calls
from proof.inputs.json_entries import JsonEntries
from proof.inputs.lives import expect, live
from proof.inputs.mutation import Fuzzed, Reader, fuzz
from proof.inputs.readers import Accepts, Endpoints, Streams
from tests.base.json_corpus import CORPUS
from tests.support.publication import publication_scene

READERS: Mapping[type[Reader], int] = {Cards: 4, Credentials: 4, Answers: 1, Accepts: 1, Streams: 1, Endpoints: 1}
"""And into how many parts the work with each is cut, so that two processes have about the same to do."""
MAX_SECONDS_FOR_ONE_INPUT = 0.5


async def prove(run: Run) -> Findings:
    found = Findings()
    await _fuzz(run, found)
    async with run.stores() as (stores, _), opened_world(stores) as world:
        await _offer_json(run, world, found)
        await _break_framing(run, world, found)
        await _call(run, world, found)
    await _live(run, found)
    return found


@proves(
    "The readers of hostile input give nothing but their documented refusals, agree with independent oracles,"
    " and take bounded time."
)
async def _fuzz(run: Run, found: Findings) -> None:
    """Quickly, one reader after the other; in full, in two processes beside each other."""
    loop = asyncio.get_running_loop()
    count, seconds = run.pick(1500, 1_000_000), run.pick(1, 240)
    works = [(reader, run.seed + part, count // parts) for reader, parts in READERS.items() for part in range(parts)]
    spawn = get_context("spawn")
    two: Executor = ProcessPoolExecutor(2, spawn, initializer=give_way) if run.full else ThreadPoolExecutor(1)
    with two as workers:
        done = await asyncio.gather(*(loop.run_in_executor(workers, fuzz, *work, seconds) for work in works))
    for name in sorted({each.name for each in done}):
        _report([each for each in done if each.name == name], name, run, found)


def _report(done: list[Fuzzed], name: str, run: Run, found: Findings) -> None:
    found.broken += [find for each in done for find in each.finds]
    accepted, executions = sum(each.accepted for each in done), sum(each.executions for each in done)
    found.hits[f"{name}: accepted"] += accepted
    found.hits[f"{name}: refused"] += executions - accepted
    slowest = max(each.slowest_seconds for each in done)
    found.figures += [
        Figure(f"{name}: inputs", executions, at_least=run.pick(200, 1_000_000)),
        Figure(f"{name}: the slowest", round(slowest * 1e3, 1), "ms", at_most=MAX_SECONDS_FOR_ONE_INPUT * 1e3),
    ]
    run.say(f"{name}: {executions} inputs")


@proves(
    "Every text of the JSON corpus gets one verdict at every entry point: request bodies, the input inside"
    " one, an Agent's answer and an Agent's stream; what is accepted arrives with every spelling kept."
)
async def _offer_json(run: Run, world: World, found: Findings) -> None:
    entries = JsonEntries(world, found)
    cases = CORPUS if run.full else run.random.sample(CORPUS, 30)
    before = await world.platform.recorded()
    await entries.as_body(cases)
    await entries.as_input(cases)
    await entries.as_answer(cases)
    await entries.as_event(cases)
    recorded = await world.platform.recorded() - before
    found.require(recorded == entries.accepted, f"{recorded} Invocations recorded, not {entries.accepted}")
    found.figures.append(Figure("texts of the JSON corpus", len(cases), at_least=run.pick(30, 300)))
    run.say(f"JSON corpus: {len(cases)} texts")


@proves("Broken, ambiguous and pipelined HTTP is refused by both units, and nothing hidden in it is served.")
async def _break_framing(run: Run, world: World, found: Findings) -> None:
    before = await world.platform.recorded()
    for wire in wires(world):
        await send_all(wire, run.random, run.pick(3, 20), found)
        found.require((await wire.unit.get("/livez")).status == 200, f"the {wire.name} does not answer any more")
    spaces = [item["workspaceId"] for page in await world.platform.owner.pages("", 100) for item in page]
    found.require("smuggled" not in spaces, "a request hidden in another was served")
    found.require(await world.platform.recorded() == before, "an Invocation hidden in another request was begun")


@proves(
    "Calls generated from the four OpenAPI documents, right and wrong, are answered as their document says,"
    " never with a 5xx."
)
async def _call(run: Run, world: World, found: Findings) -> None:
    calls = Calls(world, run.seed, run.pick(2, 115))
    await asyncio.to_thread(calls.make)
    found.broken += calls.broken
    for (document, status), number in sorted(calls.statuses.items()):
        found.hits[f"{document}: {status}"] += number
    found.figures.append(Figure("generated calls", calls.statuses.total(), at_least=run.pick(200, 12_000)))


@proves(
    "Random lives of Cards, Bindings, Challenges, Releases, Workspaces and Installations, with up to three"
    " calls at once, are explained by a model written from the contract alone."
)
async def _live(run: Run, found: Findings) -> None:
    expect(found, many=run.full)
    lives = run.pick(4, 60)
    async with run.stores() as (stores, _), publication_scene(stores, PLATFORM_LOG_LEVEL="error") as scene:
        for number in range(lives):
            await live(scene, run.seed * 1000 + number, run.pick(50, 80), found)
    found.figures.append(Figure("lives", lives))


AREA = Area("inputs", "Inputs", prove, (_call, _offer_json, _break_framing, _live, _fuzz))
