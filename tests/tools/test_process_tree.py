"""What `./dev` runs leaves nothing behind when it is told to end."""

import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.processes import children, is_alive, processes_of
from tests.support.waiting import PATIENCE_SECONDS, generous
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
TAKES_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
DEV = (f"{sys.base_prefix}/bin/python3", str(ROOT / "dev"))
PLATFORM = ("tests/local/test_up.py", "-n", "2")
COMMANDS = {
    "test": ((*DEV, "test", *PLATFORM), "aop router"),
    "pytest alone": ((sys.executable, "-m", "pytest", *PLATFORM), "aop router"),
    "bench": ((*DEV, "bench", "workers"), "aop router"),
    "prove": ((*DEV, "prove", "postgres"), "postgres"),
}
"""And what one of its processes has in its command once it is in the middle."""


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
@pytest.mark.rows("LEAN-05")
@pytest.mark.parametrize("way", ["TERM", "Ctrl-C", "closed terminal"])
@pytest.mark.parametrize("name", COMMANDS)
def test_whatever_was_started_ends_when_it_is_told_to_and_leaves_nothing(tmp_path: Path, name: str, way: str) -> None:
    mark, (command, unit) = str(tmp_path), COMMANDS[name]
    for _ in range(2):
        terminal = Terminal()
        with terminal.running(command, child_environment() | {"TMPDIR": mark}) as run:
            started = _started(run, unit) | processes_of(mark)
            told = time.monotonic()
            if way == "TERM":
                run.send_signal(signal.SIGTERM)
            elif way == "Ctrl-C":
                terminal.press(b"\x03")
            else:
                terminal.close()
            run.wait(PATIENCE_SECONDS)
            seconds = time.monotonic() - told
        left = {pid: line for pid, line in started.items() if is_alive(pid)} | processes_of(mark)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert left == {}
        assert seconds < generous(10.0)


class Terminal:
    """One whose screen somebody reads, so that no program waits for it. It belongs to the program that it runs."""

    def __init__(self) -> None:
        self._screen, self._inside = pty.openpty()
        self._closed = threading.Event()
        self._reader = threading.Thread(target=self._read)

    @contextmanager
    def running(self, command: Sequence[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
        taking = [sys.executable, "-c", TAKES_TERMINAL, *command]
        inside = self._inside
        with subprocess.Popen(
            taking, cwd=ROOT, env=environment, stdin=inside, stdout=inside, stderr=inside, start_new_session=True
        ) as process:
            os.close(inside)
            self._reader.start()
            try:
                yield process
            finally:
                process.kill()
                self.close()

    def press(self, keys: bytes) -> None:
        os.write(self._screen, keys)

    def close(self) -> None:
        self._closed.set()
        self._reader.join()

    def _read(self) -> None:
        with suppress(OSError):  # nobody has it open any more
            while not self._closed.is_set():
                if select.select([self._screen], [], [], 0.05)[0]:
                    os.read(self._screen, 65536)
        os.close(self._screen)


def _started(run: "subprocess.Popen[bytes]", unit: str) -> dict[int, str]:
    """All that it has started by the moment at which a unit runs."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while unit not in " ".join((started := _descendants(run.pid)).values()):
        assert run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return started


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
