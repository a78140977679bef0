"""Finds the areas of the proof and runs them, each in a folder, a process and with a PostgreSQL of its own."""

import asyncio
import importlib
import json
import os
import pkgutil
import shutil
import signal
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process
from pathlib import Path

from proof import areas
from proof.area import HOURS, Area, Findings, Run
from tests.support.postgres import running_postgres

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reliability"
SOAK = "soak"
"""The one area that is no part of the whole: it runs only when it is named."""
_LONG_SECONDS = 3600
_AT_ONCE = 3
"""More than the cores: most areas wait more than they work."""


@dataclass(frozen=True)
class Proved:
    area: Area
    findings: Findings
    seconds: float
    postgres: str = "unknown"
    """The version that served it."""


@dataclass(frozen=True)
class Order:
    """How areas are to run."""

    full: bool
    seed: int
    folder: Path
    hours: float = HOURS


def area_names() -> list[str]:
    """Every module of the package is an area of the same name, written with hyphens."""
    names = [module.name.replace("_", "-") for module in pkgutil.iter_modules(areas.__path__)]
    return sorted(name for name in names if name != SOAK)


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
    if not run.full:  # areas of the quick form run beside each other; the full one has the machine
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


def prove_all(names: Sequence[str], order: Order) -> Iterator[Proved]:
    """First those that need the machine to themselves, one after the other; then the others, the longest first."""
    alone = [name for name in names if area_named(name).alone]
    beside = sorted((name for name in names if name not in alone), key=lambda name: -seconds_of(name))
    yield from _proved(alone, 1, order)
    yield from _proved(beside, _AT_ONCE, order)


def _proved(names: Sequence[str], at_once: int, order: Order) -> Iterator[Proved]:
    workers = ProcessPoolExecutor(at_once, get_context("spawn"), _end_with_parent, max_tasks_per_child=1)
    try:
        waiting: dict[Future[Proved], str] = {workers.submit(_work, name, order): name for name in names}
        for done in as_completed(waiting):
            yield _outcome(done, waiting[done])
    finally:
        # Not as a context: its end would wait for areas that nobody has told to end yet.
        workers.shutdown(wait=False, cancel_futures=True)


def _end_with_parent() -> None:
    """An area whose command was ended clears up and ends as well: its units and its PostgreSQL are its children."""
    parent = parent_process()
    assert parent is not None
    # A shell lets what it starts in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=watch, daemon=True).start()


def _outcome(done: "Future[Proved]", name: str) -> Proved:
    try:
        return done.result()
    except BrokenProcessPool as died:
        return Proved(area_named(name), Findings(broken=[f"its process or one beside it died: {died}"]), 0.0)


def seconds_of(name: str) -> int:
    """How long the area took in its latest full run; one that never had any is taken for long."""
    path = FOLDER / "areas" / f"{name}.json"
    return int(json.loads(path.read_text())["seconds"]) if path.exists() else _LONG_SECONDS


def _work(name: str, order: Order) -> Proved:
    with tempfile.TemporaryDirectory() as place, running_postgres(Path(place)) as postgres:
        run = Run(order.full, order.seed, order.folder, postgres, _say, order.hours)
        return replace(prove(area_named(name), run), postgres=str(postgres._server._cluster.major))


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201  the screen is where a run reports
