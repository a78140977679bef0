"""Builds the virtual environment of a sample Agent under .dev/agents from its lock file, once per lock."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
AGENTS = ROOT / "agents"
ENVIRONMENTS = ROOT / ".dev" / "agents"
# They would redirect the set-up, or make each start compile everything again.
_UNWANTED = (
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "UV_PROJECT_ENVIRONMENT",
    "UV_PYTHON",
)


def names() -> list[str]:
    """Every sample Agent that has a lock file."""
    return sorted(path.parent.name for path in AGENTS.glob("*/requirements.lock"))


def agent_python(name: str) -> Path:
    """The interpreter of the Agent's environment, which is made or refreshed first.

    It sees the Agent's own folder and the `aop` package of this checkout, but none of the platform's dependencies.
    """
    folder = ENVIRONMENTS / name
    python, stamp, wanted = folder / "bin" / "python", folder / ".stamp", _stamp(name)
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    with _one_at_a_time(ENVIRONMENTS / f"{name}.lock"):
        if not stamp.is_file() or stamp.read_text() != wanted or not python.is_file():
            stamp.unlink(missing_ok=True)
            _build(folder, AGENTS / name)
            stamp.write_text(wanted)
    return python


def _build(folder: Path, agent: Path) -> None:
    lock, uv, python = agent / "requirements.lock", _uv(), str(folder / "bin" / "python")
    if uv is None:
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        _run(python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(lock))
    else:
        _run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder))
        _run(uv, "pip", "sync", "--quiet", "--compile-bytecode", "--require-hashes", "--python", python, str(lock))
    packages = next((folder / "lib").glob("python3*/site-packages"))
    (packages / "aop_sources.pth").write_text(f"{ROOT / 'src'}\n{agent}\n")


def _run(*command: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in _UNWANTED}  # noqa: TID251
    subprocess.run(command, check=True, env=environment)


def _uv() -> str | None:
    own = ROOT / ".dev" / "uv" / "bin" / "uv"
    return str(own) if own.is_file() else shutil.which("uv")


def _stamp(name: str) -> str:
    lock = hashlib.sha256((AGENTS / name / "requirements.lock").read_bytes()).hexdigest()
    return f"{lock} {sys.version} {ROOT}\n"


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    with path.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    for wanted_agent in sys.argv[1:] or names():
        print(agent_python(wanted_agent))
