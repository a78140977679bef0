"""Finds places that name the package `aop`: on the package index that is a package of somebody else.

The import and the command are `aop`; what is installed is `agent-operating-platform`.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from aop.base.distribution import NAME
from tools.structure import ROOT, tracked

_SUFFIXES = frozenset(
    {
        ".cfg",
        ".html",
        ".in",
        ".json",
        ".lock",
        ".md",
        ".py",
        ".sh",
        ".tmpl",
        ".toml",
        ".ts",
        ".tsx",
        ".txt",
        ".yaml",
        ".yml",
    }
)
_NAMES = frozenset({"dev", "Dockerfile", "run"})
_INSTALLER = r"\b(pip3?|pipx|uv)\b[^|;&]*\b(install|add|inject|download)\b[^|;&]*\s['\"]?"
_END = r"(?![\w:./-])"
_PATTERNS = (
    re.compile(rf"{_INSTALLER}aop{_END}"),  # an installer is told to take it
    re.compile(r"(?<![\w/.:-])aop\[[a-z]"),  # with an extra
    re.compile(r"(?<![\w/.:-])aop\s*(==|>=|~=|<=)\s*\d"),  # at a version
    re.compile(r"(?<![\w.:-])aop-(\d|\*)[\w.*-]*\.(whl|tar\.gz)"),  # its files
)
_REQUIREMENT = re.compile(r"aop\s*($|[\[=<>~;@#])")
_ITS_OWN_TESTS = Path("tests/tools/test_package_name.py")


def problems(root: Path, paths: Sequence[Path]) -> Iterator[str]:
    """All of them in those files under the root, in their order."""
    for path in paths:
        place = path.relative_to(root)
        if place == _ITS_OWN_TESTS or not (path.suffix in _SUFFIXES or path.name in _NAMES):
            continue
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if _names_it(place, line):
                yield f"{place}:{number}: the package is {NAME}; aop is somebody else's on the package index"


def _names_it(place: Path, line: str) -> bool:
    if "aop" not in line:
        return False
    if place.name.startswith("requirements") and _REQUIREMENT.match(line):
        return True
    return any(pattern.search(line) for pattern in _PATTERNS)


if __name__ == "__main__":
    found = list(problems(ROOT, tracked()))
    for one in found:
        print(one)
    sys.exit(1 if found else 0)
