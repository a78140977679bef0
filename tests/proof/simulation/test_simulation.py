"""The simulation itself: a seed is one history, its checks can fail, and a first handful of seeds holds."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing

import pytest

from aop.ledger.model import Fact
from aop.ledger.write.journal import Journal
from proof.simulation.seeds import run_seed, run_seeds
from tests.ledger.simulated.loop import NeverRests, SimulatedLoop

pytestmark = pytest.mark.second_ring


def test_whatever_happens_around_an_invocation_the_invariants_hold() -> None:
    runs = run_seeds(range(150))
    assert not runs.failing, str(runs.failing[0])


def test_a_seed_is_one_history() -> None:
    with closing(SimulatedLoop()) as loop, closing(SimulatedLoop()) as another:
        for seed in range(40):
            first, second = run_seed(seed, loop), run_seed(seed, another)
            assert (first.happened, first.hits) == (second.happened, second.hits)


class SpeaksTooEarly(Journal):
    """Says that a terminal is durable when it has only been handed over."""

    async def end(self, *facts: Fact) -> bool:
        writing = asyncio.create_task(super().end(*facts))
        await asyncio.sleep(0)
        self.__dict__.setdefault("unawaited", []).append(writing)
        return True


class SwallowsFailures(Journal):
    """Takes every terminal for stored."""

    async def end(self, *facts: Fact) -> bool:
        await super().end(*facts)
        return True


@pytest.mark.parametrize("journal", [SpeaksTooEarly, SwallowsFailures])
def test_a_planted_bug_is_found_within_a_thousand_seeds(journal: type[Journal]) -> None:
    assert run_seeds(range(1000), max_failing=1, journal=journal).failing


def test_who_waits_for_ever_is_noticed() -> None:
    async def goes_on() -> None:
        while True:  # noqa: ASYNC110
            await asyncio.sleep(1)

    with closing(SimulatedLoop()) as loop:
        for wait, told in ((loop.create_future, "can no longer happen"), (goes_on, "after 10 seconds")):

            async def waits(wait: Callable[[], Awaitable[None]] = wait) -> None:
                await wait()

            loop.begin(1, max_seconds=10)
            with pytest.raises(NeverRests, match=told):
                loop.run_until_complete(waits())
            loop.abandon()


def test_time_passes_at_once_and_ready_callbacks_come_in_the_order_of_the_seed() -> None:
    def order(seed: int) -> tuple[int, ...]:
        ran: list[int] = []
        with closing(SimulatedLoop()) as loop:
            loop.begin(seed, max_seconds=10_000)

            async def all_of_them() -> None:
                for number in range(8):
                    loop.call_soon(ran.append, number)
                await asyncio.sleep(3600)

            loop.run_until_complete(all_of_them())
            assert loop.time() == 3600
        return tuple(ran)

    assert order(3) == order(3)
    assert len({order(seed) for seed in range(20)}) > 5
