"""Finds the areas of the proof and runs one, in a folder and a loop of its own."""

import asyncio
import importlib
import pkgutil
import shutil
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from proof import areas
from proof.area import Area, Findings, Run
from tests.support.postgres import PostgresForTests


@dataclass(frozen=True)
class Proof:
    """How to run. `say` takes lines for whoever watches; folders of areas that held are removed."""

    full: bool
    seed: int
    folder: Path
    postgres: PostgresForTests
    say: Callable[[str], None]


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


def prove(area: Area, proof: Proof) -> Proved:
    folder = proof.folder / area.name
    folder.mkdir(parents=True)
    started = time.monotonic()

    def say(text: str) -> None:
        proof.say(f"{time.monotonic() - started:6.1f} s  {area.name}: {text}")

    findings = _run(area, Run(proof.full, proof.seed, folder, proof.postgres, say))
    if not proof.full:  # the quick form runs beside tests; the full one has the machine
        findings = findings.on_busy_machine()
    problems = findings.problems
    if problems:
        (folder / "problems.txt").write_text("\n".join(problems) + "\n")
    else:
        shutil.rmtree(folder)
    say("held" if not problems else f"{len(problems)} did NOT hold; what was kept: {folder}")
    return Proved(area, findings, time.monotonic() - started)


def _run(area: Area, run: Run) -> Findings:
    try:
        return asyncio.run(_awaited(area, run))
    except (Exception, BaseExceptionGroup):  # noqa: BLE001  one area that breaks off is a finding, and the others still run
        (run.folder / "broke-off.txt").write_text(traceback.format_exc())
        last = traceback.format_exc().strip().splitlines()[-1]
        return Findings(broken=[f"the run broke off: {last}"])


async def _awaited(area: Area, run: Run) -> Findings:
    return await area.run(run)


def summary(proved: Sequence[Proved]) -> list[str]:
    lines = []
    for one in proved:
        lines.append(f"{'held  ' if not one.findings.problems else 'BROKEN'}  {one.area.name} ({one.seconds:.0f} s)")
        lines += [f"        {problem}" for problem in one.findings.problems]
    return lines
