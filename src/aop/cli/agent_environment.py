"""The Python environment of an Agent project: made once from its requirements.txt, in its folder."""

import hashlib
import os
import re
import tomllib
from pathlib import Path
from tempfile import NamedTemporaryFile

from aop.base import assets
from aop.base.distribution import pinned
from aop.cli.output import Output
from aop.cli.problems import CommandProblem
from aop.local import agent_packages
from aop.local.install_problems import SetupFailed
from aop.local.installing import SetupProgress

_OWN = re.compile(r"agent[-_.]operating[-_.]platform(?![\w.-])", re.IGNORECASE)


def python_of(directory: Path, out: Output, progress: SetupProgress | None = None) -> Path:
    """The interpreter of DIR/.venv, which is made or brought up to date when requirements.txt has changed.

    Whoever calls it in a thread ends it with the progress that it gave.
    """
    folder, listed = directory / ".venv", directory / "requirements.txt"
    python, stamp = folder / "bin" / "python", folder / ".aop-requirements"
    try:
        requirements = listed.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is no text in UTF-8"
        raise CommandProblem(f"{listed} cannot be read: {reason}", recovery="or name a Python with --python") from None
    checkout = _checkout()
    own = f"{checkout}" if checkout is not None else agent_packages.mark_of_package()
    installed = _without_own(requirements, checkout)
    mark = hashlib.sha256(f"{installed}\n{own}".encode()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == mark:
        return python
    out.note(f"setting up {folder} from requirements.txt (first time, or it has changed)")
    try:
        _install(directory, installed, progress or SetupProgress(out.note))
        if checkout is not None:
            (agent_packages.packages_of(folder) / "aop.pth").write_text(f"{checkout / 'src'}\n")
        elif installed != requirements:
            agent_packages.copy_package(folder)
        stamp.write_text(mark)
    except (SetupFailed, OSError) as failed:
        raise CommandProblem(f"the environment could not be made: {failed}", recovery="repeat to try again") from None
    return python


def _install(directory: Path, requirements: str, progress: SetupProgress) -> None:
    environment = os.environ  # noqa: TID251
    # Beside the project's own file: lines such as `-r base.txt` are relative to where they stand.
    with NamedTemporaryFile("w", dir=directory, prefix=".requirements-", suffix=".txt", encoding="utf-8") as listed:
        listed.write(requirements)
        listed.flush()
        agent_packages.install(directory / ".venv", ["-r", listed.name], progress, environment)


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
