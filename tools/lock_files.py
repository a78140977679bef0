"""The lock files of the repository as values: what each pins, by which hashes, and what needs what; and their check."""

import base64
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CONSOLE_LOCK = ROOT / "console" / "package-lock.json"

_PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[A-Za-z0-9.!+_-]+)(?: ; (?P<marker>.+))?")
_HASH = re.compile(r"--hash=sha256:(?P<digest>[0-9a-f]{64})")
_INTEGRITY = re.compile(r"sha512-(?P<digest>[A-Za-z0-9+/]{86}==)")


@dataclass(frozen=True)
class Pin:
    """One package at one version; `hashes` are hexadecimal, one for each file that may be installed as it."""

    ecosystem: str
    name: str
    version: str
    hashes: Sequence[str]
    needed_by: Sequence[str]
    """Keys of the pins in the same lock file that ask for it; "" stands for the project itself."""
    marker: str | None = None
    development: bool = False

    @property
    def key(self) -> str:
        """Under which others of the same lock file name it."""
        return self.name


@dataclass(frozen=True)
class Lock:
    """One lock file. `problems` are the lines and entries of it that pin nothing, or without a hash."""

    path: Path
    pins: Sequence[Pin]
    problems: Sequence[str]

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()


def folder_locks() -> list[Path]:
    """Those beside the requirements.in of one folder: of the sample Agents, and of what `./dev interop` runs."""
    return sorted([*ROOT.glob("agents/*/requirements.lock"), *ROOT.glob("interop/**/requirements.lock")])


def python_locks() -> list[Path]:
    return [*sorted(ROOT.glob("requirements*.lock")), *folder_locks()]


def npm_folders() -> list[Path]:
    """The Console's, those of Agents in Node, and those of published types."""
    others = [*ROOT.glob("clients/*/package-lock.json"), *ROOT.glob("interop/agents/*/package-lock.json")]
    return [CONSOLE_LOCK.parent, *sorted(path.parent for path in others)]


def read_all() -> list[Lock]:
    python = [read_python(path, path.read_text("utf-8")) for path in python_locks()]
    return [*python, *(_read_folder(folder) for folder in npm_folders())]


def _read_folder(folder: Path) -> Lock:
    path = folder / CONSOLE_LOCK.name
    return read_npm(path, json.loads(path.read_bytes()))


def read_python(path: Path, text: str) -> Lock:
    """The form `uv pip compile --generate-hashes` writes, and nothing that pip would read besides it."""
    pins, problems = [], []
    for block in re.split(r"\n(?=[^ #])", text.removesuffix("\n")):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if not lines:
            continue
        first, *rest = [line.strip().removesuffix("\\").strip() for line in lines]
        pin, hashes = _PIN.fullmatch(first), [_HASH.fullmatch(line) for line in rest if not line.startswith("#")]
        if pin is None:
            problems.append(f"{first}: not a plain NAME==VERSION")
        elif not hashes or None in hashes:
            problems.append(f"{first}: not pinned by SHA-256 hashes alone")
        else:
            digests = sorted(found["digest"] for found in hashes if found)
            pins.append(Pin("pypi", pin["name"].lower(), pin["version"], digests, _askers(rest), pin["marker"]))
    return Lock(path, pins, problems)


def read_npm(path: Path, content: Mapping[str, Any]) -> Lock:
    """Lock file version 3. A package is keyed by its place, because several versions of one may be installed."""
    packages: Mapping[str, Any] = content["packages"]
    problems = [] if content.get("lockfileVersion") == 3 else ["not a lock file of version 3"]
    askers: dict[str, list[str]] = {place: [] for place in packages}
    for place, package in packages.items():
        for needed in _npm_needs(packages, place, package):
            askers[needed].append(place)
    pins: list[Pin] = []
    for place, package in packages.items():
        found = _INTEGRITY.fullmatch(package.get("integrity", ""))
        if place and (found is None or package.get("link") or "resolved" in package):
            problems.append(f"{place}: not pinned by a SHA-512 integrity alone")
        elif place and found is not None:
            pins.append(_npm_pin(place, package, base64.b64decode(found["digest"]).hex(), askers[place]))
    return Lock(path, pins, problems)


@dataclass(frozen=True)
class PlacedPin(Pin):
    """A package of npm, which others name by the folder it is put in."""

    place: str = ""

    @property
    def key(self) -> str:
        return self.place


def _npm_pin(place: str, package: Mapping[str, Any], digest: str, askers: Sequence[str]) -> Pin:
    name = package.get("name") or place.rpartition("node_modules/")[2]
    development = bool(package.get("dev") or package.get("devOptional"))
    return PlacedPin("npm", name, package["version"], [digest], sorted(askers), None, development, place)


def _npm_needs(packages: Mapping[str, Any], place: str, package: Mapping[str, Any]) -> Iterator[str]:
    """The places of what a package asks for: the nearest folder upwards that holds it, as Node looks for it."""
    kinds = ("dependencies", "optionalDependencies", "peerDependencies", *(() if place else ("devDependencies",)))
    for name in dict.fromkeys(name for kind in kinds for name in package.get(kind, {})):
        folder = place
        while (wanted := f"{folder}/node_modules/{name}".removeprefix("/")) not in packages and folder:
            folder = folder.rpartition("node_modules/")[0].removesuffix("/")
        if wanted in packages:
            yield wanted


def _askers(lines: Sequence[str]) -> Sequence[str]:
    """From the comments behind a pin: `# via NAME`, or a line for each."""
    noted = [line.removeprefix("#").strip().removeprefix("via").strip() for line in lines if line.startswith("#")]
    return ["" if "(" in name or name.startswith("-") else name.lower() for name in noted if name]


def version_of_project() -> str:
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def main() -> int:
    found = [f"{lock.name}: {problem}" for lock in read_all() for problem in lock.problems]
    print("\n".join(found) if found else "every lock file pins by hashes alone")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
