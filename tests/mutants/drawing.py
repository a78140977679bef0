"""Draws mutants by seed: places spread evenly over all statements of the product, one small mistake at each."""

import ast
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.mutants.mutant import ROOT, Change, Mutant, mutant_of
from tests.mutants.operators import changes

SOURCE = ROOT / "src"
_TYPES_ONLY = {"TYPE_CHECKING", "__name__"}
_NO_MISTAKE = (ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal, ast.Assert)


@dataclass(frozen=True)
class Place:
    """A statement that may be changed."""

    path: Path
    statement: ast.stmt


def draw(seed: int, count: int, packages: Sequence[str] = ()) -> list[Mutant]:
    """Every module gets its share by the number of its statements, because the places lie at equal distances.

    `packages` of `aop`, such as `door`; all of the product when none is named.
    """
    choice, places = random.Random(seed), [place for place in all_places() if _lies_in(place, packages)]
    distance = len(places) / count
    offset = choice.random()
    drawn: list[Mutant] = []
    for number in range(count):
        first = int((number + offset) * distance)
        after = (places[(first + step) % len(places)] for step in range(len(places)))
        drawn.append(next(found for place in after if (found := _mutant_at(place, choice, drawn)) is not None))
    return drawn


def _lies_in(place: Place, packages: Sequence[str]) -> bool:
    return not packages or any(place.path.is_relative_to(SOURCE / "aop" / package) for package in packages)


@cache
def all_places() -> Sequence[Place]:
    paths = sorted(path for path in SOURCE.rglob("*.py") if path.name != "__main__.py")
    return [Place(path, each) for path in paths for each in statements(ast.parse(path.read_bytes()))]


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """In their order; without docstrings, imports, and what only a type checker or an abstract class reads."""
    if isinstance(node, ast.If) and _names(node.test) & _TYPES_ONLY:
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_declared_only(node):
        return
    if isinstance(node, ast.stmt) and not isinstance(node, _NO_MISTAKE) and not _is_text(node):
        yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from statements(child)


def _mutant_at(place: Place, choice: random.Random, drawn: Sequence[Mutant]) -> Mutant | None:
    """By the operator that was drawn least so far, so that no kind of mistake crowds out the others."""
    source, often = place.path.read_bytes(), Counter(mutant.why for mutant in drawn)
    possible = changes(place.statement, source)
    for operator in sorted(possible, key=lambda name: (often[name], choice.random())):
        for change in choice.sample(possible[operator], len(possible[operator])):
            mutant = _mutant(place, change, source)
            if mutant is not None and mutant not in drawn:
                return mutant
    return None


def _mutant(place: Place, change: Change, source: bytes) -> Mutant | None:
    line, file = source.count(b"\n", 0, change.start) + 1, str(place.path.relative_to(ROOT))
    return mutant_of(f"{file.removeprefix('src/aop/')}:{line} {change.operator}", file, change, source)


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_declared_only(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return all(isinstance(each, ast.Pass) or _is_text(each) for each in node.body)
