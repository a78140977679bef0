"""A second checkout beside the tree, with environments of its own: there a mistake reaches every process of a test."""

import asyncio
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import cache_from_source
from io import TextIOWrapper
from pathlib import Path

from tests.mutants.mutant import ROOT, Mutant
from tests.support.processes import processes_of
from tools.environments import Environment, link

TWINS = ROOT / ".dev" / "twins"
_SHARED = (".dev/uv", ".dev/node", ".dev/console", "console/node_modules", "console/dist")
"""Made from what no mutant changes."""
_LOCK = "requirements-dev.lock"
_POLL_SECONDS = 0.5
_SAID = 3000

Limit = Callable[[str], float]
"""How many seconds a test may take before it hangs."""


@dataclass(frozen=True)
class Ended:
    """How a run of tests ended. `test` is the first that failed, or the one that hangs; `failed` are all."""

    code: int
    test: str | None
    hangs: bool
    said: str
    failed: Sequence[str] = ()


class Twin:
    def __init__(self, name: str) -> None:
        self.root = TWINS / name
        self._claimed: TextIOWrapper | None = None

    def renew(self) -> None:
        """Makes it the tree as it is, whatever was done to it, once nobody else works in it."""
        self._claim()
        listed, kept = _listed(), self.root / ".dev" / "listed"
        for name in set(kept.read_text("utf-8").splitlines() if kept.is_file() else ()) - listed:
            (self.root / name).unlink(missing_ok=True)
        for name in listed:
            _copy(ROOT / name, self.root / name)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text("\n".join(listed), "utf-8")
        self._link_environments()
        for name in _SHARED:
            link = self.root / name
            if (ROOT / name).exists() and not link.is_symlink():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(ROOT / name)

    def _claim(self) -> None:
        """Until it is released or this process ends: two at work in one would see each other's mistakes."""
        if self._claimed is None:
            TWINS.mkdir(parents=True, exist_ok=True)
            self._claimed = self.root.with_suffix(".lock").open("a")
            fcntl.flock(self._claimed, fcntl.LOCK_EX)

    def release(self) -> None:
        """Others may work in it."""
        if self._claimed is not None:
            self._claimed.close()
            self._claimed = None

    def _link_environments(self) -> None:
        """With the packages of the tree; the product they see is the one of this twin."""
        for stamp in (*(ROOT / ".dev").glob("test/.stamp"), *(ROOT / ".dev").glob("agents/*/.stamp")):
            name = str(stamp.parent.relative_to(ROOT / ".dev"))
            agent = self.root / name
            lock, more = (agent / "requirements.lock", agent) if agent.is_dir() else (self.root / _LOCK, self.root)
            environment = Environment(str(self.root / ".dev" / name), lock, (self.root / "src", more), 0)
            link(environment, stamp.parent)

    @contextmanager
    def planted(self, mutant: Mutant) -> Iterator[None]:
        """In the text of the twin, whatever happens to the tree meanwhile."""
        path = self.root / mutant.file
        original = path.read_text("utf-8")
        _write(path, original.replace(mutant.old, mutant.new))
        try:
            yield
        finally:
            _write(path, original)

    async def run(self, tests: Sequence[str], limit: Limit, *options: str) -> Ended:
        """The tests in the order given, until one fails; one that takes longer than its limit is ended."""
        place = self.root / ".dev" / "run"
        place.mkdir(parents=True, exist_ok=True)
        (place / "order").write_text("\n".join(tests), "utf-8")
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        return await self.pytest(limit, "-x", "--in-order", str(place / "order"), *options, *files)

    async def pytest(self, limit: Limit, *arguments: str) -> Ended:
        progress = self.root / ".dev" / "progress"
        progress.parent.mkdir(parents=True, exist_ok=True)
        progress.write_text("")
        fixed = ("-p", "tests.mutants.plugin", "--progress", str(progress), "--no-header", "--tb=short", "-rN")
        output = self.root / ".dev" / "output"
        with output.open("wb") as said:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, str(self.root / "dev"), "test", *fixed, *arguments),
                cwd=self.root,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
            try:
                hanging = await _hanging(process, progress, limit)
            finally:
                await self._end(process)
        failed = list(dict.fromkeys(_tests_with(progress, "failed ")))
        text = output.read_text("utf-8", errors="replace")[-_SAID:]
        test = hanging or next(iter(failed), None)
        return Ended(process.returncode or 0, test, hanging is not None, text, failed)

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        """Also whatever the tests left behind, which carries the place of this twin."""
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
            with suppress(TimeoutError):
                async with asyncio.timeout(10):
                    await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()
        for pid in await asyncio.to_thread(processes_of, f"{self.root}{os.sep}"):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


async def _hanging(process: asyncio.subprocess.Process, progress: Path, limit: Limit) -> str | None:
    """The test that takes too long, if one does; returns when the run has ended otherwise."""
    begun, lines, ended = time.monotonic(), 0, asyncio.create_task(process.wait())
    while True:
        await asyncio.wait([ended], timeout=_POLL_SECONDS)
        if ended.done():
            return None
        started = _tests_with(progress, "begins ")
        if len(started) > lines:
            begun, lines = time.monotonic(), len(started)
        current = started[-1] if started else ""
        if time.monotonic() - begun > limit(current):
            ended.cancel()
            return current


def _tests_with(progress: Path, event: str) -> list[str]:
    lines = progress.read_text("utf-8").splitlines()
    return [line.removeprefix(event) for line in lines if line.startswith(event)]


def _listed() -> set[str]:
    """Files that git knows or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}


def _copy(source: Path, target: Path) -> None:
    content = source.read_bytes()
    if not target.is_file() or target.read_bytes() != content:
        _forget_compiled(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _write(path: Path, text: str) -> None:
    _forget_compiled(path)
    path.write_text(text, "utf-8")


def _forget_compiled(path: Path) -> None:
    """Two texts of one length within one second look the same to whoever compares times."""
    if path.suffix == ".py":
        Path(cache_from_source(str(path))).unlink(missing_ok=True)
