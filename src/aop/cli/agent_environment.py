"""The Python environment of an Agent project: made once from its requirements.txt, in its folder."""

import hashlib
import os
import re
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

from aop.base import assets
from aop.base.distribution import pinned
from aop.cli.output import Output
from aop.cli.problems import CommandProblem
from aop.local import agent_packages
from aop.local.install_problems import SetupFailed
from aop.local.installing import SetupProgress

_OWN = re.compile(r"agent[-_.]operating[-_.]platform\b", re.IGNORECASE)


def python_of(directory: Path, out: Output) -> Path:
    """The interpreter of DIR/.venv, which is made or brought up to date when requirements.txt has changed."""
    folder, listed = directory / ".venv", directory / "requirements.txt"
    python, stamp = folder / "bin" / "python", folder / ".aop-requirements"
    try:
        requirements = listed.read_text("utf-8")
    except OSError as problem:
        raise CommandProblem(
            f"{listed} cannot be read: {problem.strerror}", recovery="or name a Python with --python"
        ) from None
    checkout = _checkout()
    own = f"{checkout}" if checkout is not None else agent_packages.mark_of_package()
    installed = _without_own(requirements, checkout)
    mark = hashlib.sha256(f"{installed}\n{own}".encode()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == mark:
        return python
    out.note(f"setting up {folder} from requirements.txt (first time, or it has changed)")
    try:
        _install(folder, installed, SetupProgress(out.note))
        if checkout is not None:
            (agent_packages.packages_of(folder) / "aop.pth").write_text(f"{checkout / 'src'}\n")
        elif installed != requirements:
            agent_packages.copy_package(folder)
    except SetupFailed as failed:
        raise CommandProblem(f"the environment could not be made: {failed}", recovery="repeat to try again") from None
    stamp.write_text(mark)
    return python


def _install(folder: Path, requirements: str, progress: SetupProgress) -> None:
    environment = os.environ  # noqa: TID251
    with TemporaryDirectory() as place:
        listed = Path(place, "requirements.txt")
        listed.write_text(requirements, "utf-8")
        agent_packages.install(folder, ["-r", str(listed)], progress, environment)


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
