"""Runs the tests for `./dev test`, and says at the end what failed and how to run it alone."""

import os
import re
import shlex
import subprocess
import sys

from tools.environments import Say, child_environment

FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+\.py(?:::[^\s\[]+)?(?:\[.*?\])?)(?= - |$)", re.MULTILINE)


def run_tests(command: list[str]) -> tuple[int, list[str]]:
    """Runs pytest, showing its output as it comes; also gives the names of the tests that failed."""
    colour = ["--color=yes"] if sys.stdout.isatty() else []
    seen = bytearray()
    with subprocess.Popen([*command, *colour], env=child_environment(), stdout=subprocess.PIPE) as tests:
        while tests.stdout and (piece := os.read(tests.stdout.fileno(), 65536)):
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            seen += piece
    plain = re.sub(r"\x1b\[[0-9;]*m", "", seen.decode(errors="replace"))
    return tests.returncode, FAILURE.findall(plain)


def summarize(checks: int, tests: int, failures: list[str], seconds: float, say: Say) -> int:
    if not checks and not tests:
        say(f"all checks and tests passed in {seconds:.0f} s")
        return 0
    say(f"FAILED after {seconds:.0f} s")
    if checks:
        say("checks failed; run them alone with:  ./dev check")
    if tests and not failures:
        say("the tests did not run to their end; run them alone with:  ./dev test tests")
    if failures:
        say(f"{len(failures)} of the tests failed; run each alone with:")
        for name in failures:
            print(f"  ./dev test {shlex.quote(name)}", flush=True)
    return 1
