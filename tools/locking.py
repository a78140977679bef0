"""`./dev lock`: resolves every lock file again, of Python and of npm."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tools import console_build, lock_files
from tools.environments import ROOT, Say, SetupFailed, child_environment, ready_uv

LOCKS = {
    "requirements-uv.lock": ["requirements-uv.in"],
    "requirements-node.lock": ["requirements-node.in"],
    "requirements.lock": ["pyproject.toml", "--extra", "local", "-c", "requirements-uv.lock"],
    "requirements-dev.lock": ["pyproject.toml", "--extra", "local", "requirements-dev.in", "-c", "requirements.lock"],
}
_OVERRIDES = "overrides.in"
_OPTIONS = ["--universal", "--generate-hashes", "--python-version", "3.11", "--quiet"]


def resolve_all(arguments: Sequence[str], say: Say) -> None:
    """The arguments go to uv, as `--upgrade` does."""
    uv = ready_uv(say)
    for output, sources in LOCKS.items():
        _resolve(uv, ROOT / output, [*sources, *arguments], say)
    for folder in lock_files.npm_folders():
        console_build.lock_packages(folder, say)
    for lock in lock_files.folder_locks():
        overrides = ["--override", _OVERRIDES] if (lock.parent / _OVERRIDES).is_file() else []
        _resolve(uv, lock, ["requirements.in", *overrides, *arguments], say)


def _resolve(uv: str, lock: Path, arguments: Sequence[str], say: Say) -> None:
    """In the folder of the lock file, so that its comments name the sources alone."""
    say(f"resolving {lock.relative_to(ROOT)}")
    command = [uv, "pip", "compile", *_OPTIONS, "--custom-compile-command", "./dev lock", "-o", lock.name, *arguments]
    if subprocess.run(command, check=False, env=child_environment(), cwd=lock.parent).returncode:
        raise SetupFailed(f"{lock.relative_to(ROOT)} could not be resolved")
