"""What makes the environment of an Agent: which installer is taken, and that a copy of `aop` shows how it goes on."""

import os
import sysconfig
from pathlib import Path

import pytest

from aop.base import assets
from aop.local import agent_packages, installing
from aop.local.install_problems import SetupFailed
from aop.local.installing import SetupProgress

pytestmark = pytest.mark.second_ring


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "samples" / "one" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    return tmp_path / "samples" / "one"


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_uv_that_came_with_the_package_is_taken_where_the_machine_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts, machine = tmp_path / "scripts", tmp_path / "machine"
    monkeypatch.setattr(sysconfig, "get_path", {"scripts": str(scripts)}.get)
    monkeypatch.setattr(assets, "folder", lambda _: tmp_path / "no-checkout")
    monkeypatch.setenv("PATH", str(machine))
    assert agent_packages.find_uv() is None
    own = program(scripts / "uv")
    assert agent_packages.find_uv() == str(own)
    of_the_machine = program(machine / "uv")
    assert agent_packages.find_uv() == str(of_the_machine)


def test_the_copy_of_the_package_is_whole_and_says_what_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "_MAX_SILENCE", 0.0)  # so that each piece is time to say something
    said = list[str]()
    agent_packages.copy_package(folder, SetupProgress(said.append))
    packages = agent_packages.packages_of(folder)
    assert (packages / "aop" / "agent" / "__init__.py").is_file()
    assert (packages / "agent_operating_platform.py").is_file()
    assert len(said) > 100
    assert all(line.endswith(": samples/one (copying aop)") for line in said)


def test_a_set_up_that_is_stopped_ends_in_the_middle_of_the_copy(folder: Path) -> None:
    progress = SetupProgress(lambda _: None)
    progress.stop()
    with pytest.raises(SetupFailed, match="stopped"):
        agent_packages.copy_package(folder, progress)
    assert not list(agent_packages.packages_of(folder).rglob("*.py"))


def test_a_package_that_cannot_be_copied_is_told_with_the_place_and_the_reason(folder: Path) -> None:
    packages = agent_packages.packages_of(folder)
    (packages / "aop").write_text("a file where a folder shall be")
    with pytest.raises(SetupFailed, match=r"site-packages cannot take the package: File exists"):
        agent_packages.copy_package(folder, SetupProgress(lambda _: None))
    assert os.listdir(packages) == ["aop"]
