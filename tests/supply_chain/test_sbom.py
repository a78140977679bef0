"""The bill of materials is that of the lock files, whole, connected, and of the form CycloneDX 1.6 asks for."""

import json
import re
from collections import Counter
from typing import Any

import pytest

from tools import sbom
from tools.lock_files import read_all, version_of_project

_TYPES = {"application", "framework", "library"}
_SCOPES = {"required", "optional", "excluded"}
_SERIAL = re.compile(r"urn:uuid:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_PURL = re.compile(r"pkg:[a-z]+/[A-Za-z0-9%._-]+(?:/[A-Za-z0-9._-]+)?@[A-Za-z0-9%._-]+")
_SHA512 = re.compile(r"[0-9a-f]{128}")


@pytest.fixture(scope="module")
def bill(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(sbom.write(tmp_path_factory.mktemp("bill")).read_bytes())
    return told


def test_the_bill_is_the_same_however_often_it_is_made(bill: dict[str, Any]) -> None:
    locks = read_all()
    assert sbom.bill(locks[::-1], version_of_project()) == sbom.bill(locks, version_of_project()) == bill


def test_the_bill_has_the_form_of_cyclonedx(bill: dict[str, Any]) -> None:
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert _SERIAL.fullmatch(bill["serialNumber"])
    assert set(bill) == {
        "bomFormat",
        "specVersion",
        "serialNumber",
        "version",
        "metadata",
        "components",
        "dependencies",
    }
    project = bill["metadata"]["component"]
    assert (project["type"], project["name"], project["version"]) == (
        "application",
        "agent-operating-platform",
        version_of_project(),
    )
    for component in bill["components"]:
        assert component["type"] in _TYPES
        assert component["name"]
        assert component["scope"] in _SCOPES
        assert _PURL.fullmatch(component["purl"])
        assert component["bom-ref"] == component["purl"]
        for each in component.get("hashes", []):
            assert each["alg"] == "SHA-512"
            assert _SHA512.fullmatch(each["content"])
        assert {each["name"] for each in component["properties"]} <= {"aop:lock", "aop:marker"}


def test_every_pin_is_in_the_bill_and_nothing_else(bill: dict[str, Any]) -> None:
    named = Counter(f"{each.get('group', '')}/{each['name']}@{each['version']}" for each in bill["components"])
    assert max(named.values()) == 1
    pinned = {f"{pin.name}@{pin.version}" for lock in read_all() for pin in lock.pins}
    assert {name.removeprefix("/") for name in named} == pinned


def test_everything_in_the_bill_is_there_because_the_project_asks_for_it(bill: dict[str, Any]) -> None:
    graph = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    assert len(graph) == len(bill["dependencies"]) == len(bill["components"]) + 1
    assert sbom.unasked(bill) == set()
    alone = {"ref": "pkg:pypi/alone@1", "dependsOn": []}
    assert sbom.unasked(bill | {"dependencies": [*bill["dependencies"], alone]}) == {alone["ref"]}


def test_what_runs_is_told_from_what_builds_and_tests(bill: dict[str, Any]) -> None:
    scopes = {each["name"]: each["scope"] for each in bill["components"]}
    assert (scopes["asyncpg"], scopes["react"]) == ("required", "required")
    assert (scopes["pytest"], scopes["vite"]) == ("excluded", "excluded")
    assert "optional" in scopes.values()
