"""Every lock file pins by hashes alone, and anything else in one is found."""

from pathlib import Path
from typing import Any

import pytest

from tools.lock_files import read_all, read_npm, read_python

HASH = "--hash=sha256:" + "a" * 64
VIA = "    # via\n    #   aop (pyproject.toml)\n    #   right\n"
GOOD = f"left==1.0 ; sys_platform == 'linux' \\\n    {HASH} \\\n    {HASH[:-1]}b\n{VIA}"
INTEGRITY = "sha512-" + "A" * 86 + "=="


def test_every_lock_file_of_the_repository_pins_by_hashes_alone() -> None:
    locks = read_all()
    assert {lock.name for lock in locks} >= {"requirements.lock", "requirements-dev.lock", "console/package-lock.json"}
    assert sum(lock.name.startswith("agents/") for lock in locks) == 3
    assert all(lock.pins for lock in locks)
    assert [problem for lock in locks for problem in lock.problems] == []


@pytest.mark.rows("LEAN-02")
def test_everything_installed_is_28_packages_at_most_and_none_of_them_speaks_mcp_but_the_tests_client() -> None:
    pins = {lock.name: {pin.name for pin in lock.pins} for lock in read_all()}
    installed, developed = pins["requirements.lock"], pins["requirements-dev.lock"]
    assert len(installed) <= 28
    assert developed > installed
    assert (developed - installed) >= {"mcp", "mcp-types", "pydantic", "uvicorn"}


def test_a_pin_is_read_with_its_hashes_its_marker_and_who_asks_for_it() -> None:
    lock = read_python(Path("a.lock"), f"# written by a tool\n{GOOD}right==2 \\\n    {HASH}\n    # via -r a.in\n")
    left, right = lock.pins
    assert (left.name, left.version, left.marker) == ("left", "1.0", "sys_platform == 'linux'")
    assert left.hashes == ["a" * 64, "a" * 63 + "b"]
    assert (left.needed_by, right.needed_by) == (["", "right"], [""])
    assert lock.problems == []


@pytest.mark.parametrize(
    "line",
    [
        "left==1.0",
        "left==1.0 \\\n    --hash=md5:" + "a" * 32,
        f"left>=1.0 \\\n    {HASH}",
        f"left==1.* \\\n    {HASH}",
        f"left @ https://example.test/left.whl \\\n    {HASH}",
        f"-e . \\\n    {HASH}",
        "--index-url https://example.test/simple",
        f"left==1.0 \\\n    {HASH} \\\n    --no-binary",
    ],
)
def test_what_is_not_pinned_by_hashes_is_found(line: str) -> None:
    assert len(read_python(Path("a.lock"), f"{GOOD}{line}\n").problems) == 1


@pytest.mark.parametrize(
    "package",
    [
        {"version": "1.0.0"},
        {"version": "1.0.0", "integrity": "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="},
        {"version": "1.0.0", "integrity": INTEGRITY, "link": True},
        {"version": "1.0.0", "integrity": INTEGRITY, "resolved": "somewhere/left.tgz"},
    ],
)
def test_a_package_of_the_console_without_its_integrity_alone_is_found(package: dict[str, Any]) -> None:
    found = read_npm(Path("a.json"), {"lockfileVersion": 3, "packages": {"": {}, "node_modules/left": package}})
    assert len(found.problems) == 1


def test_a_package_needs_the_nearest_one_of_that_name() -> None:
    packages = {
        "": {"dependencies": {"a": "1", "b": "1"}},
        "node_modules/a": {"version": "1.0.0", "integrity": INTEGRITY, "dependencies": {"b": "2"}},
        "node_modules/a/node_modules/b": {"version": "2.0.0", "integrity": INTEGRITY},
        "node_modules/b": {"version": "1.0.0", "integrity": INTEGRITY},
    }
    pins = {pin.key: pin for pin in read_npm(Path("a.json"), {"lockfileVersion": 3, "packages": packages}).pins}
    assert pins["node_modules/a/node_modules/b"].needed_by == ["node_modules/a"]
    assert pins["node_modules/b"].needed_by == [""]
