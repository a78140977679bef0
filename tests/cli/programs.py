"""The aop command as a program of its own: stopped with Ctrl-C, or serving an Agent until the test is over."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.waiting import PATIENCE_SECONDS


@contextmanager
def program(*arguments: str, data: Path, log: Path, **settings: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Running; its output goes to the log. It is stopped when the block is left."""
    environment = {
        "PATH": os.defpath,
        "AOP_DATA": str(data),
        "XDG_CONFIG_HOME": str(log.parent / "config"),
        "PYTHONUNBUFFERED": "1",
        **settings,
    }
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", "aop", *arguments], env=environment, stdout=out, stderr=out)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_SECONDS)


def wait_serving(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the Agent is not ready:\n{log.read_text()}") from None
            time.sleep(0.05)


def wait_written(log: Path, text: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while text not in log.read_text():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.02)


def ended(*arguments: str, data: Path, folder: Path) -> "subprocess.CompletedProcess[str]":
    """The command run to its end, for a setting that several tests share."""
    environment = {"PATH": os.defpath, "AOP_DATA": str(data), "XDG_CONFIG_HOME": str(folder / "config")}
    command = [sys.executable, "-m", "aop", *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
