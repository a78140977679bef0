"""Part of a pytest run on a twin: the listed tests in their order, which one runs now, and what each reaches."""

import json
import mmap
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mutants")
    group.addoption("--in-order", type=Path, help="a file that lists the tests to run, in their order")
    group.addoption("--progress", type=Path, help="a file that gets a line for each test when it begins")
    group.addoption("--reach", type=Path, help="a file that gets what each test reached")
    group.addoption("--marks", type=Path, help="the file of marks")


def pytest_configure(config: pytest.Config) -> None:
    if (path := config.getoption("--progress")) is not None:
        config.pluginmanager.register(Progress(path))
    if (path := config.getoption("--reach")) is not None:
        config.pluginmanager.register(Reach(path, config.getoption("--marks")))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if (listed := config.getoption("--in-order")) is not None:
        places = {name: place for place, name in enumerate(listed.read_text("utf-8").splitlines())}
        found = [(place, item) for item in items if (place := _place(places, item.nodeid)) is not None]
        items[:] = [item for _, item in sorted(found, key=lambda one: one[0])]


def _place(places: dict[str, int], nodeid: str) -> int | None:
    """A test may be listed with its parameters or without."""
    return places.get(nodeid, places.get(nodeid.partition("[")[0]))


class Progress:
    """One line per event: what begins, and what failed."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8", buffering=1)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._file.write(f"begins {nodeid}\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._file.write(f"failed {report.nodeid}\n")


class Reach:
    """Marks and seconds of each test. What a shared fixture does counts for the test that first needs it."""

    def __init__(self, path: Path, marks: Path) -> None:
        self._path = path
        with marks.open("r+b") as opened:
            self._marks = mmap.mmap(opened.fileno(), 0)
        self._seconds: dict[str, float] = {}
        self._found: dict[str, Any] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        marks = bytes(self._marks)
        self._marks[:] = bytes(len(marks))
        reached = int.from_bytes(_packed(marks), "little")
        self._found[nodeid] = {"seconds": round(self._seconds.get(nodeid, 0.0), 3), "reached": f"{reached:x}"}

    def pytest_sessionfinish(self) -> None:
        self._path.write_text(json.dumps(self._found), "utf-8")


def _packed(marks: bytes) -> bytes:
    """One bit for each byte."""
    return int(marks[::-1].translate(_DIGITS) or b"0", 2).to_bytes((len(marks) + 7) // 8, "little")


_DIGITS = b"0" + b"1" * 255
