"""The versions of Python that the project says it is tested on are those it can be tested on."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tools import interpreters
from tools.environments import PRIVATE, ROOT, SetupFailed

pytestmark = pytest.mark.second_ring

_CLASSIFIER = "Programming Language :: Python :: 3."


def test_the_package_names_the_tested_versions_and_starts_with_the_oldest() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if line.startswith(_CLASSIFIER)]
    assert tuple(named) == interpreters.TESTED
    assert project["requires-python"] == f">={interpreters.TESTED[0]}"


def test_the_readme_names_the_tested_versions() -> None:
    assert "Python 3.11, 3.12 and 3.13" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("version", ["3.9", "", "4"])
def test_another_version_is_refused_with_the_tested_ones(version: str) -> None:
    with pytest.raises(SetupFailed, match=r"tested on Python 3\.11, 3\.12, 3\.13"):
        interpreters.required(version)


def test_a_version_this_machine_lacks_is_named_with_a_way_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreters, "PRIVATE", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SetupFailed, match=r"no Python 3\.13 on this machine; .*uv python install 3\.13"):
        interpreters.required("3.13")


def test_a_command_that_does_not_start_is_no_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = tmp_path / "python3.13"
    stale.write_text("#!/bin/sh\nexit 127\n")
    stale.chmod(0o700)
    monkeypatch.setattr(interpreters, "PRIVATE", tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert interpreters.find("3.13") is None


@pytest.mark.parametrize(
    ("environment", "group"), [("test", "agents"), ("test-3.13", "agents-3.13"), ("run", "agents")]
)
def test_a_short_part_on_another_python_leaves_the_environments_of_the_others_alone(
    environment: str, group: str
) -> None:
    code = f"import sys; sys.prefix = {str(PRIVATE / environment)!r}; from tools import agent_env as a; " + (
        "print(*(one.folder.parent for one in a.environments()))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) == {str(PRIVATE / group)}
