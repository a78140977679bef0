"""Runs mypy strict once per environment: the project in the test environment, each sample Agent with its own packages.

A template is checked with the sample Agent on the same framework, as `aop init` puts it together.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.agent_env import environment, environments, folders, names
from tools.environments import PRIVATE, ROOT, child_environment, ready

TEMPLATES = ROOT / "templates"
BASE_TEMPLATE = "plain"
SAMPLE_WITH_ITS_PACKAGES = {
    "plain": "summarizer",
    "chat": "summarizer",
    "langgraph": "action-items",
    "pydantic-ai": "meeting-brief",
}
_MYPY = [sys.executable, "-m", "mypy", "--no-error-summary"]
FRAMEWORKS = "--frameworks"
"""Only the Agents and templates on frameworks: their packages take mypy longer than all that is ours."""
_PLAIN = SAMPLE_WITH_ITS_PACKAGES[BASE_TEMPLATE]
_PROJECTS = PRIVATE / "types"
_AT_ONCE = 2  # each takes a core and some hundred MB the first time


def main(arguments: Sequence[str]) -> int:
    of_frameworks = list(arguments) == [FRAMEWORKS]
    ready(environments(), print)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        runs = [] if of_frameworks else [pool.submit(_mypy)]
        runs += [pool.submit(_check_agent, name) for name in names() if (name != _PLAIN) is of_frameworks]
    reports = [run.result() for run in runs]
    print("".join(reports), end="")
    return 1 if any(reports) else 0


def _check_agent(name: str) -> str:
    """The Agent and the templates that need the same packages, which no other environment has."""
    templates = [template for template, sample in SAMPLE_WITH_ITS_PACKAGES.items() if sample == name]
    copies = {copy: source for one in templates for copy, source in assemble(one, _PROJECTS / one).items()}
    first, *others = (_PROJECTS / template for template in templates)
    # Projects have a package of the same name, so a run takes one of them.
    runs = [[*folders(name), first], *([project] for project in others)]
    options = ["--python-executable", str(environment(name).python), "--cache-dir", f".mypy_cache/agents/{name}"]
    report = "".join(
        _mypy(*options, *(str(folder.relative_to(ROOT)) for folder in checked), search=checked) for checked in runs
    )
    for copy, source in copies.items():
        report = report.replace(str(copy.relative_to(ROOT)), str(source.relative_to(ROOT)))
    return report


def assemble(template: str, folder: Path) -> dict[Path, Path]:
    """The plain project with what the template has of its own in place of it; says where each file is from."""
    shutil.rmtree(folder, ignore_errors=True)
    copies: dict[Path, Path] = {}
    for root in (TEMPLATES / BASE_TEMPLATE, TEMPLATES / template):
        copies |= {folder / source.relative_to(root): source for source in root.rglob("*.py")}
    for copy, source in copies.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy)  # with its time, so that mypy need not read it again
    return copies


def _mypy(*arguments: str, search: Sequence[Path] = ()) -> str:
    """What mypy has to say, which is nothing when all is well."""
    variables = child_environment() | {"MYPYPATH": os.pathsep.join(map(str, search))}
    run = subprocess.run([*_MYPY, *arguments], cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    return run.stdout + run.stderr or (f"mypy ended with {run.returncode}\n" if run.returncode else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
