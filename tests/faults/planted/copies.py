"""Runs a named test on a copy of the product with one bug planted in it, beside the tree and not in it."""

import asyncio
import shutil
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.faults.planted.mutant import Mutant

ROOT = Path(__file__).resolve().parents[3]
MOST_SECONDS = 180
_COPIED = ("src", "migrations")
_LINKED = ("contracts", "templates")
_PASSED, _FAILED = 0, 1


class Verdict(StrEnum):
    CAUGHT = "caught"
    SURVIVED = "survived"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Tried:
    mutant: Mutant
    verdict: Verdict
    said: str


def stale(mutant: Mutant) -> str | None:
    """Why the bug cannot be planted any more, if so."""
    path = ROOT / mutant.file
    count = path.read_text("utf-8").count(mutant.old) if path.is_file() else 0
    return None if count == 1 else f"{mutant.name}: its text stands {count} times in {mutant.file}"


async def try_mutant(mutant: Mutant, folder: Path) -> Tried:
    """Caught, when the named test fails on the copy; a copy that cannot even be loaded decides nothing."""
    await asyncio.to_thread(_plant, mutant, folder)
    code, said = await run_test(mutant.test, folder / "src")
    await asyncio.to_thread(shutil.rmtree, folder)
    if code not in {_PASSED, _FAILED}:
        return Tried(mutant, Verdict.UNDECIDED, said)
    return Tried(mutant, Verdict.CAUGHT if code == _FAILED else Verdict.SURVIVED, said)


async def passes(test: str) -> bool:
    """Whether the test holds on the product as it is."""
    code, _ = await run_test(test, ROOT / "src")
    return code == _PASSED


async def run_test(test: str, source: Path) -> tuple[int, str]:
    """In a process of its own, for which that folder is the product: its exit code and the end of what it said."""
    pytest = ("-m", "pytest", "-q", "-x", "--no-header", "--tb=line", test)
    process = await asyncio.create_subprocess_exec(
        *("env", f"PYTHONPATH={source}", sys.executable, *pytest),
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(MOST_SECONDS):
            said, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return _FAILED, f"still running after {MOST_SECONDS} seconds"
    return process.returncode or 0, said.decode(errors="replace")[-2000:]


def _plant(mutant: Mutant, folder: Path) -> None:
    for name in _COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _LINKED:
        (folder / name).symlink_to(ROOT / name)
    path = folder / mutant.file
    changed = path.read_text("utf-8").replace(mutant.old, mutant.new)
    path.write_text(changed, "utf-8")
    if path.suffix == ".py":
        compile(changed, mutant.file, "exec")
