"""`aop init` makes projects that run, pass every check of an Agent, and are known to the local platform."""

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from aop.local.ports import DEVELOPMENT_PORTS, any_free_port, is_free
from aop.net.address_settings import ListenAddress
from aop.net.origin import Endpoint
from tests.cli.conftest import Aop, Greeter, Stack
from tests.cli.programs import program, wait_serving
from tests.support.foreign_agent import ForeignAgent, foreign_agent
from tools.agent_env import agent_python

pytestmark = pytest.mark.second_ring

# The environment of a sample Agent holds what the template on the same runtime needs.
ENVIRONMENTS = {"plain": "summarizer", "langgraph": "action-items", "pydantic-ai": "meeting-brief"}


@pytest.mark.parametrize("template", ENVIRONMENTS)
def test_a_new_project_runs_with_one_command_and_passes_every_check(
    aop: Aop, stack: Stack, tmp_path: Path, template: str
) -> None:
    port, project = any_free_port(), tmp_path / "my-greeter"
    made = aop("init", str(project), "--template", template, "--port", str(port), "--json").json
    assert (made["agentId"], made["endpoint"]) == ("local:my-greeter", f"http://127.0.0.1:{port}/")
    assert set(made["files"]) >= {"card.json", "README.md", "requirements.txt", "my_greeter/skills.py", ".gitignore"}
    assert aop("card", "check", str(project / "card.json")).code == 0
    log, python = tmp_path / "log", str(agent_python(ENVIRONMENTS[template]))
    with program("agent", "run", str(project), "--python", python, data=stack.platform.data, log=log) as process:
        wait_serving(port, process, log)
        checked = aop("agent", "check", made["endpoint"], "--card", str(project / "card.json"), "--json")
    assert checked.code == 0, checked.out
    assert all(row["passed"] for row in checked.lines)


def test_nothing_of_the_template_is_left_in_a_project(aop: Aop, tmp_path: Path) -> None:
    assert aop("init", str(tmp_path / "word-counter"), "--owner", "alice").code == 0
    for path in (tmp_path / "word-counter").rglob("*"):
        text = str(path.relative_to(tmp_path)) + (path.read_text() if path.is_file() else "")
        assert not any(word in text for word in ("my_agent", "my-agent", "My Agent", "RUNTIME")), path
    card = json.loads((tmp_path / "word-counter" / "card.json").read_text())
    assert (card["agentId"], card["owner"]["id"], card["name"]) == ("alice:word-counter", "alice", "Word Counter")
    assert Endpoint.parse(card["protocol"]["endpoint"]).port in DEVELOPMENT_PORTS


def test_the_next_steps_are_told_and_can_be_copied_into_a_shell(alone: Aop) -> None:
    shown = alone("init", "my-agent").out
    for step in ("aop dev my-agent ", "aop publish my-agent/card.json", "aop install local:my-agent"):
        assert step in shown
    lines = alone("init", "My Agent!").out.splitlines()
    words = [shlex.split(line, comments=True) for line in lines if line.startswith("  aop ")]
    assert ["aop", "dev", "My Agent!"] in words
    assert ["aop", "publish", "My Agent!/card.json"] in words


@pytest.mark.rows("OPS-02")
def test_the_next_free_port_of_the_range_is_taken_and_not_that_of_a_project_beside(alone: Aop) -> None:
    first, second = (alone("init", name, "--json").json["endpoint"] for name in ("one", "two"))
    taken = {Endpoint.parse(first).port, Endpoint.parse(second).port}
    assert len(taken) == 2
    assert taken < set(DEVELOPMENT_PORTS)
    (free,) = [port for port in DEVELOPMENT_PORTS if port not in taken and is_free(ListenAddress("127.0.0.1", port))][
        :1
    ]
    with foreign_agent(ForeignAgent(), free):
        third = alone("init", "three", "--json").json["endpoint"]
    assert Endpoint.parse(third).port not in {free, *taken}


def test_a_taken_port_is_told_at_once_and_by_whom(aop: Aop, greeter: Greeter, stack: Stack, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert aop("init", str(other), "--port", str(stack.agent_port)).code == 0
    for folder, holder in (
        (other, "another Agent: local:greeter"),
        (greeter.project, "this Agent, which runs already"),
    ):
        done = aop("agent", "run", str(folder), "--python", "/bin/false")
        assert done.code == 1
        assert re.search(rf"is taken by process [0-9]+ \(python[0-9.]*\), {holder}\n", done.err), done.err
    with foreign_agent(ForeignAgent()) as foreign:
        port = Endpoint.parse(foreign.origin).port
        assert aop("init", str(tmp_path / "third"), "--port", str(port)).code == 0
        done = aop("agent", "run", str(tmp_path / "third"), "--python", "/bin/false")
    assert f"127.0.0.1:{port} is taken by process {os.getpid()}" in done.err


def test_a_folder_with_something_in_it_is_left_alone(alone: Aop, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    done = alone("init", "taken", "--json")
    assert (done.code, "nothing was changed" in done.error["message"]) == (1, True)
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("folder", "module"),
    [
        ("json", "json_agent"),
        ("My Agent!", "my_agent"),
        ("a.b", "a_b"),
        ("grüß dich", "gruess_dich"),
        ("gru\u0308n", "gruen"),
        ("Café Łódź", "cafe_lodz"),
    ],
)
def test_a_name_that_would_hide_a_module_or_is_none_is_changed(
    alone: Aop, tmp_path: Path, folder: str, module: str
) -> None:
    made = alone("init", folder, "--json")
    assert (made.code, made.json["agentId"]) == (0, f"local:{module.replace('_', '-')}")
    assert (tmp_path / folder / module / "__main__.py").is_file()


@pytest.mark.parametrize(
    "arguments", [("123",), ("ok", "--owner", "a b"), ("ok", "--port", "0"), ("ok", "--template", "other")]
)
def test_what_makes_no_agent_is_wrong_usage(alone: Aop, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert alone("init", *arguments).code == 2
    assert not list(tmp_path.iterdir())


def test_another_port_than_the_allowed_one_is_told_with_the_option_that_allows_it(alone: Aop) -> None:
    assert "aop up --allow 127.0.0.1:9999" in alone("init", "far", "--port", "9999").err


def test_a_project_without_a_platform_nearby_says_which_settings_it_lacks(alone: Aop, tmp_path: Path) -> None:
    alone("init", "lonely")
    done = alone("agent", "run", "lonely", "--python", "/bin/false")
    assert (done.code, "PLATFORM_AGENT_ROUTER_ISSUER" in done.err, "aop up" in done.err) == (78, True, True)


@pytest.mark.parametrize("folder", ["nowhere", "."])
def test_a_folder_that_is_no_project_is_named(alone: Aop, folder: str) -> None:
    done = alone("agent", "run", folder)
    assert (done.code, "card.json cannot be read" in done.err) == (1, True)
