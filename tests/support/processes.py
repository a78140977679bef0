"""Runs programs, ends processes, and finds them by a mark they carry, so that a test can prove that none is left."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


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


def children(pid: int) -> list[int]:
    """The living processes that a process has started itself."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split() if is_alive(int(word))]


def end_process(process: subprocess.Popen[bytes], seconds: float = 10.0) -> None:
    """Asks it to end, and kills it when it does not."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class ProgramFailed(Exception):
    """A program that a test started ended with an error; its last words are the text."""


async def program(*command: str, **how: Any) -> bytes:
    """What a program prints; `command` begins with the name of a module, or with the path of another program."""
    start = () if os.sep in command[0] else (sys.executable, "-m")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*start, *command, stdout=pipe, stderr=pipe, **how)
    try:
        printed, complaints = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise ProgramFailed(f"{command[0]}: {(printed + complaints).decode(errors='replace')[-2000:]}")
    return printed
