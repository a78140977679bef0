"""Checks what linters cannot see: file names and sizes, module docstrings, lock files without hosts or paths.

The median is taken over the modules of the product; one of a single line, as most `__init__` are, does not count.
"""

import ast
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_LINES = 400
MAX_FUNCTION_LINES = 45
MEDIAN_LINES = (80, 130)
# A digit at the end is a second try of a name, but for a version of a protocol: v0_3.
_BANNED_STEMS = re.compile(r"(^|_)(utils?|helpers?|common|misc|manager|service|handlers?)(_|$)|(?<!^v\d_)\d$")
_HOST = re.compile(r"https?://|--(index-url|extra-index-url|find-links)|\bfile:", re.IGNORECASE)
_BARE_IGNORE = re.compile(r"#\s*type:\s*ignore(?!\[[\w, -]+\]  # \w)")
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
_MACHINE_PATH = re.compile(r"(?<![\w.])/(root|home|work|Users)/\w")


def tracked() -> list[Path]:
    """Files git knows or would add; what it ignores is nobody's concern."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def problems(root: Path, paths: Sequence[Path]) -> Iterator[str]:
    """All of them in those files under the root."""
    product = []
    for path in paths:
        name = path.relative_to(root)
        if path.suffix == ".py" or path.name == "dev":
            text = path.read_text("utf-8")
            yield from _python_problems(name, text)
            yield from _line_problems(path, name, _BARE_IGNORE, "an ignore names its error and gives its reason")
            if name.parts[0] == "src":
                product.append(text.count("\n"))
        if path.suffix in {".ts", ".tsx"} and not path.name.endswith((".gen.ts", ".d.ts")):
            yield from _size_problems(name, path.read_text("utf-8"))
        if "lock" in path.name or path.name.startswith("requirements") or path.name == ".npmrc":
            yield from _line_problems(path, name, _HOST, "an address has no place in a lock file")
        if path.suffix in {".py", ".md", ".toml", ".sql", ".json", ".yaml", ".yml"}:
            yield from _line_problems(path, name, _MACHINE_PATH, "a path of one machine")
    yield from _case_problems([path.relative_to(root) for path in paths])
    yield from _median_problems(product)


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Every statement at any depth. Expressions, which are most of a tree, are not entered: none holds a statement."""
    unseen = [tree]
    while unseen:
        node = unseen.pop()
        if isinstance(node, ast.stmt):
            yield node
        for field in _BLOCKS:
            unseen.extend(getattr(node, field, ()))


def _python_problems(name: Path, text: str) -> Iterator[str]:
    if _BANNED_STEMS.search(name.stem):
        yield f"{name}: the name does not say what the file owns"
    tree = ast.parse(text)
    if ast.get_docstring(tree) is None:
        yield f"{name}: no module docstring"
    yield from _size_problems(name, text)
    for node in statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield f"{name}:{node.lineno}: {node.name} has {length} lines, {MAX_FUNCTION_LINES} at most"


def _size_problems(name: Path, text: str) -> Iterator[str]:
    if (lines := text.count("\n")) > MAX_LINES:
        yield f"{name}: {lines} lines, {MAX_LINES} at most"


def _case_problems(names: Sequence[Path]) -> Iterator[str]:
    """Where a file system ignores case, an import of one of two such modules may find the other."""
    seen = dict[str, Path]()
    for name in names:
        imported_as = name.with_suffix("") if name.suffix in {".ts", ".tsx"} else name
        other = seen.setdefault(str(imported_as).lower(), name)
        if other is not name:
            yield f"{name}: differs from {other} by case alone"


def _median_problems(lines: Sequence[int]) -> Iterator[str]:
    """Among many tiny files nothing is found, and a long file is read by nobody."""
    counted, (lower, upper) = [count for count in lines if count > 1], MEDIAN_LINES
    if counted and not lower <= (median := statistics.median(counted)) <= upper:
        yield f"src: the median of its files is {median:g} lines; it should be between {lower} and {upper}"


def _line_problems(path: Path, name: Path, pattern: re.Pattern[str], problem: str) -> Iterator[str]:
    text = path.read_text("utf-8")
    if not pattern.search(text):  # nearly every file: its lines need not be made
        return
    for number, line in enumerate(text.splitlines(), 1):
        if pattern.search(line):
            yield f"{name}:{number}: {problem}"


if __name__ == "__main__":
    found = list(problems(ROOT, tracked()))
    for one in found:
        print(one)
    sys.exit(1 if found else 0)
