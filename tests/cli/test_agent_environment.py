"""The environment of an Agent project: made once from its requirements, anew when they change, with aop from here."""

import os
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aop.cli.provider.agent_environment import python_of
from aop.cli.shell.output import Output
from aop.cli.shell.problems import CommandProblem
from aop.local import agent_packages
from aop.local.installing import SetupProgress

pytestmark = pytest.mark.second_ring

# Stands for uv: makes the folders of an environment and notes what it is asked to install.
INSTALLER = """#!/bin/sh
if [ "$1" = venv ]; then
    for folder; do :; done
    mkdir -p "$folder/bin" "$folder/lib/python3.11/site-packages" && ln -s "$PYTHON" "$folder/bin/python"
else
    sleep "${PAUSE:-0}"
    if [ -n "$REFUSE" ]; then echo "no such package" >&2; exit 1; fi
    for file; do :; done
    cat "$file" >> "$NOTED"
    echo installed >> "$NOTED"
fi
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    installer = tmp_path / "bin" / "uv"
    installer.parent.mkdir()
    installer.write_text(INSTALLER)
    installer.chmod(0o755)
    monkeypatch.setenv("PATH", f"{installer.parent}{os.pathsep}{os.defpath}")
    monkeypatch.setenv("PYTHON", sys.executable)
    monkeypatch.setenv("NOTED", str(tmp_path / "noted"))
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "requirements.txt").write_text("agent-operating-platform[agent]\nuvicorn>=0.40\n")
    return tmp_path / "project"


def noted(project: Path) -> list[str]:
    return (project.parent / "noted").read_text().splitlines()


def test_it_is_made_once_and_made_anew_when_the_requirements_change(project: Path) -> None:
    python = python_of(project, Output())
    assert python == project / ".venv" / "bin" / "python"
    assert python_of(project, Output()) == python
    assert noted(project).count("installed") == 1
    (project / "requirements.txt").write_text("agent-operating-platform[agent]\nuvicorn>=0.41\n")
    python_of(project, Output())
    assert noted(project).count("installed") == 2


def test_in_a_checkout_aop_comes_from_there_with_what_it_needs(project: Path) -> None:
    python_of(project, Output())
    asked = noted(project)
    assert "uvicorn>=0.40" in asked
    assert not any(line.startswith("aop") for line in asked)
    assert any(line.startswith("pynacl") for line in asked)
    (path,) = (project / ".venv").rglob("aop.pth")
    assert (Path(path.read_text().strip()) / "aop" / "agent").is_dir()


def test_a_failed_installation_is_told_and_tried_again_the_next_time(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUSE", "yes")
    with pytest.raises(CommandProblem, match="no such package"):
        python_of(project, Output())
    monkeypatch.delenv("REFUSE")
    assert python_of(project, Output()).exists()


def test_two_commands_at_once_make_it_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAUSE", "0.3")  # long enough for the other one to find it unfinished
    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(python_of, project, Output()) for _ in range(2)]
    assert {one.result() for one in made} == {project / ".venv" / "bin" / "python"}
    assert noted(project).count("installed") == 1


@pytest.mark.long
def test_half_an_environment_without_pip_is_finished_where_there_is_no_uv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody pressed Ctrl-C after the interpreter was there and before pip was."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(agent_packages, "find_uv", lambda: None)
    folder = tmp_path / ".venv"
    venv.create(folder, with_pip=False)
    assert not list(folder.rglob("pip"))
    agent_packages.install(folder, ["pip"], SetupProgress(lambda _: None), {"PATH": os.defpath})
    assert (folder / "bin" / "pip").exists()


def test_a_project_without_requirements_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandProblem, match=r"requirements\.txt cannot be read"):
        python_of(tmp_path, Output())
