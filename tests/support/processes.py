"""Ends processes, and finds them by a mark they carry, so that a test can prove that none is left."""

import os
import signal
import subprocess
import time
from pathlib import Path


def processes_of(mark: str) -> dict[int, str]:
    """Living processes that have the mark in their command, environment or working folder; not this one."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            command = (folder / "cmdline").read_bytes()
            traces = (command, (folder / "environ").read_bytes(), os.fsencode(os.readlink(folder / "cwd")))
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z" and any(mark.encode() in trace for trace in traces):
            found[int(folder.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found


def require_none_left(mark: str, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while left := processes_of(mark):
        if time.monotonic() > deadline:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            raise AssertionError(f"processes left behind: {left}")
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def end_process(process: subprocess.Popen[bytes], seconds: float = 10.0) -> None:
    """Asks it to end, and kills it when it does not."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
