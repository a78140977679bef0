"""A new project, and what `aop dev` says of it in the terminal."""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aop.net.origin import Endpoint
from tests.cli.conftest import Aop, Stack
from tests.cli.programs import program
from tests.support.waiting import PATIENCE_SECONDS
from tools.agent_env import agent_python


@dataclass(frozen=True)
class Developed:
    folder: Path
    agent_id: str
    log: Path
    workspace: str
    aop: Aop

    @property
    def card(self) -> Any:
        return json.loads((self.folder / "card.json").read_text())

    @property
    def port(self) -> int:
        return Endpoint.parse(self.card["protocol"]["endpoint"]).port

    @property
    def command(self) -> tuple[str, ...]:
        return "dev", str(self.folder), "--python", str(agent_python("summarizer")), "-w", self.workspace

    def save(self, name: str, text: str) -> None:
        """As editors do: another file takes the place of the old one."""
        new = self.folder / ".new~"
        new.write_text(text)
        new.replace(self.folder / name)

    def ask_for(self, permission: str) -> None:
        card = self.card
        card["permissions"].append({"id": permission, "description": "One more."})
        self.save("card.json", json.dumps(card))

    def wait(self, text: str, times: int = 1) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.log.read_text().count(text) < times:
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)

    def greeting(self) -> str:
        done = self.aop("invoke", self.agent_id, "greet", '{"name": "Ada"}', "-w", self.workspace)
        return done.out.strip() or done.err

    def versions(self) -> dict[str, str]:
        shown = self.aop("agent", "show", self.agent_id, "--json").json
        return {one["version"]: one["publicationStatus"] for one in shown["versions"]}

    def installed(self) -> str:
        (one,) = self.aop("installations", "-w", self.workspace, "--json").json["items"]
        return str(one["installedVersion"])

    @contextmanager
    def running(self, *options: str, data: Path, **settings: str) -> Iterator["subprocess.Popen[bytes]"]:
        with program(*self.command, *options, data=data, log=self.log, **settings) as process:
            yield process


def new_project(aop: Aop, stack: Stack, workspace: str, folder: Path) -> Developed:
    place = folder / stack.new_id("dev")
    made = aop("init", str(place), "--json").json
    return Developed(place, made["agentId"], folder / "log", workspace, aop)
