"""One local platform with the sample Agents for all command tests of a run, and the aop command against it."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pytest
from click.testing import CliRunner

from aop.cli.commands import app
from aop.local.ports import any_free_port
from tests.cli.programs import program, wait_serving
from tests.support.platform import LocalPlatform, seed_ports, started_up
from tests.support.processes import require_none_left
from tools.agent_env import agent_python, names

Json = Any


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Json:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Json]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def error(self) -> Json:
        return json.loads(self.err)["error"]


class Aop(Protocol):
    def __call__(self, *arguments: str, stdin: str | None = None, **environment: str) -> Ended: ...


@dataclass(frozen=True)
class Stack:
    """The platform, and the ports that it allows for the Agents the tests share."""

    platform: LocalPlatform
    agent_port: int
    chat_port: int
    _numbers: Iterator[int] = field(default_factory=lambda: iter(range(1, 10_000)))

    @property
    def run(self) -> Json:
        return self.platform.run

    @property
    def token(self) -> str:
        return str(self.run["token"])

    def new_id(self, word: str) -> str:
        return f"{word}-{os.getpid()}-{next(self._numbers)}"


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    for name in names():
        agent_python(name)
    data = tmp_path_factory.mktemp("cli") / "data"
    seed_ports(data)
    ports = any_free_port(), any_free_port()
    allowed = [option for port in ports for option in ("--allow", f"127.0.0.1:{port}")]
    with started_up(data, "--no-console", *allowed) as platform:
        platform.wait_ready()
        yield Stack(platform, *ports)
        assert platform.stop() == 0
    require_none_left(str(data))


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Aop:
    """The command of a user who has no profile, with no platform nearby."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("AOP_", "PLATFORM_"))]:  # noqa: TID251
        monkeypatch.delenv(name)

    def call(*arguments: str, stdin: str | None = None, **environment: str) -> Ended:
        settings = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "AOP_DATA": os.devnull, **environment}
        done = CliRunner().invoke(app, list(arguments), input=stdin, env=settings)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Ended(done.exit_code, done.stdout, done.stderr)

    return call


@pytest.fixture
def aop(alone: Aop, stack: Stack) -> Aop:
    """The command of a user whose local platform runs nearby."""

    def call(*arguments: str, stdin: str | None = None, **environment: str) -> Ended:
        return alone(*arguments, stdin=stdin, **{"AOP_DATA": str(stack.platform.data), **environment})

    return call


@pytest.fixture
def workspace(aop: Aop, stack: Stack) -> str:
    """An empty Workspace of this test alone."""
    made = stack.new_id("space")
    assert aop("workspace", "create", made).code == 0
    return made


@dataclass(frozen=True)
class Greeter:
    """A project of `aop init` that runs; Cards beside its own are served by it as well."""

    project: Path
    stack: Stack

    def card(self, **changes: Json) -> tuple[str, str]:
        """A Card file with an Agent id of its own, and that id."""
        card = json.loads((self.project / "card.json").read_text())
        card["agentId"] = self.stack.new_id("local:greeter")
        card |= changes
        path = self.project / f"{card['agentId'].replace(':', '-')}-{card['version']}.json"
        path.write_text(json.dumps(card))
        return str(path), card["agentId"]


@pytest.fixture(scope="session")
def greeter(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Greeter]:
    folder = tmp_path_factory.mktemp("greeter")
    project, log, port = folder / "greeter", folder / "log", stack.agent_port
    made = CliRunner().invoke(app, ["init", str(project), "--port", str(port), "--owner", "local"])
    assert made.exit_code == 0
    python = str(agent_python("summarizer"))
    with program("agent", "run", str(project), "--python", python, data=stack.platform.data, log=log) as process:
        wait_serving(port, process, log)
        yield Greeter(project, stack)


@pytest.fixture
def published(aop: Aop, greeter: Greeter) -> str:
    """The id of an Agent that is published and answers."""
    file, agent_id = greeter.card()
    assert aop("publish", file).code == 0
    return agent_id
