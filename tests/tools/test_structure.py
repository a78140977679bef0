"""The check of structure: sizes of files and functions, and the median over the product."""

from pathlib import Path
from textwrap import indent

import pytest

from tools.structure import MAX_FUNCTION_LINES, MAX_LINES, MEDIAN_LINES, problems

HEAD = '"""What the file owns."""\n'


def found_in(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return list(problems(root, [root / name for name in files]))


def of_length(lines: int) -> str:
    return HEAD + "pass\n" * (lines - 1)


@pytest.mark.parametrize("folder", ["tests", "proof", "tools", "benchmarks", "agents", "templates"])
def test_a_file_has_at_most_so_many_lines_in_every_folder(tmp_path: Path, folder: str) -> None:
    files = {f"{folder}/full.py": of_length(MAX_LINES), f"{folder}/longer.py": of_length(MAX_LINES + 1)}
    assert found_in(tmp_path, files) == [f"{folder}/longer.py: {MAX_LINES + 1} lines, {MAX_LINES} at most"]


def test_a_file_of_the_console_has_at_most_so_many_lines_unless_it_is_generated(tmp_path: Path) -> None:
    files = {f"console/src/{name}": "//\n" * (MAX_LINES + 1) for name in ("Page.tsx", "long.ts", "contract.gen.ts")}
    files["console/src/full.ts"] = "//\n" * MAX_LINES
    assert found_in(tmp_path, files) == [
        f"console/src/{name}: {MAX_LINES + 1} lines, {MAX_LINES} at most" for name in ("Page.tsx", "long.ts")
    ]


def test_a_function_has_at_most_so_many_lines(tmp_path: Path) -> None:
    body = "    pass\n" * (MAX_FUNCTION_LINES - 1)
    text = f"{HEAD}def full():\n{body}async def longer():\n{body}    pass\n"
    (problem,) = found_in(tmp_path, {"tests/page.py": text})
    assert "longer has" in problem
    within = f"{HEAD}class Page:\n    try: ...\n    finally:\n" + indent(f"def inner():\n{body}    pass\n", " " * 8)
    (problem,) = found_in(tmp_path, {"tests/page.py": within})
    assert "inner has" in problem


@pytest.mark.parametrize("lines", MEDIAN_LINES)
def test_the_median_of_the_product_lies_between_its_bounds(tmp_path: Path, lines: int) -> None:
    files = {f"src/aop/{name}.py": of_length(lines) for name in ("one", "other", "third")}
    packages = {f"src/aop/{name}/__init__.py": HEAD for name in ("a", "b", "c", "d", "e")}
    assert found_in(tmp_path, files | packages) == []
    beyond = lines + (1 if lines == max(MEDIAN_LINES) else -1)
    (problem,) = found_in(tmp_path, dict.fromkeys(files, of_length(beyond)) | packages)
    assert f"the median of its files is {beyond} lines" in problem


@pytest.mark.parametrize("comment", ["", "[misc]", "[misc]  ", " # a reason"])
def test_an_ignore_of_types_names_its_error_and_gives_its_reason(tmp_path: Path, comment: str) -> None:
    ignore = "# type: " + "ignore"
    text = f"{HEAD}pass  {ignore}{comment}\npass  {ignore}[misc]  # why\n"
    (problem,) = found_in(tmp_path, {"tests/page.py": text})
    assert problem == "tests/page.py:2: an ignore names its error and gives its reason"


def test_names_docstrings_and_machine_paths_are_looked_at(tmp_path: Path) -> None:
    files = {
        "tests/page_utils.py": HEAD,
        "tests/page.py": "pass\n",
        "docs/page.md": f"in {Path('/', 'home', 'ada')}/project\n",
        "requirements.lock": "--index-url somewhere\n",
    }
    assert [problem.partition(":")[0] for problem in found_in(tmp_path, files)] == list(files)


def test_no_two_modules_differ_by_case_alone(tmp_path: Path) -> None:
    files = dict.fromkeys(("console/src/Tree.tsx", "console/src/tree.ts", "console/src/Tree.test.ts"), "//\n")
    assert found_in(tmp_path, files) == ["console/src/tree.ts: differs from console/src/Tree.tsx by case alone"]
