"""`aop agent check` reports on a running Agent and ends with 0 or 1."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from aop.base.canonical import to_base64url
from tests.agent.samples import SEED, RunningSample
from tests.support.waiting import PATIENCE_SECONDS
from tools.agent_env import AGENTS

pytestmark = pytest.mark.second_ring

_KEY = "PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL"


def private_text(seed: bytes) -> str:
    return to_base64url(seed + SigningKey(seed).verify_key.encode())


def check(*arguments: str, key: str | None) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name == "PATH"}  # noqa: TID251
    # A platform that a developer runs here must not lend its key.
    environment = inherited | {"AOP_DATA": os.devnull} | ({} if key is None else {_KEY: key})
    command = [sys.executable, "-m", "aop", "agent", "check", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=PATIENCE_SECONDS, check=False
    )


def test_a_good_agent_passes_with_exit_code_0_and_a_line_per_check(sample: RunningSample) -> None:
    card = str(AGENTS / sample.name / "card.json")
    done = check(sample.endpoint, "--card", card, "--json", key=private_text(SEED))
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(row["passed"] for row in rows)
    assert private_text(SEED) not in done.stdout + done.stderr


def test_a_key_the_agent_does_not_believe_fails_with_exit_code_1(sample: RunningSample) -> None:
    card = str(AGENTS / sample.name / "card.json")
    done = check(sample.endpoint, "--card", card, key=private_text(bytes(32)))
    assert done.returncode == 1
    assert " failed " in done.stdout
    assert private_text(bytes(32)) not in done.stdout + done.stderr


def test_without_a_key_or_a_card_it_says_what_is_missing(sample: RunningSample, tmp_path: Path) -> None:
    card = str(AGENTS / sample.name / "card.json")
    assert _KEY in check(sample.endpoint, "--card", card, key=None).stderr
    assert "card.json" in check(sample.endpoint, "--card", str(tmp_path / "card.json"), key=private_text(SEED)).stderr
