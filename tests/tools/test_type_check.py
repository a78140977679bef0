"""The check of types: no Python file is left out, and each template stands on packages that are there."""

import tomllib
from pathlib import Path

import pytest

from aop.base.distribution import NAME
from tools.agent_env import AGENTS, folders, names
from tools.structure import ROOT, tracked
from tools.type_check import BASE_TEMPLATE, SAMPLE_WITH_ITS_PACKAGES, TEMPLATES, assemble

pytestmark = pytest.mark.second_ring


def test_every_python_file_is_in_one_of_the_checked_folders() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    checked = [
        *(ROOT / name for name in settings["files"]),
        TEMPLATES,
        *(folder for name in names() for folder in folders(name)),
    ]
    files = [path for path in tracked() if path.suffix == ".py" or path.name == "dev"]
    assert settings["strict"] is True
    assert [path for path in files if not any(path.is_relative_to(folder) for folder in checked)] == []


def test_every_template_is_checked_with_a_sample_agent_that_needs_all_of_its_packages() -> None:
    assert set(SAMPLE_WITH_ITS_PACKAGES) == {folder.name for folder in TEMPLATES.iterdir()}
    for template, sample in SAMPLE_WITH_ITS_PACKAGES.items():
        own, base = (TEMPLATES / name / "requirements.txt" for name in (template, BASE_TEMPLATE))
        needed = packages_in(own if own.is_file() else base) - {NAME}
        assert needed <= packages_in(AGENTS / sample / "requirements.in"), template


def packages_in(path: Path) -> set[str]:
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return {line.partition(">")[0].partition("[")[0] for line in lines if line}


def test_a_template_is_checked_as_the_project_that_is_made_of_it(tmp_path: Path) -> None:
    sources = assemble("langgraph", tmp_path)
    made = {copy.relative_to(tmp_path).as_posix(): source.parents[1].name for copy, source in sources.items()}
    assert made["my_agent/skills.py"] == "langgraph"
    assert made["my_agent/__main__.py"] == "plain"
    assert all(copy.read_bytes() == source.read_bytes() for copy, source in sources.items())
