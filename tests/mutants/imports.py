"""Which modules of the product a test file loads itself, or by the parts of the tests it is made of."""

import ast
from functools import cache
from pathlib import Path

from tests.mutants.mutant import ROOT


@cache
def product_modules(file: str) -> frozenset[str]:
    """Of a file of tests: files below `src`, named by it, its conftest, or what they import of tests and proof."""
    found: set[str] = set()
    waiting, seen = [ROOT / file, *_conftests(ROOT / file)], set[Path]()
    while waiting:
        path = waiting.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        for name in _imported(path):
            place = _file_of(name)
            if place is not None and name.startswith("aop"):
                found.add(str(place.relative_to(ROOT)))
            elif place is not None:
                waiting.append(place)
    return frozenset(found)


def _conftests(path: Path) -> list[Path]:
    """Of the folders above it, but not the one that all tests share."""
    folders = path.relative_to(ROOT).parents
    return [conftest for each in folders if len(each.parts) > 1 and (conftest := ROOT / each / "conftest.py").is_file()]


@cache
def _imported(path: Path) -> frozenset[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    return frozenset(name for name in names if name.partition(".")[0] in {"aop", "proof", "tests"})


def _file_of(name: str) -> Path | None:
    base = ROOT / ("src" if name.startswith("aop") else "") / Path(*name.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)
