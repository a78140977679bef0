"""The Python environment of an Agent project: made once from its requirements.txt, in its folder."""

import hashlib
import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import NamedTemporaryFile

from aop.base import assets
from aop.base.distribution import pinned
from aop.cli.shell.output import Output
from aop.cli.shell.problems import CommandProblem
from aop.local import agent_packages
from aop.local.install_problems import SetupFailed
from aop.local.installing import SetupProgress

_OWN = re.compile(r"agent[-_.]operating[-_.]platform(?![\w.-])", re.IGNORECASE)


@dataclass(frozen=True)
class _Environment:
    """The one that a project asks for."""

    project: Path
    requirements: str
    checkout: Path | None
    """Where this command runs from, if from one: `aop` then comes from there."""

    @property
    def folder(self) -> Path:
        return self.project / ".venv"

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def stamp(self) -> Path:
        return self.folder / ".aop-requirements"

    @cached_property
    def installed(self) -> str:
        return _without_own(self.requirements, self.checkout)

    @cached_property
    def mark(self) -> str:
        own = f"{self.checkout}" if self.checkout is not None else agent_packages.mark_of_package()
        return hashlib.sha256(f"{self.installed}\n{own}".encode()).hexdigest()

    def is_ready(self) -> bool:
        return self.python.exists() and self.stamp.exists() and self.stamp.read_text() == self.mark

    def make(self, progress: SetupProgress) -> None:
        self._install(progress)
        if self.checkout is not None:
            (agent_packages.packages_of(self.folder) / "aop.pth").write_text(f"{self.checkout / 'src'}\n")
        elif self.installed != self.requirements:
            agent_packages.copy_package(self.folder, progress)
        self.stamp.write_text(self.mark)

    def _install(self, progress: SetupProgress) -> None:
        environment = os.environ  # noqa: TID251
        # Beside the project's own file: lines such as `-r base.txt` are relative to where they stand.
        with NamedTemporaryFile(
            "w", dir=self.project, prefix=".requirements-", suffix=".txt", encoding="utf-8"
        ) as listed:
            listed.write(self.installed)
            listed.flush()
            agent_packages.install(self.folder, ["-r", listed.name], progress, environment)


def python_of(directory: Path, out: Output, progress: SetupProgress | None = None) -> Path:
    """The interpreter of DIR/.venv, which is made or brought up to date when requirements.txt has changed.

    A caller that runs it in a thread ends it by the progress that it passed.
    """
    environment = _Environment(directory, _requirements(directory), _checkout())
    if environment.is_ready():
        return environment.python
    progress = progress or SetupProgress(out.note)
    try:
        with _held(environment.folder, progress):
            if not environment.is_ready():  # another command may have made it meanwhile
                out.note(f"setting up {environment.folder} from requirements.txt (first time, or it has changed)")
                environment.make(progress)
    except (SetupFailed, OSError) as failed:
        raise CommandProblem(f"the environment could not be made: {failed}", recovery="repeat to try again") from None
    return environment.python


@contextmanager
def _held(folder: Path, progress: SetupProgress) -> Iterator[None]:
    """By one command at a time. The lock is on the folder itself, so nothing is left in it."""
    folder.mkdir(exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with progress.alone(descriptor, f"the set-up of {folder}"):
            yield
    finally:
        os.close(descriptor)


def _requirements(directory: Path) -> str:
    listed = directory / "requirements.txt"
    try:
        return listed.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is no text in UTF-8"
        raise CommandProblem(f"{listed} cannot be read: {reason}", recovery="or name a Python with --python") from None


def _checkout() -> Path | None:
    """The source checkout this command runs from, if it does: then `aop` comes from there."""
    root = assets.folder("pyproject.toml").parent
    return root if (root / "src" / "aop").is_dir() and (root / "pyproject.toml").is_file() else None


def _without_own(requirements: str, checkout: Path | None) -> str:
    """What is left to install when `aop` comes from here: from the checkout, or as a copy when this very version is
    asked for. A line that asks for another version stays."""
    if checkout is not None:
        project = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]
        needed = [*project["dependencies"], *project["optional-dependencies"]["agent"]]
    else:
        needed = agent_packages.needed_packages()
    own = [line for line in requirements.splitlines() if _OWN.match(line) is not None]
    if checkout is None and [line.strip() for line in own] != [pinned("agent")]:
        return requirements
    lines = [line for line in requirements.splitlines() if line not in own]
    return "\n".join([*lines, *needed]) + "\n"
