"""How near a test is to a change by the words both use; all there is to go by where nothing was recorded."""

import ast
import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tests.mutants.mutant import ROOT, Mutant, changed_line

_WORD = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_OWN_NAME = 3
"""A name says more than a line of a body, and so does the changed line itself."""


@dataclass(frozen=True)
class TestText:
    """One test function with the words of its file's name, its own name and its body."""

    __test__ = False
    file: str
    function: str
    words: Counter[str]


Near = dict[tuple[str, str], float]
"""By file and function, from 0 to 1."""


class Nearness:
    def __init__(self, tests: list[TestText]) -> None:
        self._tests = tests

    @cached_property
    def _rarity(self) -> dict[str, float]:
        often = Counter(word for test in self._tests for word in test.words)
        return {word: math.log(len(self._tests) / count) for word, count in often.items()}

    def to(self, mutant: Mutant) -> Near:
        change = self._weighed(_words_of_change(mutant))
        return {(test.file, test.function): _cosine(change, self._weighed(test.words)) for test in self._tests}

    def _weighed(self, words: Counter[str]) -> dict[str, float]:
        return {word: (1 + math.log(count)) * self._rarity.get(word, 0.0) for word, count in words.items()}


@cache
def all_tests() -> Nearness:
    return Nearness([one for path in sorted((ROOT / "tests").rglob("test_*.py")) for one in _tests_of(path)])


def enclosing_function(mutant: Mutant) -> tuple[str, str]:
    """Its qualified name and its text; a few lines around the change where it is in no function."""
    text, line = (ROOT / mutant.file).read_text("utf-8"), changed_line(mutant)
    name, found = "", None
    if mutant.file.endswith(".py"):
        for qualified, node in _named("", ast.parse(text)):
            if node.lineno <= line <= (node.end_lineno or node.lineno):
                name, found = qualified, node
    if found is None:
        return "", "\n".join(text.splitlines()[max(0, line - 4) : line + 3])
    return name, ast.get_source_segment(text, found) or ""


def _words_of_change(mutant: Mutant) -> Counter[str]:
    name, text = enclosing_function(mutant)
    path = mutant.file.removeprefix("src/aop/").rpartition(".")[0]
    return _words(text) + _times(_words(f"{mutant.old} {path} {name}"), _OWN_NAME)


def _tests_of(path: Path) -> list[TestText]:
    text, file = path.read_text("utf-8"), str(path.relative_to(ROOT))
    home = _times(_words(file), _OWN_NAME)
    return [
        TestText(
            file,
            node.name,
            home + _times(_words(node.name), _OWN_NAME) + _words(ast.get_source_segment(text, node) or ""),
        )
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]


def _named(prefix: str, node: ast.AST) -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Outer ones first."""
    found: list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]] = []
    for child in ast.iter_child_nodes(node):
        home = prefix
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            home = f"{prefix}.{child.name}".removeprefix(".")
            if not isinstance(child, ast.ClassDef):
                found.append((home, child))
        found += _named(home, child)
    return found


def _words(text: str) -> Counter[str]:
    return Counter(word.lower() for word in _WORD.findall(text))


def _times(words: Counter[str], factor: int) -> Counter[str]:
    return Counter({word: factor * count for word, count in words.items()})


def _cosine(one: dict[str, float], other: dict[str, float]) -> float:
    shared = sum(weight * other[word] for word, weight in one.items() if word in other)
    return shared / (math.hypot(*one.values()) * math.hypot(*other.values()) or 1.0)
