"""Areas beside each other: each in a process of its own, with a PostgreSQL of its own."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import asyncpg

from proof import report
from proof.area import Area, Findings
from proof.load.soak import HOURS, SOAK, soak
from proof.runner import Proof, Proved, area_named, prove
from tests.support.postgres import PostgresForTests, running_postgres

LANES = 3
"""More than the cores: most areas wait more than they work."""


def any_area(name: str, hours: float = HOURS) -> Area:
    """Also the one that is no part of the whole, which lasts for so many hours."""
    return soak(hours) if name == SOAK else area_named(name)


@dataclass(frozen=True)
class Order:
    name: str
    hours: float
    full: bool
    seed: int
    folder: Path

    @property
    def area(self) -> Area:
        return any_area(self.name, self.hours)


@dataclass(frozen=True)
class Filled:
    order: Order
    proved: Proved
    postgres: str
    """The version that served it."""


def fill(orders: Sequence[Order]) -> Iterator[Filled]:
    """First those that need the machine to themselves, one after the other; then the others, the longest first."""
    alone = [order for order in orders if order.area.alone]
    beside = sorted((order for order in orders if order not in alone), key=lambda each: -report.seconds_of(each.name))
    yield from _filled(alone, 1)
    yield from _filled(beside, LANES)


def _filled(orders: Sequence[Order], lanes: int) -> Iterator[Filled]:
    with ProcessPoolExecutor(lanes, get_context("spawn"), max_tasks_per_child=1) as workers:
        waiting: dict[Future[tuple[Proved, str]], Order] = {workers.submit(_work, order): order for order in orders}
        try:
            for done in as_completed(waiting):
                yield Filled(waiting[done], *_outcome(done, waiting[done]))
        except BaseException:
            workers.shutdown(cancel_futures=True)
            raise


def _outcome(done: "Future[tuple[Proved, str]]", order: Order) -> tuple[Proved, str]:
    try:
        return done.result()
    except BrokenProcessPool as died:
        return Proved(order.area, Findings(broken=[f"its process or one beside it died: {died}"]), 0.0), "unknown"


def _work(order: Order) -> tuple[Proved, str]:
    with tempfile.TemporaryDirectory() as place, running_postgres(Path(place)) as postgres:
        proved = prove(order.area, Proof(order.full, order.seed, order.folder, postgres, _say))
        return proved, asyncio.run(_version(postgres))


async def _version(postgres: PostgresForTests) -> str:
    connection = await asyncpg.connect(postgres.url("postgres"))
    try:
        return str(await connection.fetchval("SHOW server_version"))
    finally:
        await connection.close()


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201  the screen is where a run reports
