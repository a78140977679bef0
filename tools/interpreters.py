"""The versions of Python that the project is tested on, and where this machine has them.

`python -m tools.interpreters` runs a short part of the tests on the newest one: its own changes to the standard
library show there, long before somebody runs everything on it with `./dev test --python`.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from tools.environments import PRIVATE, ROOT, Environment, SetupFailed, child_environment, ready

TESTED = ("3.11", "3.12", "3.13")
LEFT_OUT = "left out"
_SHORT_PART = (
    "tests/agent",
    "tests/loop/test_results.py",
    "tests/loop/test_streams.py",
    "tests/net/test_http_client_tls.py",
)
_WHERE = "import sys; print(sys.executable)"
_OPTIMISED = (
    "import sys; sys.path[:0] = [{0!r}, {0!r} + '/src']; from tools import interpreters as i; print(i.is_optimised())"
)
_DEBIAN_SCHEME = "deb_system"


def find(version: str) -> Path | None:
    """The interpreter of a version such as 3.13, or None; a command that does not start is none."""
    for program in (f"python{version}", *_of_pyenv(version), _uv_finds(version)):
        where = _answer([program, "-c", _WHERE]) if program else None
        if where:
            return Path(where)
    return None


def required(version: str) -> Path:
    if version not in TESTED:
        raise SetupFailed(f"the project is tested on Python {', '.join(TESTED)}, and {version!r} is none of them")
    found = find(version)
    if found is None:
        raise SetupFailed(f"there is no Python {version} on this machine; get one with: uv python install {version}")
    return found


def test_environment(version: str, interpreter: Path) -> Environment:
    """For a short part of the tests, which imports a few of its packages."""
    lock = ROOT / "requirements-dev.lock"
    return Environment(f"test-{version}", lock, (ROOT / "src", ROOT), 30, interpreter, compiled=False)


def benchmark_environment() -> Environment | None:
    """Of an optimised interpreter of this version, where the one that runs is not one and this machine has another."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if is_optimised():
        return None
    for folder in os.environ["PATH"].split(os.pathsep):  # noqa: TID251  the machine's own programs
        program = str(Path(folder) / f"python{version}")
        if os.access(program, os.X_OK) and _answer([program, "-c", _OPTIMISED.format(str(ROOT))]) == "True":
            lock = ROOT / "requirements-dev.lock"
            return Environment("bench", lock, (ROOT / "src", ROOT), 30, Path(program))
    return None


def is_optimised() -> bool:
    """Whether the running interpreter was built with profiles of its own work. Debian's rules always do that, and
    leave no trace of it in the configuration."""
    configured = sysconfig.get_config_var("CONFIG_ARGS") or ""
    return "--enable-optimizations" in configured or _DEBIAN_SCHEME in sysconfig.get_scheme_names()


def main() -> int:
    newest = TESTED[-1]
    interpreter = find(newest)
    if interpreter is None:
        print(f"{LEFT_OUT}: there is no Python {newest} on this machine")
        return 0
    environment = test_environment(newest, interpreter)
    ready([environment], lambda text: print(text, file=sys.stderr, flush=True))
    command = [str(environment.python), "-m", "pytest", "-m", "not long", *_SHORT_PART]
    return subprocess.run(command, check=False, cwd=ROOT, env=child_environment()).returncode


def _of_pyenv(version: str) -> list[str]:
    """Its command python3.13 works only where that version has been chosen, so its folders are looked into."""
    versions = Path.home() / ".pyenv" / "versions"
    return sorted(map(str, versions.glob(f"{version}.*/bin/python{version}")), reverse=True)


def _uv_finds(version: str) -> str | None:
    uv = shutil.which("uv") or str(PRIVATE / "uv" / "bin" / "uv")
    if not os.access(uv, os.X_OK):
        return None
    return _answer([uv, "python", "find", "--no-project", "--offline", version])


def _answer(command: list[str]) -> str | None:
    try:
        run = subprocess.run(command, check=False, capture_output=True, text=True, env=child_environment())
    except OSError:
        return None
    return run.stdout.strip() or None if run.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
