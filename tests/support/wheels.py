"""The wheel of this checkout, and environments that hold it."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from aop.base.distribution import NAME
from tests.support.waiting import INSTALL_SECONDS
from tools.environments import ROOT, child_environment, ready_uv


def output_of(command: Sequence[str | Path]) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env=child_environment(),
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built_wheel(folder: Path) -> Path:
    output_of([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder])
    return next(folder.glob("agent_operating_platform-*.whl"))


def installed(wheel: Path, folder: Path, extra: str) -> tuple[Path, set[str]]:
    """The interpreter of a new environment that holds the wheel and what it asks for, and the names of all of that."""
    uv = ready_uv(lambda text: None)
    output_of([uv, "venv", "--quiet", "--no-project", "--python", sys.executable, folder])
    python = folder / "bin" / "python"
    pinned = ["--constraint", str(ROOT / "requirements.lock")]
    output_of([uv, "pip", "install", "--quiet", "--python", python, *pinned, f"{NAME}{extra} @ {wheel.as_uri()}"])
    listed = json.loads(output_of([uv, "pip", "list", "--quiet", "--python", python, "--format", "json"]))
    return python, {package["name"] for package in listed}
