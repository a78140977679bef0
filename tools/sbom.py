"""`./dev sbom`: writes a CycloneDX 1.6 bill of materials, made from the lock files alone; a release has one."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from aop.base.distribution import NAME
from tools.lock_files import Lock, Pin, read_all, version_of_project

FILE = "sbom.cdx.json"
_PROJECT_LOCK = "requirements.lock"
_CONSOLE_LOCK = "console/package-lock.json"
_STRENGTH = ("required", "optional", "excluded")
_ALGORITHMS = {"npm": "SHA-512"}
"""A version of a Python package has a hash for each of its files; the lock file that is named holds them."""


@dataclass
class Component:
    """One version of a package, wherever it is pinned."""

    pin: Pin
    scope: str
    locks: set[str] = field(default_factory=set)
    markers: set[str] = field(default_factory=set)
    needs: set[str] = field(default_factory=set)


def bill(locks: Sequence[Lock], version: str) -> dict[str, Any]:
    """The same for the same lock files: no time, no random number, everything in order."""
    components = _components(locks)
    project = f"pkg:generic/{NAME}@{version}"
    roots = {_reference(pin) for lock in locks for pin in lock.pins if "" in pin.needed_by}
    graph = {project: roots, **{reference: one.needs for reference, one in components.items()}}
    told: dict[str, Any] = {
        "metadata": {"component": _project(project, version)},
        "components": [_described(reference, components[reference]) for reference in sorted(components)],
        "dependencies": [{"ref": reference, "dependsOn": sorted(graph[reference])} for reference in sorted(graph)],
    }
    number = uuid5(NAMESPACE_URL, json.dumps(told, sort_keys=True))
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{number}", "version": 1}
    return head | told


def write(folder: Path) -> Path:
    target = folder / FILE
    folder.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(bill(read_all(), version_of_project()), indent=1, ensure_ascii=False) + "\n", "utf-8")
    return target


def unasked(written: Mapping[str, Any]) -> set[str]:
    """What the bill lists although nothing that is asked for needs it, and what is needed but not in the bill."""
    graph = {each["ref"]: each["dependsOn"] for each in written["dependencies"]}
    reached, ahead = set[str](), [written["metadata"]["component"]["bom-ref"]]
    while ahead:
        one = ahead.pop()
        if one not in reached:
            reached.add(one)
            ahead += graph.get(one, ())
    return reached ^ graph.keys()


def _components(locks: Sequence[Lock]) -> dict[str, Component]:
    found: dict[str, Component] = {}
    for lock in locks:
        references: dict[str, list[str]] = {}  # several: one version for each range of interpreters
        for pin in lock.pins:
            references.setdefault(pin.key, []).append(_reference(pin))
            scope = _scope(lock, pin)
            one = found.setdefault(_reference(pin), Component(pin, scope))
            one.scope = min(one.scope, scope, key=_STRENGTH.index)
            one.locks.add(lock.name)
            one.markers |= {pin.marker} if pin.marker else set()
        for pin in lock.pins:
            for reference in (known for asker in pin.needed_by for known in references.get(asker, ())):
                found[reference].needs.add(_reference(pin))
    return found


def _scope(lock: Lock, pin: Pin) -> str:
    """Required: part of the running platform. Optional: of a sample Agent. Excluded: builds, tests and sets up."""
    if lock.name.startswith("agents/"):
        return "optional"
    runs = lock.name == _PROJECT_LOCK or (lock.name == _CONSOLE_LOCK and not pin.development)
    return "required" if runs else "excluded"


def _described(reference: str, one: Component) -> Mapping[str, Any]:
    group, _, name = one.pin.name.rpartition("/")
    told: dict[str, Any] = {"type": "library", "bom-ref": reference}
    told |= {"group": group} if group else {}
    told |= {"name": name, "version": one.pin.version, "scope": one.scope}
    algorithm = _ALGORITHMS.get(one.pin.ecosystem)
    if algorithm is not None:
        told["hashes"] = [{"alg": algorithm, "content": content} for content in one.pin.hashes]
    noted = [("aop:lock", name) for name in sorted(one.locks)] + [("aop:marker", text) for text in sorted(one.markers)]
    return told | {"purl": reference, "properties": [{"name": name, "value": value} for name, value in noted]}


def _project(reference: str, version: str) -> Mapping[str, Any]:
    licenses = [{"license": {"id": "Apache-2.0"}}]
    return {"type": "application", "bom-ref": reference, "name": NAME, "version": version, "licenses": licenses}


def _reference(pin: Pin) -> str:
    """The package URL, which is also how the bill names it."""
    name = pin.name.replace("_", "-") if pin.ecosystem == "pypi" else quote(pin.name)
    return f"pkg:{pin.ecosystem}/{name}@{quote(pin.version)}"


def _check() -> int:
    with TemporaryDirectory() as folder:
        wrong = unasked(json.loads(write(Path(folder)).read_bytes()))
    print("\n".join(f"{one}: the lock files do not say who needs it" for one in sorted(wrong)) or "the bill is whole")
    return 1 if wrong else 0


def main(arguments: Sequence[str]) -> int:
    if arguments == ["--check"]:
        return _check()
    print(f"wrote {write(Path(*arguments[:1] or ['dist']).absolute())}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
