"""Checks what linters cannot see: file names and sizes, module docstrings, lock files without hosts or paths."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_LINES = 350
MOST_FUNCTION_LINES = 50
_BANNED_STEMS = re.compile(r"(^|_)(utils?|helpers?|common|misc|manager|service|handlers?)(_|$)|\d$")
_HOST = re.compile(r"https?://|--(index-url|extra-index-url|find-links)|\bfile:", re.IGNORECASE)
_MACHINE_PATH = re.compile(r"(?<![\w.])/(root|home|work|Users)/\w")


def problems() -> Iterator[str]:
    for path in tracked():
        if path.suffix == ".py":
            yield from _python_problems(path)
        if "lock" in path.name or path.name.startswith("requirements") or path.name == ".npmrc":
            yield from _lock_problems(path)
        if path.suffix in {".py", ".md", ".toml", ".sql", ".json", ".yaml", ".yml"}:
            yield from _path_problems(path)


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


def _python_problems(path: Path) -> Iterator[str]:
    name, text = path.relative_to(ROOT), path.read_text("utf-8")
    if _BANNED_STEMS.search(path.stem):
        yield f"{name}: the name does not say what the file owns"
    tree = ast.parse(text)
    if ast.get_docstring(tree) is None:
        yield f"{name}: no module docstring"
    if name.parts[0] == "src" and text.count("\n") > MOST_LINES:
        yield f"{name}: longer than {MOST_LINES} lines"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and name.parts[0] == "src":
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MOST_FUNCTION_LINES:
                yield f"{name}:{node.lineno}: {node.name} is longer than {MOST_FUNCTION_LINES} lines"


def _lock_problems(path: Path) -> Iterator[str]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if _HOST.search(line):
            yield f"{path.relative_to(ROOT)}:{number}: an address has no place in a lock file"


def _path_problems(path: Path) -> Iterator[str]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if _MACHINE_PATH.search(line):
            yield f"{path.relative_to(ROOT)}:{number}: a path of one machine"


if __name__ == "__main__":
    found = list(problems())
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)
