"""Starts an Agent of interop/agents as the program it is, under the guard or behind `aop front`."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aop.agent.guard import settings
from aop.cli.provider.front_setup import Identity, found_a2a
from aop.local.ports import any_free_port
from aop.local.state import RouterCredential
from interop.environments import command
from interop.frameworks import Framework, Way
from tests.support.processes import end_process

_READY_SECONDS = 90.0
_KEPT = frozenset({"PATH", "HOME", "LANG"})


@dataclass(frozen=True)
class Ports:
    """Where the platform reaches the Agent, and where the framework listens; under the guard both are one."""

    public: int
    framework: int

    @classmethod
    def free(cls, framework: Framework) -> "Ports":
        port = any_free_port()
        return cls(port, any_free_port() if framework.way is Way.FRONT else port)


@dataclass(frozen=True)
class Program:
    process: subprocess.Popen[bytes]
    output: Path

    def lines(self) -> list[str]:
        return self.output.read_text("utf-8", "replace").splitlines()


def guard_settings(credential: RouterCredential, router: str, port: int, proofs: Path) -> dict[str, str]:
    return {
        settings.ISSUER: credential.issuer,
        settings.AUDIENCE: f"http://127.0.0.1:{port}",
        settings.KEY_ID: credential.key_id,
        settings.PUBLIC_KEY: credential.public_key,
        settings.ROUTER_URL: router,
        settings.CHALLENGE_DIRECTORY: str(proofs),
    }


def front_settings(framework: Framework, ports: Ports, credential: RouterCredential, proofs: Path) -> dict[str, Any]:
    """With what `aop front --to` finds out about the Agent, which runs already."""
    origin = f"http://127.0.0.1:{ports.framework}"
    agent = {**found_a2a(origin + framework.path, origin, Identity(), None, None).members, "card": "card.json"}
    if agent["speaks"] != f"a2a-{framework.protocol}":
        raise RuntimeError(f"aop front takes it for {agent['speaks']}")
    return {
        "listen": f"127.0.0.1:{ports.public}",
        "challengeDirectory": str(proofs),
        "router": {
            "issuer": credential.issuer,
            "keyId": credential.key_id,
            "publicKey": credential.public_key,
        },
        "agents": [agent],
    }


@contextmanager
def running_agent(framework: Framework, port: int, folder: Path, ours: Mapping[str, str]) -> Iterator[Program]:
    """The framework's server, ready; without settings of ours it knows nothing of the platform."""
    line = [*command(framework.folder, framework.program, print), str(port)]
    with running_program(line, folder / "agent.log", f"http://127.0.0.1:{port}", ours) as program:
        yield program


@contextmanager
def running_front(settings_file: Path, port: int) -> Iterator[Program]:
    line = [sys.executable, "-P", "-m", "aop", "front", "--settings", str(settings_file)]
    with running_program(line, settings_file.with_name("front.log"), f"http://127.0.0.1:{port}", {}) as program:
        yield program


@contextmanager
def running_program(line: list[str], output: Path, origin: str, ours: Mapping[str, str]) -> Iterator[Program]:
    inherited = {name: value for name, value in os.environ.items() if name in _KEPT}  # noqa: TID251
    with output.open("wb") as log:
        process = subprocess.Popen(line, env=inherited | dict(ours), stdout=log, stderr=log, cwd=output.parent)
    program = Program(process, output)
    try:
        _wait_ready(program, f"{origin}/.well-known/agent-card.json")
        yield program
    finally:
        end_process(process)


def _wait_ready(program: Program, url: str) -> None:
    """Any answer will do: not every framework has a card at that place."""
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            if program.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("it does not serve:\n" + "\n".join(program.lines()[-30:])) from None
            time.sleep(0.1)
