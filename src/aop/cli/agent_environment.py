"""The Python environment of an Agent project: made once from its requirements.txt, in its folder."""

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

from aop.base import assets
from aop.cli.output import Output
from aop.cli.problems import CommandProblem

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
    installed = _from_checkout(requirements, checkout) if checkout is not None else requirements
    mark = hashlib.sha256(f"{installed}\n{checkout}".encode()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == mark:
        return python
    out.note(f"setting up {folder} from requirements.txt (first time, or it has changed)")
    with out.working("installing"):
        _install(folder, python, installed)
    if checkout is not None:
        packages = next(folder.glob("lib/python*/site-packages"))
        (packages / "aop.pth").write_text(f"{checkout / 'src'}\n")
    stamp.write_text(mark)
    return python


def _install(folder: Path, python: Path, requirements: str) -> None:
    uv = _uv()
    if uv is not None:
        if not python.exists():
            _call([uv, "venv", "--quiet", "--no-project", "--python", sys.executable, str(folder)])
        _call([uv, "pip", "install", "--quiet", "--python", str(python), "-r", "-"], requirements)
        return
    if not python.exists():
        venv.create(folder, with_pip=True)
    listed = folder / "requirements.txt"
    listed.write_text(requirements)
    _call([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(listed)])


def _uv() -> str | None:
    own = assets.folder(".dev") / "uv" / "bin" / "uv"
    return shutil.which("uv") or (str(own) if own.is_file() else None)


def _checkout() -> Path | None:
    """The source checkout this command runs from, if it does: then `aop` comes from there."""
    root = assets.folder("pyproject.toml").parent
    return root if (root / "src" / "aop").is_dir() and (root / "pyproject.toml").is_file() else None


def _from_checkout(requirements: str, checkout: Path) -> str:
    project = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["agent"]]
    lines = [line for line in requirements.splitlines() if _OWN.match(line) is None]
    return "\n".join([*lines, *needed]) + "\n"


def _call(command: list[str], requirements: str | None = None) -> None:
    done = subprocess.run(command, check=False, input=requirements, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise CommandProblem(
            f"the environment could not be made:\n{done.stderr.strip()}", recovery="repeat to try again"
        )
