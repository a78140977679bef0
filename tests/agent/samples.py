"""Runs a sample Agent as the program it is, in its own environment, with a Router it believes."""

import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from aop.agent.testing import SignedRouter
from aop.contracts.card import AgentCard
from aop.local.ports import any_free_port
from aop.net.origin import Endpoint
from tests.support.processes import end_process
from tests.support.waiting import PATIENCE_SECONDS
from tools.agent_env import AGENTS, agent_python, names

SAMPLES = names()
SEED = bytes(range(32))


@dataclass(frozen=True)
class RunningSample:
    name: str
    router: SignedRouter
    port: int
    folder: Path
    process: subprocess.Popen[bytes]
    output: Path

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}{Endpoint.parse(self.card.protocol.endpoint).path}"

    @property
    def card(self) -> AgentCard:
        return msgspec.json.decode((AGENTS / self.name / "card.json").read_bytes(), type=AgentCard)


@contextmanager
def running_sample(name: str, folder: Path, **settings: str) -> Iterator[RunningSample]:
    port, output, proofs = any_free_port(), folder / "output", folder / "proofs"
    proofs.mkdir()
    router = SignedRouter.new(f"http://127.0.0.1:{port}", SEED, agent_id=f"aop:{name}")
    ours = router.environment(proofs, PLATFORM_AGENT_LISTEN_ADDRESS=f"127.0.0.1:{port}", **settings)
    inherited = {key: value for key, value in os.environ.items() if key in {"PATH", "HOME", "LANG"}}  # noqa: TID251
    with output.open("wb") as log:
        process = subprocess.Popen(
            [str(agent_python(name)), "-m", name.replace("-", "_")], env=inherited | ours, stdout=log, stderr=log
        )
    try:
        sample = RunningSample(name, router, port, proofs, process, output)
        _wait_ready(sample)
        yield sample
    finally:
        end_process(process)


def _wait_ready(sample: RunningSample) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{sample.port}/readyz", timeout=2) as answer:
                answer.read()
                return
        except (urllib.error.URLError, OSError):
            if sample.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"{sample.name} is not ready:\n{sample.output.read_text()}") from None
            time.sleep(0.05)
