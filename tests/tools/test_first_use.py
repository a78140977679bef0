"""The stopwatch of a newcomer: it hears silence, tells failures, and keeps what an earlier run of another way found."""

import os
import sys
from pathlib import Path

import pytest

from benchmarks import _pages
from benchmarks._newcomer import Newcomer, StepFailed
from benchmarks.measure import Report

pytestmark = pytest.mark.second_ring


def python(code: str) -> tuple[str, ...]:
    return sys.executable, "-c", code


def test_the_longest_silence_of_all_commands_is_found_with_the_line_before_it(tmp_path: Path) -> None:
    somebody = Newcomer(tmp_path, None)
    somebody.run(*python("print('quick')"))
    somebody.run(*python("import time; print('now it is quiet', flush=True); time.sleep(2); print('again')"))
    silence = somebody.max_silence()
    assert silence.seconds >= 1.9
    assert silence.after.endswith("now it is quiet")


def test_what_leads_to_packages_is_passed_on_and_the_home_folder_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "/wheels")
    monkeypatch.setenv("AOP_TOKEN", "secret")
    shown = Newcomer(tmp_path, None).run(*python("import os; print(sorted(os.environ.items()))"))
    assert f"('HOME', '{tmp_path}')" in shown
    assert "('PIP_FIND_LINKS', '/wheels')" in shown
    assert "AOP_TOKEN" not in shown


def test_a_command_that_fails_is_told_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match=r"(?s)ended with 3.*no luck"):
        Newcomer(tmp_path, None).run(*python("print('no luck'); raise SystemExit(3)"))


def test_what_still_runs_is_stopped(tmp_path: Path) -> None:
    somebody = Newcomer(tmp_path, None)
    server = somebody.start(*python("import os, time; print(os.getpid(), flush=True); time.sleep(600)"))
    server.wait_until(lambda: server.output.strip().isdigit())
    somebody.stop_all()
    with pytest.raises(ProcessLookupError):
        os.kill(int(server.output.split()[0]), 0)


def test_one_way_is_written_beside_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pages, "_FIGURES", tmp_path / "figures")
    monkeypatch.setattr(_pages, "_PAGE", tmp_path / "figures.md")
    for way, seconds in (("uv", 30.0), ("pip", 50.0), ("uv", 20.0)):
        report = Report("first_use", "Seconds", [{"way": way, "runs": seconds}], {f"{way}: in time": True})
        _pages.keep(report, beside_others=True)
    page = (tmp_path / "figures.md").read_text()
    assert "| uv | 20.0 |\n| pip | 50.0 |" in page
    assert ("uv: in time" in page, "pip: in time" in page) == (True, True)
