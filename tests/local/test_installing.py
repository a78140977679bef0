"""A set-up: no long silence, one end for all of its steps, and one sentence for what went wrong."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aop.local.install_problems import SetupFailed, explained
from aop.local.installing import SetupProgress
from tests.support.waiting import PATIENCE_SECONDS
from tools.environments import ROOT, child_environment

pytestmark = pytest.mark.second_ring

NOWHERE = "http://127.0.0.1:9"
"""Nothing listens there."""


def test_while_a_step_runs_something_is_said_every_few_seconds() -> None:
    said = list[str]()
    progress = SetupProgress(said.append)
    program = "import time; print('Downloading a-package', flush=True); time.sleep(2.5)"
    progress.run("an environment", [sys.executable, "-c", program], child_environment())
    assert said
    assert all(text.startswith("still at it after ") and "an environment" in text for text in said)
    assert said[-1].endswith("(Downloading a-package)")


def test_a_step_that_fails_ends_the_others_with_whatever_they_started(tmp_path: Path) -> None:
    progress, noted = SetupProgress(lambda _: None), tmp_path / "pid"
    # It never ends by itself, and neither does what it starts.
    endless = f"sleep 600 & echo $! > {noted}; wait"

    def fail() -> None:
        while not noted.exists() or not noted.read_text():
            time.sleep(0.01)
        progress.run("the small part", ["sh", "-c", "echo a reason; exit 3"], child_environment())

    began = time.monotonic()
    with pytest.raises(SetupFailed, match=r"^the small part: this failed"):
        progress.together(lambda: progress.run("the large part", ["sh", "-c", endless], child_environment()), fail)
    assert time.monotonic() - began < PATIENCE_SECONDS
    while _lives(int(noted.read_text())):  # it has been killed, and may still be on its way out
        assert time.monotonic() - began < PATIENCE_SECONDS
        time.sleep(0.01)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("npm error code ENOTFOUND\nnpm error network request to https://r.example failed", "no connection to the"),
        ("error: Request failed\n  Caused by: dns error: failed to lookup address", "no connection to the"),
        ("WARNING: Retrying after connection broken by 'NewConnectionError(…)'\nERROR: No matching distribution found",
         "no connection to the package index"),
        ("error: Failed to install: x.whl\n  Caused by: No space left on device (os error 28)", "the disk is full"),
        ("npm error code ENOSPC", "the disk is full"),
        ("error: command '/usr/bin/gcc' failed: No such file or directory", "must be compiled"),
        ("error: invalid peer certificate: UnknownIssuer", "is not trusted"),
        ("error: Request failed after 3 retries\n  Caused by: error sending request for url (https://i.example/)\n"
         "  Caused by: client error (Connect)\n  Caused by: invalid peer certificate: UnknownIssuer", "is not trusted"),
        ("WARNING: Retrying after connection broken by 'SSLError(SSLCertVerificationError(1, '[SSL: "
         "CERTIFICATE_VERIFY_FAILED] certificate verify failed'))'\nERROR: No matching distribution found for x",
         "is not trusted"),
        ("ERROR: No matching distribution found for uv==99", "does not have a package or version"),
    ],
)  # fmt: skip
def test_a_known_cause_is_one_sentence_and_the_line_it_is_read_from(output: str, sentence: str) -> None:
    first, second = explained("a step", ["uv", "pip"], output).splitlines()
    assert first.startswith("a step: ")
    assert sentence in first
    assert second.startswith("  it said: ")


@pytest.mark.long
def test_a_fresh_checkout_without_a_network_ends_soon_and_says_why(tmp_path: Path) -> None:
    """npm, which would try for minutes, ends with the first part that fails."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)  # noqa: S607
    unreachable = {
        "PIP_INDEX_URL": f"{NOWHERE}/simple",
        "UV_INDEX_URL": f"{NOWHERE}/simple",
        "npm_config_registry": NOWHERE,
    }
    empty = {"HOME": str(tmp_path), "PATH": os.defpath, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}
    command = [f"{sys.base_prefix}/bin/python3", str(clone / "dev"), "up", "--no-agents"]
    began = time.monotonic()
    done = subprocess.run(
        command, env=empty | unreachable, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == 1
    assert "no connection to the package index" in done.stdout
    assert done.stderr == ""
    assert time.monotonic() - began < 60
