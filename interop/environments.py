"""The environments of the Agents in interop/agents: one per folder, from its own lock file, in Python or in Node."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from tools import console_build
from tools.console_build import Node, find_node
from tools.environments import ROOT, Environment, Say, SetupProgress, one_at_a_time, ready

AGENTS = ROOT / "interop" / "agents"
_COLD_SECONDS = 30
ISSUER = Environment("interop/issuer", ROOT / "interop" / "issuer" / "requirements.lock", (), 10)
"""The OpenID provider that the sign-in of the Console is tested with; `serve.py` beside its lock file starts it."""
_NPM_LOCK = "package-lock.json"


def environment(name: str) -> Environment:
    """It sees its own folder and this checkout's `aop`, but none of the platform's dependencies."""
    lock = AGENTS / name / "requirements.lock"
    return Environment(f"interop/{name}", lock, (ROOT / "src", ROOT), _COLD_SECONDS)


def is_node(name: str) -> bool:
    return (AGENTS / name / _NPM_LOCK).is_file()


def prepare(names: Iterable[str], say: Say) -> None:
    """Installs what these Agents need, and nothing of the others."""
    chosen = sorted(set(names))
    ready([environment(name) for name in chosen if not is_node(name)], say)
    for name in filter(is_node, chosen):
        install_packages(AGENTS / name, find_node(say), say)


def command(name: str, program: str, say: Say) -> list[str]:
    """What starts a program of that folder."""
    if is_node(name):
        return [find_node(say).node, str(AGENTS / name / program)]
    return [str(environment(name).python), str(AGENTS / name / program)]


def install_packages(folder: Path, node: Node, say: Say) -> None:
    """From the lock file of the folder, unless they are there."""
    name = folder.relative_to(ROOT)
    stamp, mark = folder / "node_modules" / ".stamp", hashlib.sha256((folder / _NPM_LOCK).read_bytes()).hexdigest()
    with one_at_a_time(str(name), say):
        if stamp.is_file() and stamp.read_text() == mark:
            return
        say(f"installing the packages of {name} (first time, ~10 s)")
        console_build.install_packages(str(name), node, SetupProgress.of(say), folder)
        stamp.write_text(mark)
