"""Makes the virtual environments under .dev from their lock files, once per lock, with the standard library alone."""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from aop.local.install_problems import SetupFailed
from aop.local.installing import Say, SetupProgress

__all__ = [
    "PRIVATE",
    "ROOT",
    "Environment",
    "Say",
    "SetupFailed",
    "SetupProgress",
    "child_environment",
    "link",
    "one_at_a_time",
    "ready",
    "ready_uv",
]

ROOT = Path(__file__).resolve().parents[1]
PRIVATE = ROOT / ".dev"
UV_MINIMUM = (0, 9)
_PATHS = "aop.pth"
# Left out of every child: they would redirect the set-up, or make each start compile everything again.
UNWANTED = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON")


class Environment(NamedTuple):
    """One virtual environment under .dev, made from one lock file; modules in `paths` can be imported in it."""

    name: str
    lock: Path
    paths: tuple[Path, ...]
    cold_seconds: int
    interpreter: Path = Path(sys.executable)
    compiled: bool = True
    """All of its modules at once. Otherwise each is when it is first imported: less work where few of them are."""

    @property
    def folder(self) -> Path:
        return PRIVATE / self.name

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def stamp(self) -> Path:
        return self.folder / ".stamp"


def ready(environments: Sequence[Environment], say: Say) -> None:
    """Makes or mends those that need it, several at once; returns when all can be used."""
    unfinished = [environment for environment in environments if not _is_ready(environment)]
    if not unfinished:
        return
    progress = SetupProgress.of(say)
    uv = ready_uv(progress)
    progress.together(*(partial(_make_ready, environment, uv, progress) for environment in unfinished))


def link(environment: Environment, other: Path) -> None:
    """Makes it from the packages of another environment with the same lock, without copying or compiling any."""
    if _is_ready(environment):
        return
    shutil.rmtree(environment.folder, ignore_errors=True)
    packages = next((other / "lib").glob("python*/site-packages"))
    for source in (*(other / "bin").iterdir(), other / "pyvenv.cfg", *packages.iterdir()):
        target = environment.folder / source.relative_to(other)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.name != _PATHS:
            target.symlink_to(source.readlink() if source.is_symlink() else source)
    _write_paths(environment)
    environment.stamp.write_text(_expected_stamp(environment))


def ready_uv(say: Say) -> str:
    """A usable uv: the machine's own when new enough, else the pinned one, kept in .dev/uv."""
    installed = shutil.which("uv")
    if installed is not None and _uv_version(installed) >= UV_MINIMUM:
        return installed
    folder, lock = PRIVATE / "uv", ROOT / "requirements-uv.lock"
    program, stamp, expected = folder / "bin" / "uv", folder / ".stamp", _fingerprint(lock)
    progress = SetupProgress.of(say)
    with one_at_a_time("uv", progress):
        if _read(stamp) == expected and _uv_version(str(program)) >= UV_MINIMUM:
            return str(program)
        if importlib.util.find_spec("pip") is None:
            raise SetupFailed(
                "this Python has no pip: install it (on Debian: apt install python3-pip) or uv, then repeat"
            )
        progress("installing uv, the package installer, into .dev/uv (first time, ~5 s)")
        shutil.rmtree(folder, ignore_errors=True)
        quiet = ["--disable-pip-version-check", "--root-user-action=ignore"]
        pinned = ["--no-deps", "--require-hashes", "--only-binary=:all:", "--target", str(folder), "-r", str(lock)]
        _call(".dev/uv", [sys.executable, "-m", "pip", "install", *quiet, *pinned], progress)
        _write(stamp, expected)
    return str(program)


def child_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in UNWANTED}  # noqa: TID251


def _make_ready(environment: Environment, uv: str, progress: SetupProgress) -> None:
    with one_at_a_time(environment.name, progress):
        if not _is_ready(environment):
            _install(environment, uv, progress)
            _write(environment.stamp, _expected_stamp(environment))


def _is_ready(environment: Environment) -> bool:
    return _read(environment.stamp) == _expected_stamp(environment) and environment.python.exists()


def _expected_stamp(environment: Environment) -> str:
    """A line for the packages, and one for the interpreter: another one needs another environment, not a sync."""
    own = environment.interpreter == Path(sys.executable)
    python = (sys.version, sys.base_prefix) if own else (str(environment.interpreter),)
    return f"{_fingerprint(environment.lock, *map(str, environment.paths))}\n{_digest(*map(str.encode, python))}"


def _install(environment: Environment, uv: str, progress: SetupProgress) -> None:
    # A stamp is written last, so a folder without one is unfinished and is made anew, as is one of another interpreter.
    stamp, interpreter = _read(environment.stamp) or "", _expected_stamp(environment).splitlines()[1]
    whole = stamp.splitlines()[1:] == [interpreter] and environment.python.exists()
    environment.stamp.unlink(missing_ok=True)
    wait = "a few seconds" if whole else f"first time, ~{environment.cold_seconds} s"
    progress(f"setting up Python environment .dev/{environment.name} ({wait})")
    step = f".dev/{environment.name}"
    if not whole:
        shutil.rmtree(environment.folder, ignore_errors=True)
        python = str(environment.interpreter)
        _call(step, [uv, "venv", "--no-project", "--python", python, str(environment.folder)], progress)
    # Wheels alone: building a package from source would run whatever its set-up code says.
    options = ["--require-hashes", "--only-binary", ":all:", *(["--compile-bytecode"] if environment.compiled else [])]
    source = str(environment.lock.relative_to(ROOT))
    _call(step, [uv, "pip", "sync", *options, "--python", str(environment.python), source], progress)
    _write_paths(environment)


def _write_paths(environment: Environment) -> None:
    packages = next(environment.folder.glob("lib/python*/site-packages"))
    _write(packages / _PATHS, "".join(f"{path}\n" for path in environment.paths))


def _uv_version(program: str) -> tuple[int, ...]:
    try:
        text = subprocess.run([program, "--version"], check=False, capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = re.search(r"(\d+)\.(\d+)", text)
    return tuple(map(int, found.groups())) if found else ()


@contextmanager
def one_at_a_time(name: str, say: Say) -> Iterator[None]:
    """Two calls at the same moment do not set up the same folder; the later one waits and then finds it ready."""
    path = PRIVATE / f"{name}.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("a")
    except OSError as problem:
        raise SetupFailed(f"cannot write to {path.parent}: {problem.strerror}") from None
    with lock, SetupProgress.of(say).alone(lock.fileno(), f"the set-up of .dev/{name}"):
        yield


def _fingerprint(lock: Path, *texts: str) -> str:
    return _digest(lock.read_bytes(), *map(str.encode, texts))


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as problem:
        raise SetupFailed(f"{path} cannot be written: {problem.strerror}") from None


def _call(step: str, command: list[str], progress: SetupProgress) -> None:
    progress.run(step, command, child_environment(), folder=ROOT)
