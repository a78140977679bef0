"""The wheel in an empty folder, without a checkout: the platform, its sample Agents, and an Agent of one's own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from aop.base.distribution import NAME
from tests.support.waiting import INSTALL_SECONDS
from tests.support.wheels import built_wheel, installed, output_of
from tools.environments import child_environment, ready_uv

NOWHERE = "http://127.0.0.1:9/simple"
"""Nothing listens there."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture
def home() -> Iterator[Path]:
    """Short, because a socket of PostgreSQL lies below it; open, because its user may be another one."""
    place = Path("/var/tmp", f"aop-{os.getpid()}")  # noqa: S108
    place.mkdir(mode=0o755)
    yield place
    shutil.rmtree(place, ignore_errors=True)


class Aop:
    """The command of the wheel, as somebody with an empty home folder calls it: with the machine's uv, or with the one
    that pip installed with it, or with pip alone."""

    def __init__(self, home: Path, wheel: Path, way: str) -> None:
        with_uv = way == "uv"
        self.folder = home / "work"
        path = os.pathsep.join([str(Path(ready_uv(lambda _: None)).parent), os.defpath]) if with_uv else os.defpath
        # What leads to the package index stays: a proxy, a CA.
        self.environment = child_environment() | {"HOME": str(home), "PATH": path}
        if with_uv:
            python, _ = installed(wheel, home / "env", "[local]")
        else:
            python = home / "env" / "bin" / "python"
            output_of([f"{sys.base_prefix}/bin/python3", "-m", "venv", home / "env"])
            output_of([python, "-m", "pip", "install", "--quiet", f"{NAME}[local] @ {wheel.as_uri()}"])
            assert python.with_name("uv").is_file()
        if way == "pip alone":
            output_of([python, "-m", "pip", "uninstall", "--quiet", "--yes", "uv"])
        self.program = str(python.with_name("aop"))
        self.folder.mkdir()

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run(
            [self.program, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self, log: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / log).open("wb") as output:
            return subprocess.Popen(
                [self.program, *arguments], cwd=self.folder, env=self.environment, stdout=output, stderr=output
            )


@pytest.mark.long
@pytest.mark.parametrize("way", ["uv", "pip", "pip alone"])
def test_the_wheel_runs_the_platform_with_samples_and_an_agent_of_ones_own(home: Path, wheel: Path, way: str) -> None:
    aop = Aop(home, wheel, way)
    platform = aop.start("up.log", "up", "--samples")
    try:
        _wait_for(aop.folder / ".aop" / "run.json", platform, aop.folder / "up.log")
        assert json.loads((aop.folder / ".aop" / "run.json").read_text())["agents"]
        assert aop("invoke", "aop:summarizer", "summarize", "--example")
        aop("init", "my-agent")
        agent = aop.start("agent.log", "agent", "run", "my-agent")
        try:
            _wait_for(aop.folder / "my-agent" / ".venv" / ".aop-requirements", agent, aop.folder / "agent.log")
            aop("publish", "my-agent/card.json")
            aop("install", "local:my-agent", "--yes")
            assert "Hello, Ada!" in aop("invoke", "local:my-agent", "greet", '{"name": "Ada"}')
        finally:
            agent.terminate()
            agent.wait(INSTALL_SECONDS)
    finally:
        platform.send_signal(signal.SIGINT)
        assert platform.wait(INSTALL_SECONDS) == 0
    _require_old_samples_kept(aop)


def _require_old_samples_kept(aop: Aop) -> None:
    """When new ones cannot be made, those that were there are still whole."""
    environment = aop.folder / ".aop" / "samples" / "summarizer"
    (environment / ".stamp").write_text("of an older version")
    aop.environment |= {"UV_INDEX_URL": NOWHERE, "PIP_INDEX_URL": NOWHERE, "UV_OFFLINE": "1"}
    refused = aop.start("again.log", "up")
    assert refused.wait(INSTALL_SECONDS) == 1
    assert "start without the sample Agents with --no-agents" in (aop.folder / "again.log").read_text()
    assert (environment / ".stamp").read_text() == "of an older version"
    subprocess.run([environment / "bin" / "python", "-c", "import aop.agent, summarizer"], check=True)


def _wait_for(file: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + INSTALL_SECONDS
    while not file.exists():
        assert process.poll() is None, log.read_text(errors="replace")
        assert time.monotonic() < deadline, log.read_text(errors="replace")
        time.sleep(0.2)
