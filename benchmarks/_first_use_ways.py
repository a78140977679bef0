"""The four ways to a running platform: a clone, and the wheel with uv, with pipx and with Python alone."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from aop.base.distribution import NAME
from benchmarks._newcomer import Newcomer
from tools.environments import ROOT, child_environment, ready_uv

_WITHOUT_CACHE = {"PIP_NO_CACHE_DIR": "1"}


class Way(NamedTuple):
    """`prepare` brings what the newcomer has beforehand; `install` is timed and gives the commands `up` and `aop`."""

    prepare: Callable[[Newcomer], None]
    install: Callable[[Newcomer], tuple[list[str], list[str]]]


def _put_origin(newcomer: Newcomer) -> None:
    """A repository that the newcomer may read: git refuses those of somebody else."""
    origin = newcomer.home / "origin.git"
    _done(["git", "clone", "--quiet", "--bare", str(ROOT), str(origin)])
    newcomer.own(origin)


def _clone(newcomer: Newcomer) -> tuple[list[str], list[str]]:
    newcomer.run("git", "clone", f"file://{newcomer.home / 'origin.git'}", "clone")
    newcomer.folder = newcomer.home / "clone"
    return ["./dev", "up"], ["./dev", "aop"]


def _put_wheel(newcomer: Newcomer) -> None:
    _done([sys.executable, str(ROOT / "dev"), "wheel", str(newcomer.home / "dist")])
    newcomer.own(newcomer.home / "dist")


def _put_uv(newcomer: Newcomer) -> None:
    _put_wheel(newcomer)
    programs = newcomer.home / ".local" / "bin"
    programs.mkdir(parents=True)
    shutil.copy2(ready_uv(print), programs)
    newcomer.own(newcomer.home / ".local")


def _put_pipx(newcomer: Newcomer) -> None:
    _put_wheel(newcomer)
    tools = newcomer.home / "tools"
    _done([_python(), "-m", "venv", str(tools)])
    _done([str(tools / "bin" / "pip"), "install", "--quiet", "pipx"], _WITHOUT_CACHE)
    newcomer.own(tools)


def _with_uv(newcomer: Newcomer) -> tuple[list[str], list[str]]:
    return _installed(newcomer, str(newcomer.home / ".local" / "bin" / "uv"), "tool", "install", _wheel(newcomer))


def _with_pipx(newcomer: Newcomer) -> tuple[list[str], list[str]]:
    return _installed(newcomer, str(newcomer.home / "tools" / "bin" / "pipx"), "install", _wheel(newcomer))


def _with_pip(newcomer: Newcomer) -> tuple[list[str], list[str]]:
    environment = newcomer.home / "env"
    newcomer.run(_python(), "-m", "venv", "--without-pip", str(environment))
    newcomer.run(_python(), "-m", "pip", "--python", str(environment), "install", "pip")
    program = str(environment / "bin" / "pip")
    return _installed(newcomer, program, "install", _wheel(newcomer), aop=environment / "bin" / "aop")


def _installed(newcomer: Newcomer, *command: str, aop: Path | None = None) -> tuple[list[str], list[str]]:
    """In an empty folder from then on."""
    newcomer.run(*command)
    newcomer.folder = newcomer.home / "work"
    newcomer.folder.mkdir()
    newcomer.own(newcomer.folder)
    program = str(aop or newcomer.home / ".local" / "bin" / "aop")
    return [program, "up", "--samples"], [program]


def _wheel(newcomer: Newcomer) -> str:
    (built,) = (newcomer.home / "dist").glob("*.whl")
    return f"{NAME}[local] @ {built.as_uri()}"


def _python() -> str:
    """Of the machine, which every user may run; the one that runs this may lie in somebody's home folder."""
    return shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") or "python3"


def _done(command: list[str], more: Mapping[str, str] | None = None) -> None:
    subprocess.run(command, check=True, env=child_environment() | dict(more or {}), stdout=subprocess.DEVNULL)


WAYS: Mapping[str, Way] = {
    "clone": Way(_put_origin, _clone),
    "uv": Way(_put_uv, _with_uv),
    "pipx": Way(_put_pipx, _with_pipx),
    "pip": Way(_put_wheel, _with_pip),
}
