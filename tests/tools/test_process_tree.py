"""A test run that is told to end leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.processes import children, is_alive, processes_of
from tests.support.waiting import PATIENCE_SECONDS
from tools.environments import ROOT, child_environment

pytestmark = pytest.mark.second_ring

RUNNER = """
import sys
from tools.process_tree import ending_all, exit_code
with ending_all():
    exit_code([sys.executable, '-c', sys.argv[1], sys.argv[2]], {})
"""
# As a test does: it starts a server in a session of its own, and stops it when it is interrupted.
ORDERLY = """
import pathlib, subprocess, sys, time
server = subprocess.Popen(['sleep', '600'], start_new_session=True)
pathlib.Path(sys.argv[1], 'pid').write_text(str(server.pid))
try:
    time.sleep(600)
finally:
    server.terminate(); server.wait()
    pathlib.Path(sys.argv[1], 'stopped').touch()
"""


@pytest.mark.parametrize("ctrl_c", [False, True], ids=["SIGTERM", "Ctrl-C"])
def test_being_told_to_end_interrupts_what_runs_and_waits_for_its_end(tmp_path: Path, ctrl_c: bool) -> None:
    noted = tmp_path / "pid"
    command = [sys.executable, "-c", RUNNER, ORDERLY, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True) as runner:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not noted.exists() or not noted.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        if ctrl_c:  # a terminal tells the whole group
            os.killpg(runner.pid, signal.SIGINT)
        else:
            runner.send_signal(signal.SIGTERM)
        assert runner.wait(PATIENCE_SECONDS) == (-signal.SIGINT if ctrl_c else 128 + signal.SIGTERM)
    assert (tmp_path / "stopped").exists()
    assert not _lives(int(noted.read_text()))


@pytest.mark.long
def test_a_real_test_run_that_is_told_to_end_leaves_no_server_and_no_worker(tmp_path: Path) -> None:
    mark = str(tmp_path)  # in the environment of everything but PostgreSQL, whose files lie below it
    command = [f"{sys.base_prefix}/bin/python3", str(ROOT / "dev"), "test", "tests/local/test_up.py", "-n", "2"]
    with subprocess.Popen(command, env=child_environment() | {"TMPDIR": mark}, stdout=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not any("postgres" in line for line in processes_of(mark).values()):
            assert run.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        run.send_signal(signal.SIGTERM)
        assert run.wait(PATIENCE_SECONDS) == 128 + signal.SIGTERM
    assert processes_of(mark) == {}


@pytest.mark.long
@pytest.mark.rows("LEAN-05")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(("command", "unit"), [("benchmarks workers", "aop router"), ("proof postgres", "postgres")])
def test_a_benchmark_or_proof_that_is_told_to_end_leaves_nothing(
    command: str, unit: str, number: signal.Signals
) -> None:
    quiet = subprocess.DEVNULL
    with subprocess.Popen([sys.executable, "-m", *command.split()], cwd=ROOT, stdout=quiet, stderr=quiet) as run:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while unit not in " ".join((started := _descendants(run.pid)).values()):
            assert run.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        run.send_signal(number)
        code = run.wait(PATIENCE_SECONDS)
    left = {pid: line for pid, line in started.items() if is_alive(pid)}
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert (left, code in {128 + number, -number}) == ({}, True)


def _descendants(pid: int) -> dict[int, str]:
    """The commands of all that a process has started, and what these have."""
    found = dict[int, str]()
    for child in children(pid):
        with suppress(OSError):
            found |= {child: Path(f"/proc/{child}/cmdline").read_text().replace("\0", " "), **_descendants(child)}
    return found


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
