"""Reads the deployments in deploy/ as their tools would: which unit runs with which settings, on which port."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.docs.blocks import ROOT
from tests.support.waiting import PATIENCE_SECONDS

DEPLOY = ROOT / "deploy"
_HOST, _INSTANCES = "app-1", {"aop-control-plane@": ("8080", "8180"), "aop-router@": ("8081", "8181")}
Json = dict[str, Any]


@dataclass(frozen=True)
class Unit:
    """One process of a deployment: the words of its command and its whole environment, secrets included."""

    place: str
    command: tuple[str, ...]
    settings: Mapping[str, str]

    @property
    def kind(self) -> str:
        return self.command[-1]


def settings_file(path: Path) -> dict[str, str]:
    """As systemd and Compose read it: a value in single quotes is what stands between them, any other is literal."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return {name: _unquoted(value) for name, _, value in (line.partition("=") for line in lines)}


def _unquoted(value: str) -> str:
    quoted = re.fullmatch(r"'([^']*)'", value)
    assert quoted or not set(value) & set("'\"\\ $`#;&"), "systemd, Compose and shells differ in this value"
    return quoted[1] if quoted else value


def compose() -> Json:
    document: Json = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text("utf-8"))
    return document


def compose_units(secrets: Path) -> Iterator[Unit]:
    for name, service in compose()["services"].items():
        if service["command"][0] == "aop" if "command" in service else False:
            kept = settings_file(secrets / Path(service["env_file"]).name) if "env_file" in service else {}
            yield Unit(f"compose {name}", tuple(service["command"]), {**kept, **service.get("environment", {})})


def kubernetes() -> list[Json]:
    files = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    return [document for file in files for document in yaml.safe_load_all(file.read_text("utf-8"))]


def of_kind(kind: str) -> dict[str, Json]:
    return {document["metadata"]["name"]: document for document in kubernetes() if document["kind"] == kind}


def workloads() -> list[Json]:
    return [document for document in kubernetes() if document["kind"] in {"Deployment", "StatefulSet", "Job"}]


def kubernetes_units(secrets: Path) -> Iterator[Unit]:
    maps = of_kind("ConfigMap")
    for workload in workloads():
        container = workload["spec"]["template"]["spec"]["containers"][0]
        settings: dict[str, str] = {}
        for source in container["envFrom"]:
            if "configMapRef" in source:
                settings |= maps[source["configMapRef"]["name"]]["data"]
            else:
                settings |= secret_objects(secrets)[source["secretRef"]["name"]]
        for replica in range(workload["spec"].get("replicas", 1)):
            name = f"{workload['metadata']['name']}-{replica}"
            named = {variable["name"]: name for variable in container.get("env", []) if _is_pod_name(variable)}
            yield Unit(f"kubernetes {name}", tuple(container["args"]), {**settings, **named})


def secret_objects(secrets: Path) -> dict[str, dict[str, str]]:
    """The Secrets that step 2 of the guide makes, by name."""
    items = json.loads((secrets / "kubernetes.json").read_text("utf-8"))["items"]
    return {item["metadata"]["name"]: item["stringData"] for item in items}


def systemd_units(secrets: Path) -> Iterator[Unit]:
    for file in sorted((DEPLOY / "systemd").glob("*.service")):
        for instance in _INSTANCES.get(file.stem, ("",)):
            text = file.read_text("utf-8").replace("%i", instance).replace("%H", _HOST)
            settings = dict(line.split("=", 1) for line in re.findall(r"^Environment=(.*)$", text, re.MULTILINE))
            for named in re.findall(r"^EnvironmentFile=/etc/aop/(.*)$", text, re.MULTILINE):
                settings |= settings_file((secrets if named.endswith(".env") else DEPLOY / "systemd") / named)
            command = re.findall(r"^ExecStart=/opt/aop/bin/(.*)$", text, re.MULTILINE)[0]
            yield Unit(f"systemd {file.stem}{instance}", tuple(command.split()), settings)


def _is_pod_name(variable: Json) -> bool:
    return bool(variable["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.name")


def make_secrets(folder: Path, database: str) -> "subprocess.CompletedProcess[str]":
    return run(str(DEPLOY / "make_secrets.py"), "--database", database, "--to", str(folder))


def run(*arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    environment = {"PATH": os.defpath, **settings}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
