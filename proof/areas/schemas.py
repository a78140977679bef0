"""Area `schemas`: what is said to stay valid in a new version does, as far as many values near the schemas can tell."""

import asyncio
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

from aop.contracts.compatibility import Compatible
from proof.area import Area, Figure, Findings, Run, give_way, proves
from tests.cards.compatibility_search import is_usable, searched
from tests.cards.schema_pairs import PairDraw

PAIRS, VALUES = 500, 1000
_PARTS = 2
_MIN_DECIDED_PERCENT = 85.0
"""Of schemas that people would write, edited as people would."""


class Tally(NamedTuple):
    edited: Counter[str]
    mixed: Counter[str]
    tried: int
    """Values that the old schema accepts, of pairs whose values are said to stay valid."""
    refuted: list[str]


async def prove(run: Run) -> Findings:
    found = Findings()
    loop = asyncio.get_running_loop()
    pairs, values = run.pick(60, PAIRS), run.pick(100, VALUES)
    share = pairs // _PARTS
    with ProcessPoolExecutor(_PARTS, get_context("spawn"), initializer=give_way) as processes:
        seeds = [run.seed * 1_000_000 + part * share for part in range(_PARTS)]
        tallies = await asyncio.gather(
            *(loop.run_in_executor(processes, _searched, seed, share, values) for seed in seeds)
        )
    _judge(run, tallies, found)
    return found


def _searched(seed: int, pairs: int, values: int) -> Tally:
    """Half of the pairs as people write and edit them, half of any keywords."""
    tally, number = Tally(Counter(), Counter(), 0, []), 0
    while tally.edited.total() + tally.mixed.total() < pairs:
        draw = PairDraw(seed + number)
        pair, counts = (draw.edited(), tally.edited) if number % 2 else (draw.mixed(), tally.mixed)
        number += 1
        if not is_usable(pair.before, pair.after):
            continue
        result = searched(pair, draw.pick, values)
        counts[result.found.compatible] += 1
        tally = tally._replace(tried=tally.tried + result.tried)
        if result.is_refuted:
            tally.refuted.append(f"seed {seed + number - 1}: {result.counterexample!r} does not stay valid")
    return tally


@proves(
    "Of 500 generated pairs of schemas, 1,000 values near each find none that the old schema accepts and the new"
    " one refuses where old values are said to stay valid; most edits that people make are decided."
)
def _judge(run: Run, tallies: list[Tally], found: Findings) -> None:
    found.broken += [one for tally in tallies for one in tally.refuted]
    found.figures.append(Figure("values tried that the old schema accepts", sum(tally.tried for tally in tallies)))
    for name, counts in (
        ("edited", sum((tally.edited for tally in tallies), Counter[str]())),
        ("any keywords", sum((tally.mixed for tally in tallies), Counter[str]())),
    ):
        for compatible in Compatible:
            found.figures.append(Figure(f"{name}: {compatible}", counts[compatible]))
        if name == "edited":
            decided = 100 * (1 - counts[Compatible.NOT_DECIDED] / max(counts.total(), 1))
            found.figures.append(Figure("edited: decided", decided, "%", at_least=_MIN_DECIDED_PERCENT))
    run.say(f"{sum(tally.edited.total() + tally.mixed.total() for tally in tallies)} pairs")


AREA = Area("schemas", "Schemas of new versions", prove, (_judge,))
