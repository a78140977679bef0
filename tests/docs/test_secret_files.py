"""The files that deploy/make_secrets.py writes mean the same to a shell, systemd, Compose and Kubernetes."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.deployments import DEPLOY, make_secrets, secret_objects, settings_file


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files") / "secrets"
    assert make_secrets(folder, "db.internal:5432/aop").returncode == 0
    return folder


@pytest.mark.parametrize("name", ["migration.env", "control-plane.env", "router.env", "agents.env"])
def test_a_shell_that_sources_a_file_of_settings_has_the_values_that_systemd_reads(name: str, secrets: Path) -> None:
    script = f"set -a; . {secrets / name}; exec env -0"
    sourced = subprocess.run(["/bin/sh", "-c", script], env={}, capture_output=True, text=True, check=True).stdout
    found = dict(line.split("=", 1) for line in sourced.split("\0") if line.startswith("PLATFORM_"))
    assert found == settings_file(secrets / name)


def test_the_secrets_of_kubernetes_have_the_values_of_the_files(secrets: Path) -> None:
    for name, values in secret_objects(secrets).items():
        assert values == settings_file(secrets / f"{name.removeprefix('aop-')}.env")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="this machine has no systemd")
def test_systemd_has_nothing_against_its_units_and_rates_them_as_well_protected() -> None:
    for file in sorted((DEPLOY / "systemd").glob("*.service")):
        command = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=25", str(file)]
        rated = subprocess.run(command, capture_output=True, text=True, check=False)
        assert rated.returncode == 0, rated.stdout[-300:] + rated.stderr


def test_a_database_that_would_change_the_meaning_of_a_file_is_refused(tmp_path: Path) -> None:
    made = make_secrets(tmp_path / "secrets", "db.internal:5432/aop'; DROP")
    assert made.returncode == 2
    assert not (tmp_path / "secrets").exists()
