"""Finds the areas of the proof and runs them, each in a folder, a process and with a PostgreSQL of its own."""

import asyncio
import importlib
import json
import pkgutil
import shutil
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import asyncpg

from proof import areas
from proof.area import Area, Findings, Run
from proof.load.soak import HOURS, SOAK, soak
from tests.support.postgres import PostgresForTests, running_postgres

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reliability"
_LONG_SECONDS = 3600
_AT_ONCE = 3
"""More than the cores: most areas wait more than they work."""


@dataclass(frozen=True)
class Proved:
    area: Area
    findings: Findings
    seconds: float


def area_names() -> list[str]:
    """Every module of the package is an area of the same name, written with hyphens."""
    names = [module.name.replace("_", "-") for module in pkgutil.iter_modules(areas.__path__)]
    return sorted(name for name in names if not name.startswith("-"))


def area_named(name: str) -> Area:
    """Loads just this one: an area may need much."""
    area: Area = importlib.import_module(f"{areas.__name__}.{name.replace('-', '_')}").AREA
    assert area.name == name, f"{name} calls itself {area.name}"
    return area


def prove(area: Area, run: Run) -> Proved:
    """In a folder below that of the run, which stays when something did not hold."""
    folder = run.folder / area.name
    folder.mkdir(parents=True)
    started = time.monotonic()

    def say(text: str) -> None:
        run.say(f"{time.monotonic() - started:6.1f} s  {area.name}: {text}")

    findings = _run(area, replace(run, folder=folder, say=say))
    if not run.full:  # the quick form runs beside tests; the full one has the machine
        findings = findings.on_busy_machine()
    problems = findings.problems
    if problems:
        (folder / "problems.txt").write_text("\n".join(problems) + "\n")
    else:
        shutil.rmtree(folder)
    say("held" if not problems else f"{len(problems)} did NOT hold; what was kept: {folder}")
    return Proved(area, findings, time.monotonic() - started)


def _run(area: Area, run: Run) -> Findings:
    async def awaited() -> Findings:
        return await area.run(run)

    try:
        return asyncio.run(awaited())
    except (Exception, BaseExceptionGroup):  # noqa: BLE001  one area that breaks off is a finding, and the others still run
        (run.folder / "broke-off.txt").write_text(traceback.format_exc())
        last = traceback.format_exc().strip().splitlines()[-1]
        return Findings(broken=[f"the run broke off: {last}"])


def summary(proved: Sequence[Proved]) -> list[str]:
    lines = []
    for one in proved:
        lines.append(f"{'held  ' if not one.findings.problems else 'BROKEN'}  {one.area.name} ({one.seconds:.0f} s)")
        lines += [f"        {problem}" for problem in one.findings.problems]
    return lines


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
    beside = sorted((order for order in orders if order not in alone), key=lambda each: -seconds_of(each.name))
    yield from _filled(alone, 1)
    yield from _filled(beside, _AT_ONCE)


def _filled(orders: Sequence[Order], at_once: int) -> Iterator[Filled]:
    with ProcessPoolExecutor(at_once, get_context("spawn"), max_tasks_per_child=1) as workers:
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


def seconds_of(name: str, folder: Path = FOLDER) -> int:
    """How long the area took in its latest full run; one that never had any is taken for long."""
    path = folder / "areas" / f"{name}.json"
    return int(json.loads(path.read_text())["seconds"]) if path.exists() else _LONG_SECONDS


def _work(order: Order) -> tuple[Proved, str]:
    with tempfile.TemporaryDirectory() as place, running_postgres(Path(place)) as postgres:
        proved = prove(order.area, Run(order.full, order.seed, order.folder, postgres, _say))
        return proved, asyncio.run(_version(postgres))


async def _version(postgres: PostgresForTests) -> str:
    connection = await asyncpg.connect(postgres.url("postgres"))
    try:
        return str(await connection.fetchval("SHOW server_version"))
    finally:
        await connection.close()


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201  the screen is where a run reports
