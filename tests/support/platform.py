"""Runs `aop up` as a program, the way a person does, and finds out where it is."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aop.local.ports import Ports, any_free_port
from aop.local.problems import NotRunning
from aop.local.state import load_run
from tests.support.settings import PATIENT_UNITS
from tests.support.waiting import PATIENCE_SECONDS


class LocalPlatform:
    def __init__(self, data: Path, process: subprocess.Popen[bytes], output: Path) -> None:
        self.data = data
        self.process = process
        self._output = output

    @property
    def run(self) -> dict[str, Any]:
        run: dict[str, Any] = json.loads((self.data / "run.json").read_text())
        return run

    @property
    def output(self) -> str:
        return self._output.read_text()

    def wait_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._running():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"aop up is not ready:\n{self.output}")
            time.sleep(0.02)

    def _running(self) -> bool:
        try:
            load_run(self.data)
        except NotRunning:
            return False
        return True

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_SECONDS)


def seed_ports(data: Path) -> Ports:
    """Ports nobody uses, so that platforms of tests that run at the same time do not meet."""
    gateway, router, console, door, *agents = (any_free_port() for _ in range(7))
    ports = Ports(gateway, router, console, (agents[0], agents[1], agents[2]), door)
    data.mkdir(parents=True, exist_ok=True)
    (data / "ports.json").write_text(json.dumps({name: getattr(ports, name) for name in ports.__struct_fields__}))
    return ports


@contextmanager
def started_up(data: Path, *options: str, settings: Mapping[str, str] | None = None) -> Iterator[LocalPlatform]:
    """`aop up`, not waited for; killed in the end if the test has not stopped it. Its children carry a mark."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PLATFORM_")}  # noqa: TID251
    environment = inherited | PATIENT_UNITS | {"MARK": str(data)} | dict(settings or {})
    output = data.with_name(f"{data.name}.output")
    with output.open("wb") as out:
        command = [sys.executable, "-P", "-m", "aop", "up", "--data", str(data), *options]
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out, start_new_session=True)
    with process:
        try:
            yield LocalPlatform(data, process, output)
        finally:
            process.kill()


def get(url: str) -> tuple[int, bytes]:
    with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as response:  # noqa: S310
        return response.status, response.read()
