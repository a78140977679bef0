"""`./dev test` and `./dev prove --ring`: one ring of the tests with its checks beside them, and what failed."""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from tools.environments import ROOT, Say, child_environment
from tools.process_tree import Ended, ending_all, exit_code

FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+\.py(?:::[^\s\[]+)?(?:\[.*?\])?)(?= - |$)", re.MULTILINE)
_WORKER_BYTES = 1_500_000_000


class Ring(NamedTuple):
    """A part of the tests, by their marks, and the part of the checks that runs beside them."""

    tests: str
    checks: str
    command: str
    workers_of_core: int
    """A test of the second ring waits about twice as long as it works, mostly for processes; one of the first does not.

    Each worker costs some ten seconds of a core before its first test, because it imports all modules.
    """


FIRST = Ring("not second_ring and not long", "--first-ring", "./dev test", 2)
SECOND = Ring("second_ring and not long", "--second-ring", "./dev prove --ring", 3)


def run_some(python: Path, arguments: Sequence[str], say: Say) -> int:
    """The tests that the arguments of pytest name."""
    try:
        with ending_all():
            return exit_code([str(python), "-m", "pytest", *arguments], child_environment())
    except Ended as end:
        say(f"ended by {end.name}; nothing is left running")
        raise


def run_ring(ring: Ring, python: Path, say: Say) -> int:
    started, workers = time.monotonic(), worker_count(ring.workers_of_core)
    say(f"tests, {workers} at a time, with the checks beside them")
    try:
        with ending_all(), TemporaryFile() as told:
            command = [str(python), "-m", "tools.check", ring.checks]
            checking = subprocess.Popen(command, env=child_environment(), cwd=ROOT, stdout=told, stderr=told)
            tests = [str(python), "-m", "pytest", "-m", ring.tests, "-n", str(workers), "-rfE"]
            code, failures = run_tests(tests)
            checks = checking.wait()
            told.seek(0)
            print(told.read().decode(errors="replace"), end="", flush=True)
    except Ended as end:
        say(f"ended by {end.name}; nothing is left running")
        raise
    return summarize(ring, Outcome(checks, code, failures), time.monotonic() - started, say)


def run_tests(command: list[str]) -> tuple[int, list[str]]:
    """Runs pytest, showing its output as it comes; also gives the names of the tests that failed."""
    colour = ["--color=yes"] if sys.stdout.isatty() else []
    seen = bytearray()

    def show(piece: bytes) -> None:
        sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        seen.extend(piece)

    code = exit_code([*command, *colour], child_environment(), show)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", seen.decode(errors="replace"))
    return code, FAILURE.findall(plain)


class Outcome(NamedTuple):
    """The exit codes of both, and the names of the tests that failed."""

    checks: int
    tests: int
    failures: list[str]


def summarize(ring: Ring, outcome: Outcome, seconds: float, say: Say) -> int:
    if not outcome.checks and not outcome.tests:
        say(f"all checks and tests of {ring.command} passed in {seconds:.0f} s")
        return 0
    say(f"FAILED after {seconds:.0f} s")
    if outcome.checks:
        say("checks failed; run them alone with:  ./dev check")
    if outcome.tests and not outcome.failures:
        say(f"the tests did not run to their end; run them alone with:  ./dev test tests -m '{ring.tests}'")
    if outcome.failures:
        say(f"{len(outcome.failures)} of the tests failed; run each alone with:")
        for name in outcome.failures:
            print(f"  ./dev test {shlex.quote(name)}")
    return 1


def worker_count(of_core: int) -> int:
    """Fewer where memory is short: a worker with its PostgreSQL, units and browser takes more than a gigabyte."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(2, min(6, cores * of_core, memory // _WORKER_BYTES))
