"""Reads names and docstrings for words that the project has given up, and finds public classes that share one name."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tools.structure import ROOT, statements, tracked

FOLDERS = ("src", "tests", "proof", "interop", "tools", "benchmarks", "agents", "templates")
_ITS_OWN_NAME = "the name of the thing itself: task, query, filters, request …"
_ITS_NOUN = "the noun that it is: request, unit, result, row …"
_EXAMPLE = "Example: "
"""Stands in the help text of each command, which people at a terminal read and which does not change for a word."""


class Word(NamedTuple):
    """A pattern for whole names in lower case with underscores between their words, and what to write instead."""

    pattern: str
    use: str
    within: tuple[str, ...] = FOLDERS
    kinds: tuple[str, ...] = ()
    """Of names, such as class; empty for all of them."""


class Name(NamedTuple):
    kind: str
    text: str
    line: int


def _of_classes(pattern: str, use: str, *rooms: str) -> Word:
    """For a word that is fine elsewhere. Without rooms, in all of them."""
    return Word(pattern, use, tuple(f"src/aop/{room}" for room in rooms) or ("src",), ("class",))


WORDS = (
    Word(r"(most|longest)(_.*)?", "max_…"),
    Word(r"below", "trace_headers, or what lies there"),
    Word(r"(.*_)?lanes?(_.*)?", "GroupCommit, or queue"),
    Word(r"told", "the name of the result: written, refused, answer, report …"),
    Word(r"(.*_)?verdicts?(_.*)?", "the name of the result: outcome, judgement, answer …"),
    Word(r"(.*_)?(owe[sd]?|owing|debts?)(_.*)?", "deferred, deferred_terminals"),
    Word(r"(.*_)?doubtful(_.*)?", "unconfirmed"),
    Word(r"look|look_(?!up|alike).*", "probe, or read"),
    Word(r"lose", "end_unstarted"),
    Word(r"over", "EndedAtAcceptance, or ended"),
    Word(r"(.*_)?standings?(_.*)?", "InstallationState(s), or state"),
    Word(r"(.*_)?trails?(_.*)?", "RequestPhases, or phases"),
    Word(r"(.*_)?passages?(_.*)?", "Phase"),
    Word(r"shown", "items, or the name of what is shown"),
    Word(r"(.*_)?journal(_.*)?", "UnitLogs", ("src/aop/local", "tests/local")),
    Word(r"ended_by_leaving", "CancelOnDisconnect"),
    Word(r"hand_on", "DeliverChunk"),
    Word(r"calm_collector", "tune_gc"),
    Word(r"gates", "GatewayAccess, or access"),
    Word(r"outside", "Environment"),
    Word(r"known|given|wanted|asked", _ITS_OWN_NAME),
    _of_classes(r"company", "BatchingWindow"),
    _of_classes(r"moments", "TtlCache"),
    _of_classes(r"(.*_)?turns", "Yielder, or KeyedLocks"),
    _of_classes(r"meanwhile", "on_sent"),
    _of_classes(r"life", "EpochRow"),
    # A place in a document is one.
    _of_classes(r"place", "Position, QueueEntry, or depth", "ledger", "router", "control_plane", "serving"),
    _of_classes(r"recalled|outlook(_.*)?", "what the thing holds"),
    _of_classes(
        r"seen(_result)?|learned_calls|judged|said|kept|named|counted|numbered|unnumbered|unended|observed", _ITS_NOUN
    ),
    _of_classes(r"served|prepared|surveyed|described|opened|painted", _ITS_NOUN),
)

PHRASES = (
    (r"\bwhoever\b", "the caller, or who it is"),
    (r"(?<!`)\bnobody\b", "no one, or what does not happen"),
    (r"\b(?:is|are|was|were|be|been|being)(?: \w+)? told\b", "returned, shown, sent, or reported"),
    (
        r"\bwhat (?:is|was|were|has been|had been) (?:found|kept|told|said)\b",
        "what is returned, stored, sent, or written",
    ),
)
"""For docstrings of the product, whose readers know none of our turns of phrase, and what to write instead."""


def problems(root: Path, paths: Iterable[Path]) -> Iterator[str]:
    """All of them in those files under the root, in their order."""
    owners: dict[str, Path] = {}
    for path in paths:
        place, tree = path.relative_to(root), ast.parse(path.read_text("utf-8"))
        words = _words_of(place)
        for name in sorted(set(_names(place, tree)), key=lambda name: name.line):
            if (use := _better(words, name.kind, name.text)) is not None:
                yield f"{place}:{name.line}: {name.kind} {name.text} uses an old word; write {use}"
        if place.parts[0] == "src":
            yield from _phrases(place, tree)
        for found in tree.body if place.parts[0] == "src" else ():
            if isinstance(found, ast.ClassDef) and not found.name.startswith("_"):
                other = owners.setdefault(found.name, place)
                if other is not place:
                    yield f"{place}:{found.lineno}: {other} has a class {found.name} too; rename the less known one"


def _words_of(place: Path) -> tuple[Word, ...]:
    return tuple(word for word in WORDS if any(place.is_relative_to(folder) for folder in word.within))


def _phrases(place: Path, tree: ast.Module) -> Iterator[str]:
    for line, text in sorted(_docstrings(tree)):
        for pattern, use in () if _EXAMPLE in text else PHRASES:
            for found in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE):
                said = " ".join(found[0].split())
                yield f'{place}:{line + text.count(chr(10), 0, found.start())}: a docstring says "{said}"; write {use}'


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Of modules, classes and functions, and those after fields and constants."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


@cache
def _better(words: tuple[Word, ...], kind: str, name: str) -> str | None:
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).strip("_").lower()
    if plain.startswith("test_"):  # a whole sentence
        return None
    fitting = (word for word in words if not word.kinds or kind in word.kinds)
    return next((word.use for word in fitting if re.fullmatch(word.pattern, plain)), None)


def _names(place: Path, tree: ast.Module) -> Iterator[Name]:
    """Every name that other code can use. Locals, and arguments of a lambda, are free."""
    yield Name("module", place.parent.name if place.stem == "__init__" else place.stem, 1)
    yield from (Name("constant", text, line) for text, line in _assigned(tree.body))
    for node in statements(tree):
        if isinstance(node, ast.ClassDef):
            yield Name("class", node.name, node.lineno)
            yield from (Name("field", text, line) for text, line in _assigned(node.body))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Name("function", node.name, node.lineno)
            yield from (Name("argument", argument.arg, argument.lineno) for argument in _arguments(node.args))
        else:
            parts = (part for part in _stored(node) if isinstance(part, ast.Attribute))
            yield from (Name("field", part.attr, part.lineno) for part in parts)


def _assigned(block: list[ast.stmt]) -> Iterator[tuple[str, int]]:
    for statement in block:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        for target in targets:
            yield from ((part.id, part.lineno) for part in _parts_stored(target) if isinstance(part, ast.Name))


def _stored(statement: ast.stmt) -> Iterator[ast.Name | ast.Attribute]:
    """What the statement itself gives a value; a block in it has statements of its own."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor):
        targets = [statement.target]
    elif isinstance(statement, ast.With | ast.AsyncWith):
        targets = [item.optional_vars for item in statement.items if item.optional_vars is not None]
    for target in targets:
        yield from _parts_stored(target)


def _parts_stored(target: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    rest = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def main(places: list[str]) -> int:
    """Looks at the folders or files named, or at all of them."""
    chosen = [ROOT / place for place in places or FOLDERS]
    files = [path for path in tracked() if path.suffix == ".py" and any(path.is_relative_to(one) for one in chosen)]
    for one in chosen:
        if not any(path.is_relative_to(one) for path in files):
            sys.exit(f"{one} has no Python file of the repository")
    found = list(problems(ROOT, files))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
