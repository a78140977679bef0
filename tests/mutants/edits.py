"""Edits of the product by name: a function, and in it the one statement or expression that reads as given."""

import ast
import textwrap
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutant import ROOT, Change, Mutant, mutant_of, span

_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class EditLost(Exception):
    """The place of an edit is gone from the product, or is no longer the only one."""


@dataclass(frozen=True)
class Edit:
    """In `function` (empty: outside all functions) what reads like `find` becomes `put`; an empty one drops it.

    With `text` in place of `find`, the one text constant, or the file that is no Python, gets `put` in its place.
    """

    name: str
    file: str
    put: str
    why: str
    function: str = ""
    find: str = ""
    text: str = ""

    def mutant(self) -> Mutant:
        path = ROOT / self.file
        source = path.read_bytes() if path.is_file() else b""
        if path.suffix != ".py":
            self._require_one(source.count(self.text.encode()), self.text)
            return Mutant(self.name, self.file, self.text, self.put, self.why)
        node = self._node(ast.parse(source))
        found = mutant_of(self.name, self.file, Change(self.why, *span(node, source), self._new(node)), source)
        if found is None:
            raise EditLost(f"{self.name}: it changes nothing, or does not compile")
        return found

    def _node(self, tree: ast.Module) -> ast.AST:
        nodes = [node for node in _nodes_of(tree, self.function) if self._is_meant(node)]
        self._require_one(len(nodes), self.find or self.text)
        return nodes[0]

    def _is_meant(self, node: ast.AST) -> bool:
        if self.text:
            return isinstance(node, ast.Constant) and isinstance(node.value, str) and self.text in node.value
        # The value of a statement that is an expression reads like the statement: the statement is meant.
        return not getattr(node, "is_statement", False) and ast.unparse(node) == _normal(self.find)

    def _new(self, node: ast.AST) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and self.text:
            return repr(node.value.replace(self.text, self.put))
        if isinstance(node, ast.stmt):
            return textwrap.indent(self.put or "pass", " " * node.col_offset).lstrip()
        return f"({self.put})" if isinstance(node, ast.expr) else self.put

    def _require_one(self, count: int, what: str) -> None:
        if count != 1:
            where = f"{self.file} {self.function}".rstrip()
            raise EditLost(f"{self.name}: {what!r} stands {count} times in {where}")


def read_edits(path: Path) -> Sequence[Edit]:
    return [Edit(**bug) for bug in tomllib.loads(path.read_text("utf-8"))["bug"]]


def _nodes_of(node: ast.AST, function: str, at: str = "") -> Iterator[ast.AST]:
    """Those that stand in exactly this function, or in what it holds that has no name of its own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _NAMED):
            yield from _nodes_of(child, function, f"{at}.{child.name}".removeprefix("."))
            continue
        if isinstance(node, ast.Expr):
            child.is_statement = True  # type: ignore[attr-defined]  # a mark of our own
        if at == function and hasattr(child, "lineno"):
            yield child
        yield from _nodes_of(child, function, at)


def _normal(code: str) -> str:
    """As the syntax tree writes it; a pattern of a `match` is no code by itself and stays as it is."""
    return ast.unparse(ast.parse(code))
