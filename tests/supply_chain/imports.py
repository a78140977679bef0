"""Imports every module of the platform with only its locked packages in sight, and tells what that did to the machine.

Run as a program, with the names that may be imported as its arguments; prints one JSON document.
"""

import importlib.abc
import json
import os
import pkgutil
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
WATCHED = (
    "socket.",
    "subprocess.",
    "os.",
    "shutil.",
    "urllib.",
    "http.",
    "ftplib.",
    "smtplib.",
    "sqlite3.",
    "tempfile.",
)
HARMLESS = frozenset(
    {"os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.listxattr", "os.getxattr", "socket.__new__"}
)
"""They look. A socket that is neither bound nor connected does nothing; some packages make one to see what exists."""

UNLISTED = ("__editable__", "_sysconfigdata_")
"""How this checkout is installed, and a file of the standard library that has the machine's name in its own."""


class Unlocked(importlib.abc.MetaPathFinder):
    """Hides every top-level module that belongs to no allowed package."""

    def __init__(self, allowed: frozenset[str]) -> None:
        self._allowed = allowed

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        top = name.partition(".")[0]
        if top in self._allowed or top in sys.stdlib_module_names or top.startswith(UNLISTED):
            return None
        raise ModuleNotFoundError(f"{top} is not locked for the platform", name=name)


def watch(deeds: list[str]) -> None:
    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if (isinstance(mode, str) and set(mode) & set("wax+")) or (flags or 0) & WRITING:
                deeds.append(f"open for writing: {path}")
        elif event.startswith(WATCHED) and event not in HARMLESS:
            deeds.append(f"{event} {arguments!r}")

    sys.addaudithook(audit)


def modules() -> list[str]:
    import aop  # noqa: PLC0415  behind the watch

    found = [module.name for module in pkgutil.walk_packages(aop.__path__, "aop.")]
    return [name for name in found if not name.endswith("__main__")]


def main(allowed: Sequence[str]) -> None:
    sys.dont_write_bytecode = True
    deeds: list[str] = []
    sys.meta_path.insert(0, Unlocked(frozenset({"aop", *allowed})))
    watch(deeds)
    names = modules()
    for name in names:
        importlib.import_module(name)
    print(json.dumps({"modules": names, "deeds": deeds, "loaded": sorted(sys.modules)}))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
