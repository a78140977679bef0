"""`aop publish` with an Agent behind `aop front`: a new version is served at once, and those before it go on."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aop.local.ports import DEVELOPMENT_PORTS, is_free
from aop.net.address_settings import ListenAddress
from tests.cli.conftest import Aop, Stack
from tests.cli.programs import program, wait_serving, wait_written
from tests.local.caller import Caller
from tests.support.foreign_agent import ForeignAgent, Json, foreign_agent

pytestmark = pytest.mark.second_ring


class Service(ForeignAgent):
    def reply(self, request: Json) -> Json:
        return {"hello": request["name"]}


@dataclass(frozen=True)
class Front:
    card: Path
    agent: str
    port: int
    log: Path

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def edit(self, **changes: Any) -> None:
        self.card.write_text(json.dumps(json.loads(self.card.read_text()) | changes, indent=2))

    @property
    def version_and_endpoint(self) -> tuple[str, str]:
        card = json.loads(self.card.read_text())
        return card["version"], card["protocol"]["endpoint"]


@contextmanager
def fronted(stack: Stack, folder: Path, url: str, agent: str) -> Iterator[Front]:
    """The command with nothing but an Agent: it chooses an allowed port, or takes that of the Card."""
    card, log = folder / "card.json", folder / "log"
    arguments = ("front", "--to", url, "--http", "--route", "greet=/greet", "--card", str(card), "--agent-id", agent)
    with program(*arguments, data=stack.platform.data, log=log) as process:
        wait_written(log, "next: aop publish")
        port = int(re.findall(r"127\.0\.0\.1:(\d+)", json.loads(card.read_text())["protocol"]["endpoint"])[0])
        wait_serving(port, process, log)
        yield Front(card, agent, port, log)


def called(aop: Aop, agent: str, workspace: str) -> Json:
    done = aop("invoke", agent, "greet", '{"name": "Ada"}', "-w", workspace, "--json")
    assert done.code == 0, done.err
    result: Json = done.json["result"]
    return result


@pytest.mark.rows("SOUND-11")
def test_a_version_raised_behind_a_front_is_served_at_once_and_the_one_before_goes_on(
    aop: Aop, stack: Stack, workspace: str, tmp_path: Path
) -> None:
    agent, other = stack.new_id("local:fronted"), stack.new_id("space")
    assert aop("workspace", "create", other).code == 0
    with foreign_agent(Service()) as service:
        with fronted(stack, tmp_path, service.origin, agent) as front:
            assert front.port in DEVELOPMENT_PORTS
            assert aop("publish", str(front.card)).code == 0
            for space in (workspace, other):
                assert aop("install", agent, "-w", space, "--yes").code == 0
            front.edit(description="Greets them better.")
            raised = aop("publish", str(front.card), "--bump", "minor")
            assert raised.code == 0, raised.err + front.log.read_text()
            assert front.version_and_endpoint == ("1.1.0", f"{front.origin}/{agent}/1.1.0")
            assert aop("upgrade", agent, "-w", workspace, "--yes").code == 0
            assert (called(aop, agent, workspace), called(aop, agent, other)) == ({"hello": "Ada"},) * 2
        assert json.loads((tmp_path / "card.versions" / "1.0.0.json").read_text())["version"] == "1.0.0"
        # A new start listens where the Card says, and serves both.
        with fronted(stack, tmp_path, service.origin, agent) as again:
            assert again.port == front.port
            assert (called(aop, agent, workspace), called(aop, agent, other)) == ({"hello": "Ada"},) * 2
            versions = {
                item["installedVersion"]
                for space in (workspace, other)
                for item in aop("installations", "-w", space, "--json").json["items"]
            }
            assert versions == {"1.0.0", "1.1.0"}


@pytest.mark.rows("SOUND-11")
def test_a_card_whose_address_cannot_work_is_refused_before_anything_is_registered(
    aop: Aop, stack: Stack, tmp_path: Path
) -> None:
    agent = stack.new_id("local:fronted")
    caller = Caller(stack.run["gateway"], stack.token)
    with foreign_agent(Service()) as service, fronted(stack, tmp_path, service.origin, agent) as front:
        protocol = json.loads(front.card.read_text())["protocol"]

        def refused(endpoint: str, version: str, *more: str) -> Json:
            front.edit(version=version, protocol=protocol | {"endpoint": endpoint})
            done = aop("publish", str(front.card), "--wait", "0", "--json", *more)
            assert done.code != 0
            assert caller.get(f"/v1/agents/{agent}").status == 404
            error: Json = done.error
            return error

        other = refused(f"{front.origin}/{agent}/1.0.0", "1.1.0", "--bump", "minor")
        assert other["code"] == "other_version"
        assert f"{front.origin}/{agent}/1.1.0" in other["recovery"]
        # The front refuses a Card whose Skills have no route, and serves it nowhere.
        (skill,) = json.loads(front.card.read_text())["skills"]
        front.edit(skills=[skill | {"id": "unknown"}])
        missing = refused(f"{front.origin}/{agent}/1.2.0", "1.2.0")
        assert (missing["code"], "status 401" in missing["message"]) == ("agent_silent", True)
        wait_written(front.log, "front.settings_refused")
        far = refused(f"http://127.0.0.1:9/{agent}/1.0.0", "1.0.0")
        assert (far["code"], "--allow" in far["recovery"]) == ("DISALLOWED_NETWORK", True)
        free = next(port for port in DEVELOPMENT_PORTS if is_free(ListenAddress("127.0.0.1", port)))
        silent = refused(f"http://127.0.0.1:{free}/{agent}/1.0.0", "1.0.0")
        assert silent["code"] == "agent_silent"


@pytest.mark.rows("SOUND-11")
def test_a_front_whose_port_is_taken_writes_nothing_and_names_a_free_one(stack: Stack, tmp_path: Path) -> None:
    agent = stack.new_id("local:fronted")
    with foreign_agent(Service()) as service:
        taken = service.origin.removeprefix("http://")
        arguments = ("front", "--to", service.origin, "--http", "--route", "greet=/greet", "--agent-id", agent)
        named = ("--card", str(tmp_path / "card.json"), "--listen", taken)
        with program(*arguments, *named, data=stack.platform.data, log=tmp_path / "log") as process:
            assert process.wait(60) == 1
        log = (tmp_path / "log").read_text()
    assert not (tmp_path / "card.json").exists()
    assert f"{taken} is taken by process" in log
    assert int(re.findall(r"--listen 127\.0\.0\.1:(\d+)", log)[0]) in DEVELOPMENT_PORTS


@pytest.mark.second_ring
@pytest.mark.rows("SOUND-11")
def test_a_front_of_a_file_whose_port_is_taken_says_so_and_names_a_free_one(stack: Stack, tmp_path: Path) -> None:
    agent, settings = stack.new_id("local:fronted"), tmp_path / "front.json"
    with foreign_agent(Service()) as service:
        taken = service.origin.removeprefix("http://")
        made = ("front", "init", "--to", service.origin, "--http", "--route", "greet=/greet", "--agent-id", agent)
        arguments = (*made, "--settings", str(settings), "--listen", taken)
        with program(*arguments, data=stack.platform.data, log=tmp_path / "made") as process:
            assert process.wait(60) == 0, (tmp_path / "made").read_text()
        with program("front", "--settings", str(settings), data=stack.platform.data, log=tmp_path / "log") as process:
            assert process.wait(60) == 1
    log = (tmp_path / "log").read_text()
    assert f"{taken} is taken by process" in log
    assert int(re.findall(r"/listen 127\.0\.0\.1:(\d+), with http", log)[0]) in DEVELOPMENT_PORTS
