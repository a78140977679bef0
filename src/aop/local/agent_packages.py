"""The Python environment of an Agent: made with uv or with pip, with the very `aop` that makes it.

An installed `aop` copies itself: an Agent then runs on the version it was made with, and no index is asked for it.
"""

import hashlib
import os
import shutil
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

import aop
from aop.base import assets
from aop.base.distribution import NAME
from aop.local.install_problems import SetupFailed
from aop.local.installing import SetupProgress

_MODULE = "agent_operating_platform"
_NOT_COPIED = shutil.ignore_patterns("console", "direct_url.json")


def is_installed() -> bool:
    """Whether this package was installed, and is not the one of a checkout."""
    return assets.folder("contracts").is_relative_to(_package())


def needed_packages() -> list[str]:
    """What the extra `agent` of the installed package asks for."""
    listed = [line.partition(";") for line in metadata.requires(NAME) or ()]
    wanted = [name for name, _, marker in listed if "extra ==" not in marker or "'agent'" in marker.replace('"', "'")]
    return [name.strip() for name in wanted if not name.startswith(NAME)]


def mark_of_package() -> str:
    """Changes with the files of the installed package."""
    return hashlib.sha256((metadata.distribution(NAME).read_text("RECORD") or "").encode()).hexdigest()


def install(
    folder: Path,
    arguments: Sequence[str],
    progress: SetupProgress,
    environment: Mapping[str, str],
) -> None:
    """Makes the environment unless it is there, and installs what the arguments of `pip install` name."""
    step, program = step_of(folder), folder / "bin" / "python"
    uv = find_uv()
    if not (program.exists() and (uv or _has_pip(folder))):
        # Both leave alone what is there: half an environment of an interrupted start, or one that somebody else made.
        with_uv = ["venv", "--no-project", "--allow-existing", "--python", sys.executable]
        making = [uv, *with_uv] if uv else [sys.executable, "-m", "venv"]
        progress.run(step, [*making, str(folder)], environment)
    if uv is not None:
        command = [uv, "pip", "install", "--compile-bytecode", "--python", str(program), *arguments]
    else:
        command = [str(program), "-m", "pip", "install", "--disable-pip-version-check", *arguments]
    progress.run(step, command, environment)


def _has_pip(folder: Path) -> bool:
    """Python's own `venv` adds it after the interpreter, and uv adds none."""
    return any(folder.glob("lib/python*/site-packages/pip/__main__.py"))


def copy_package(folder: Path, progress: SetupProgress) -> None:
    """Puts the installed `aop` into the environment, as an installer would have done."""
    target = packages_of(folder)
    source = _package().parent

    def copy(one: str, to: str) -> None:
        progress.go_on()
        shutil.copy2(one, to)

    try:
        with progress.step(step_of(folder), lambda: "copying aop"):
            for path in (_package(), source / f"{_MODULE}.py", *source.glob(f"{_MODULE}-*.dist-info")):
                if path.is_dir():
                    shutil.rmtree(target / path.name, ignore_errors=True)
                    shutil.copytree(path, target / path.name, ignore=_NOT_COPIED, copy_function=copy)
                else:
                    copy(str(path), str(target / path.name))
    except (OSError, shutil.Error) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise SetupFailed(f"{target} cannot take the package: {reason}") from None


def packages_of(folder: Path) -> Path:
    return next(folder.glob("lib/python*/site-packages"))


def step_of(folder: Path) -> str:
    """What the lines about the making of this environment call it."""
    return "/".join(folder.parts[-2:])


def find_uv() -> str | None:
    """That of the machine, or the one that came with the extra `local`, or that of a checkout."""
    known = (Path(sysconfig.get_path("scripts"), "uv"), assets.folder(".dev") / "uv" / "bin" / "uv")
    return shutil.which("uv") or next((str(path) for path in known if os.access(path, os.X_OK)), None)


def _package() -> Path:
    return Path(str(aop.__file__)).resolve().parent
