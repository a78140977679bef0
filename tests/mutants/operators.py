"""The ways to make one small mistake in a statement, found in its syntax tree and written as a change of its text."""

import ast
import copy
import re
from collections.abc import Callable, Iterator

from tests.mutants.mutant import Change, span

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_CALCULATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
}  # fmt: skip
_SQL = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE)\b.*\b(FROM|INTO|SET|VALUES)\b", re.DOTALL)
_SQL_CHANGES = {
    " AND ": " OR ", " IS NULL": " IS NOT NULL", " <= ": " < ", " < ": " <= ", " >= ": " > ", " > ": " >= ",
    " DESC": " ASC", " ASC": " DESC", " = ": " <> ",
}  # fmt: skip
_DROPPED = (ast.Expr, ast.AugAssign, ast.Raise, ast.Delete, ast.Continue, ast.Break)
_LOGGED = frozenset({"debug", "info", "warning", "error", "exception", "say", "echo", "print"})
_DECLARED = frozenset({"annotation", "returns", "type_comment", "type_params", "decorator_list", "keywords", "bases"})
"""Fields that say how a class or function is declared; `keywords` is one of a class alone."""
_BY_TEN = 10


Found = Iterator[tuple[ast.AST, ast.AST]]
"""What stands there, and what would stand there instead."""


def _negated(node: ast.AST) -> Found:
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.Constant):
        test = node.test
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield test, test.operand
        else:
            yield test, ast.UnaryOp(ast.Not(), test)


def _compared(node: ast.AST) -> Found:
    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            other = copy.deepcopy(node)
            other.ops[number] = _COMPARISONS[type(operator)]()
            yield node, other


def _off_by_one(node: ast.AST) -> Found:
    if isinstance((number := _number(node)), int):
        for step in (1, -1):
            yield node, ast.Constant(number + step)


def _widened(node: ast.AST) -> Found:
    if (number := _number(node)) is not None and number > 1:
        yield node, ast.Constant(number * _BY_TEN)


def _joined(node: ast.AST) -> Found:
    if isinstance(node, ast.BoolOp):
        yield node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)


def _turned(node: ast.AST) -> Found:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, ast.Constant(not node.value)


def _calculated(node: ast.AST) -> Found:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _CALCULATIONS and not _has_text(node):
        other = copy.deepcopy(node)
        other.op = _CALCULATIONS[type(node.op)]()
        yield node, other


def _swapped(node: ast.AST) -> Found:
    if isinstance(node, ast.Call) and not any(isinstance(each, ast.Starred) for each in node.args):
        for number in range(len(node.args) - 1):
            other = copy.deepcopy(node)
            other.args[number : number + 2] = reversed(other.args[number : number + 2])
            yield node, other


def _dropped(node: ast.AST) -> Found:
    if isinstance(node, _DROPPED) and not isinstance(getattr(node, "value", None), ast.Constant | ast.Yield):
        yield node, ast.Pass()
    if isinstance(node, ast.Assign) and all(isinstance(each, ast.Attribute | ast.Subscript) for each in node.targets):
        yield node, ast.Pass()


def _questioned(node: ast.AST) -> Found:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _SQL.search(node.value):
        for old, new in _SQL_CHANGES.items():
            for place in re.finditer(re.escape(old), node.value):
                yield node, ast.Constant(node.value[: place.start()] + new + node.value[place.end() :])


OPERATORS: dict[str, Callable[[ast.AST], Found]] = {
    "negate a condition": _negated,
    "change a comparison": _compared,
    "off by one": _off_by_one,
    "widen a limit": _widened,
    "and for or": _joined,
    "true for false": _turned,
    "change a calculation": _calculated,
    "swap arguments": _swapped,
    "drop a statement": _dropped,
    "change a query": _questioned,
}


def changes(statement: ast.stmt, source: bytes) -> dict[str, list[Change]]:
    """By operator, every change of the statement itself; statements inside it have their own."""
    found: dict[str, list[Change]] = {}
    for node in _own_nodes(statement):
        for name, operator in OPERATORS.items():
            for old, new in operator(node):
                change = _as_text(name, old, new, source)
                if change.new.encode() != source[change.start : change.end]:
                    found.setdefault(name, []).append(change)
    return found


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Without declarations, log calls and nested statements."""
    if _is_logging(node):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in _DECLARED and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                yield from _own_nodes(child)


def _as_text(name: str, old: ast.AST, new: ast.AST, source: bytes) -> Change:
    text = ast.unparse(new)
    return Change(name, *span(old, source), f"({text})" if isinstance(old, ast.expr) and _needs_brackets(new) else text)


def _needs_brackets(node: ast.AST) -> bool:
    return isinstance(node, ast.BoolOp | ast.Compare | ast.UnaryOp | ast.BinOp | ast.Constant) and not (
        isinstance(node, ast.Constant) and not str(node.value).startswith("-")
    )


def _number(node: ast.AST) -> int | float | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _has_text(node: ast.AST) -> bool:
    return any(
        isinstance(each, ast.JoinedStr) or isinstance(getattr(each, "value", None), str) for each in ast.walk(node)
    )


def _is_logging(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr | ast.Await):
        return _is_logging(node.value)
    called = node.func if isinstance(node, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in _LOGGED
