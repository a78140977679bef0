"""Which tests reach which block of the product: recorded by one run of the ordinary tests on a marked twin."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from tests.mutants.marks import BYTES, Block, mark_product
from tests.mutants.mutant import ROOT
from tests.mutants.twin import TWINS, Twin

RECORD = TWINS / "reach.json"
ABOUT_MUTANTS = ("tests/mutants/", "tests/proof/test_planted.py")
"""They look at the text of the product and see every change of it, whatever it means."""
_TOGETHER = frozenset({"tests/console", "tests/docs"})
"""Folders whose tests share a platform."""
_FILES_AT_ONCE = 10
_MAX_TEST_SECONDS = 900.0


@dataclass(frozen=True)
class Reached:
    seconds: float
    blocks: int
    """One bit for each block."""


@dataclass
class Reach:
    blocks: list[Block] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    """Of the files the blocks were counted in, and of the files of tests."""
    tests: dict[str, Reached] = field(default_factory=dict)

    @cached_property
    def _of_file(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, block in enumerate(self.blocks):
            found.setdefault(block.file, []).append(number)
        return found

    def blocks_at(self, file: str, line: int, function: str) -> int:
        """The block around the line; in a file that has changed since, all of the function. None: it runs at import."""
        numbers = self._of_file.get(file, [])
        if self.digests.get(file) == digest(ROOT / file):
            around = [number for number in numbers if self.blocks[number].first <= line <= self.blocks[number].last]
            closest = min(around, key=lambda number: self.blocks[number].last - self.blocks[number].first, default=None)
            return 0 if closest is None else 1 << closest
        return sum(1 << number for number in numbers if self.blocks[number].function == function)

    def blocks_of(self, files: Iterable[str]) -> int:
        return sum(1 << number for file in files for number in self._of_file.get(file, []))


def load() -> Reach:
    if not RECORD.is_file():
        return Reach()
    known = json.loads(RECORD.read_text("utf-8"))
    tests = {name: Reached(one["seconds"], int(one["reached"], 16)) for name, one in known["tests"].items()}
    return Reach([Block(**block) for block in known["blocks"]], known["digests"], tests)


def is_current() -> bool:
    """Whether the record was made on the product as it is."""
    digests = load().digests
    return bool(digests) and all(digests.get(str(path.relative_to(ROOT))) == digest(path) for path in _sources())


async def record(paths: Sequence[str], at_once: int, say: Callable[[str], None]) -> Reach:
    """Runs the tests below the paths, or all of them, several groups at a time."""
    groups = list(_groups(paths or ["tests"]))
    digests = {str(path.relative_to(ROOT)): digest(path) for path in _sources()}
    recorded = {file: digest(ROOT / file) for group in groups for file in group}
    twins = [Twin(f"marked-{number}") for number in range(at_once)]
    blocks: list[Block] = []
    for twin in twins:
        await asyncio.to_thread(twin.renew)
        blocks = await asyncio.to_thread(mark_product, twin.root)
    found: dict[str, Reached] = {}

    async def take_groups(twin: Twin) -> None:
        while groups:
            group = groups.pop(0)
            found.update(await _reached_by(twin, group, say))
            say(f"{group[0]} and {len(group) - 1} more: {len(found)} tests recorded, {len(groups)} groups left")

    await asyncio.gather(*map(take_groups, twins))
    earlier = load()
    if not digests.items() <= earlier.digests.items():
        earlier = Reach()
    reach = Reach(blocks, earlier.digests | digests | recorded, earlier.tests | found)
    _keep(reach)
    return reach


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


async def _reached_by(twin: Twin, files: Sequence[str], say: Callable[[str], None]) -> dict[str, Reached]:
    told = twin.root / ".dev" / "reach.json"
    told.unlink(missing_ok=True)
    marks = twin.root / "src" / BYTES
    options = ("--reach", str(told), "--marks", str(marks))
    ended = await twin.pytest(lambda _: _MAX_TEST_SECONDS, *options, *files)
    if not told.is_file():
        raise RuntimeError(f"nothing was recorded of {files}:\n{ended.said}")
    for name in ended.failed:
        say(f"failed: {name}")
    known = json.loads(told.read_text("utf-8"))
    return {name: Reached(one["seconds"], int(one["reached"], 16)) for name, one in known.items()}


def _groups(paths: Sequence[str]) -> Iterator[list[str]]:
    """Files of one folder, few enough that all twins end at about the same time."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        given = ROOT / path
        found = [given] if given.is_file() else sorted(given.rglob("test_*.py"))
        for file in (str(path.relative_to(ROOT)) for path in found):
            if not file.startswith(ABOUT_MUTANTS):
                folders.setdefault(file.rpartition("/")[0], []).append(file)
    for folder, files in folders.items():
        size = len(files) if folder in _TOGETHER else _FILES_AT_ONCE
        yield from (files[start : start + size] for start in range(0, len(files), size))


def _sources() -> list[Path]:
    return sorted((ROOT / "src").rglob("*.py"))


def _keep(reach: Reach) -> None:
    tests = {name: {"seconds": one.seconds, "reached": f"{one.blocks:x}"} for name, one in reach.tests.items()}
    content = {"blocks": [asdict(block) for block in reach.blocks], "digests": reach.digests, "tests": tests}
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    RECORD.write_text(json.dumps(content), "utf-8")
