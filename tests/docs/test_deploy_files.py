"""The files in deploy/ against public rules: schemas of Kubernetes and Compose, rules and steps of the Dockerfile."""

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.docs.blocks import ROOT
from tests.docs.deployments import DEPLOY, Json, kubernetes, make_secrets
from tests.support.waiting import INSTALL_SECONDS
from tests.support.wheels import built_wheel
from tools.environments import Environment, ready

_TOOLS = Environment("interop/deploy", ROOT / "interop" / "deploy" / "requirements.lock", (), 15)
_VERSIONS = ("1.30", "1.33", "1.37")
"""Of Kubernetes: an old one that some still run, one between, the newest that has public schemas."""
pytestmark = pytest.mark.long


@cache
def tools() -> Path:
    """The folder of their programs."""
    ready([_TOOLS], print)
    return _TOOLS.folder / "bin"


def output(*command: str | Path, text: str = "") -> "subprocess.CompletedProcess[str]":
    words = [str(word) for word in command]
    return subprocess.run(words, input=text, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)


def problems(objects: list[Json]) -> str:
    """What the API of any of the versions would refuse; empty if none would."""
    validator = ROOT / "interop" / "deploy" / "validate.py"
    done = output(tools() / "python", validator, *_VERSIONS, text=yaml.safe_dump_all(objects))
    assert done.stderr == ""
    return done.stdout.strip()


def built(folder: str) -> list[Json]:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl is not on this machine")
    done = output(kubectl, "kustomize", DEPLOY / folder)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def test_every_kubernetes_object_fits_the_api(tmp_path: Path) -> None:
    objects = [item for item in kubernetes() if item["kind"] != "Kustomization"]
    assert make_secrets(tmp_path / "secrets", "db.internal:5432/aop").returncode == 0
    secrets: list[Json] = json.loads((tmp_path / "secrets" / "kubernetes.json").read_text())["items"]
    assert len(objects) >= 18
    assert problems([*objects, *secrets]) == ""


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("Deployment", {"replica": 2}, "replica"),
        ("Service", {"ports": [{"port": "8080"}]}, "port"),
        ("PodDisruptionBudget", {"minAvailable": [1]}, "minAvailable"),
    ],
)
def test_a_mistake_in_an_object_is_found(kind: str, change: Json, said: str) -> None:
    item = next(item for item in kubernetes() if item["kind"] == kind)
    assert said in problems([{**item, "spec": {**item["spec"], **change}}])


def test_kustomize_builds_the_deployment_and_its_namespace() -> None:
    objects = built("kubernetes")
    assert {item["metadata"]["namespace"] for item in objects} == {"aop"}
    assert problems(objects) == ""


def test_the_overlay_of_cloudnative_pg_adds_a_database_that_never_confirms_what_one_disk_has() -> None:
    plain, overlay = built("kubernetes"), built("cloudnative-pg")
    (database,) = [item for item in overlay if item not in plain]
    assert [item for item in plain if item not in overlay] == []
    assert (database["apiVersion"], database["kind"]) == ("postgresql.cnpg.io/v1", "Cluster")
    spec = database["spec"]
    assert spec["instances"] >= 3
    assert spec["postgresql"]["synchronous"] == {
        "method": "any",
        "number": 1,
        "dataDurability": "required",
        "failoverQuorum": True,
    }
    assert spec["postgresql"]["parameters"]["synchronous_commit"] == "on"
    assert spec["affinity"]["podAntiAffinityType"] == "required"


def test_compose_fits_its_specification(tmp_path: Path) -> None:
    check = (tools() / "check-jsonschema", "--builtin-schema", "vendor.compose-spec")
    file = DEPLOY / "compose" / "compose.yaml"
    done = output(*check, file)
    assert done.returncode == 0, done.stdout + done.stderr
    broken = tmp_path / "compose.yaml"
    broken.write_text(file.read_text("utf-8").replace("stop_grace_period:", "stop_grace_time:", 1))
    assert output(*check, broken).returncode == 1


def test_the_dockerfile_breaks_no_rule(tmp_path: Path) -> None:
    done = output(tools() / "hadolint", DEPLOY / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    broken = tmp_path / "Dockerfile"
    broken.write_text("FROM python\nRUN cd /tmp && sudo pip install x\n")
    assert output(tools() / "hadolint", broken).returncode == 1


def test_the_steps_of_the_dockerfile_make_a_program_that_runs(tmp_path: Path) -> None:
    """Without Docker: with this machine's Python, in another folder. The base image itself is not run here."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    (copied,) = re.findall(r"^COPY (requirements\.lock dist/\*\.whl) /tmp/build/$", text, re.MULTILINE)
    (step,) = re.findall(r"^RUN (.+)$", text, re.MULTILINE)
    build, place = tmp_path / "build", tmp_path / "aop"
    build.mkdir()
    shutil.copy(ROOT / copied.split()[0], build)
    built_wheel(build)
    for written, real in (("/tmp/build", build), ("/opt/aop", place), ("python -m", f"{sys.executable} -m")):  # noqa: S108
        step = step.replace(written, str(real))
    done = output("/bin/sh", "-ec", step)
    assert done.returncode == 0, done.stdout + done.stderr
    (command,) = re.findall(r"^CMD (.+)$", text, re.MULTILINE)
    program, *arguments = json.loads(command)
    shown = output(place / "bin" / program, *arguments)
    assert (shown.returncode, "control-plane" in shown.stdout) == (0, True), shown.stderr
