"""Writes marks into a copy of the product: each block of a function notes that it ran, in a file all processes share.

A mark is one byte in a mapped file. It costs little, needs no tracer, and stays when its process is killed.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MODULE = "aop_marks"
BYTES = f"{MODULE}.bin"
_READER = f'''"""The marks of this copy of the product."""

import mmap
from pathlib import Path

with Path(__file__).with_name("{BYTES}").open("r+b") as opened:
    MARKS = mmap.mmap(opened.fileno(), 0)
'''
# Programs that run without a search path have no marks; what they hold counts as reached by every test.
_IMPORTED = f"""
try:
    from {MODULE} import MARKS as _MARKS
except ImportError:
    _MARKS = {{}}
"""
_BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class Block:
    """Statements that run one after the other; `function` is their home by its qualified name."""

    file: str
    function: str
    first: int
    last: int


def mark_product(root: Path) -> list[Block]:
    """Marks every module below `src`; the number of a mark is the index of its block."""
    blocks: list[Block] = []
    (root / "src" / f"{MODULE}.py").unlink(missing_ok=True)
    for path in sorted((root / "src").rglob("*.py")):
        tree, file = ast.parse(path.read_bytes()), str(path.relative_to(root))
        for name, suite in list(_suites(tree, "", inside=False)):
            blocks.append(Block(file, name, suite[0].lineno, suite[-1].end_lineno or suite[-1].lineno))
            at = 1 if _is_text(suite[0]) else 0
            suite[at:at] = ast.parse(f"_MARKS[{len(blocks) - 1}] = 1").body
        at = next((number for number, each in enumerate(tree.body) if not _comes_first(each)), len(tree.body))
        tree.body[at:at] = ast.parse(_IMPORTED).body
        path.write_text(ast.unparse(ast.fix_missing_locations(tree)), "utf-8")
    (root / "src" / f"{MODULE}.py").write_text(_READER, "utf-8")
    (root / "src" / BYTES).write_bytes(bytes(len(blocks)))
    (root / "src" / BYTES).chmod(0o666)  # units and servers may run as somebody else
    return blocks


def _suites(node: ast.AST, name: str, *, inside: bool) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Of functions only: what stands outside them runs when its module is loaded."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        name = f"{name}.{node.name}".removeprefix(".")
        inside = inside or not isinstance(node, ast.ClassDef)
    for field in _BLOCKS:
        suite = getattr(node, field, None)
        if inside and isinstance(suite, list) and suite:
            yield name, suite
    for child in ast.iter_child_nodes(node):
        yield from _suites(child, name, inside=inside)


def _comes_first(node: ast.stmt) -> bool:
    return _is_text(node) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
