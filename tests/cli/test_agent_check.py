"""`aop agent check` says first what matters, and starts a project with a key of its own."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aop.agent.guard.card import load_card
from aop.base.settings import Secret
from aop.cli.provider.publish_probe import ProbeChoices, PublishProbe
from aop.cli.shell.destination import Destination
from aop.cli.shell.output import Output
from aop.cli.shell.problems import CommandProblem
from aop.contracts.card import AgentCard
from aop.local.ports import any_free_port
from tests.cli.conftest import Aop
from tests.conformance.test_command import private_text
from tests.support.cards import a_card, a_skill
from tests.support.foreign_agent import NEW, ForeignAgent, Json, card_0_3, card_1_0, foreign_agent
from tests.support.waiting import PATIENCE_SECONDS
from tools.agent_env import agent_python

pytestmark = pytest.mark.second_ring

KEY = {"PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL": private_text(bytes(32))}
SKILL = a_skill("hello_world", inputSchema={"type": "string", "examples": ["hi"]}, outputSchema={})


def card_file(folder: Path, endpoint: str) -> str:
    card = a_card(skills=[SKILL])
    card["protocol"]["endpoint"] = endpoint
    path = folder / "card.json"
    path.write_text(json.dumps(card))
    return str(path)


def answering(request: Json) -> Json:
    """A text Agent that checks nobody."""
    part = {"kind": "text", "text": "hello"}
    message = {"kind": "message", "messageId": "m", "role": "agent", "parts": [part]}
    answer: dict[str, Any] = {"error": {"code": -32601, "message": "no"}}
    if request["method"] == "message/send":
        answer = {"result": message}
    elif request["method"] in {"tasks/get", "tasks/cancel"}:
        answer = {"error": {"code": -32001, "message": "no"}}
    return {"jsonrpc": "2.0", "id": request["id"]} | answer


def test_a_card_file_with_a_member_twice_is_none(alone: Aop, tmp_path: Path) -> None:
    """An Agent that is started or checked with it would not be the one that a reader of the file sees."""
    card = Path(card_file(tmp_path, "http://127.0.0.1:1/"))
    twice = tmp_path / "project" / "card.json"
    twice.parent.mkdir()
    twice.write_text(card.read_text().replace("{", '{"version": "9.9.9",', 1))
    checked = alone("agent", "check", "http://127.0.0.1:1/", "--card", str(twice))
    assert (checked.code, "is not an Agent Card" in checked.err) == (1, True), checked
    started = alone("agent", "run", str(twice.parent))
    assert (started.code, "is not a usable Agent Card" in started.err) == (1, True), started
    with pytest.raises(msgspec.DecodeError):
        load_card(str(twice.parent / "package" / "__main__.py"))


def test_a_dead_address_is_one_line(alone: Aop, tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{any_free_port()}/"
    done = alone("agent", "check", address, "--card", card_file(tmp_path, address))
    assert (done.code, done.out, len(done.err.splitlines())) == (3, "", 1)
    assert "nothing answers at" in done.err


@pytest.mark.rows("FOR-07")
def test_an_agent_of_another_version_is_told_at_once_and_nothing_else_is_tried(alone: Aop, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    with foreign_agent(ForeignAgent(NEW)) as agent:
        agent.show(card_1_0())
        file = card_file(tmp_path, agent.origin)
        done = alone("agent", "check", agent.origin, "--card", file, "--report", str(report))
    assert done.code == 1
    assert "speaks A2A 1.0 only" in done.err.splitlines()[0]
    assert "enable_v0_3_compat" in done.err.splitlines()[1]
    assert done.out.splitlines()[-1] == "1 check, 1 failed"
    assert [request["method"] for _, request in agent.seen] == ["tasks/get", "GetTask"]
    written = json.loads(report.read_text())
    assert (written["speaks"], written["checks"][0]["passed"]) == (["1.0"], False)


def test_an_agent_without_an_agent_card_is_not_said_to_be_what_its_card_says(
    alone: Aop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ForeignAgent, "reply", lambda _, request: answering(request))
    with foreign_agent(ForeignAgent()) as agent:
        file = card_file(tmp_path, agent.origin)
        done = alone("agent", "check", agent.origin, "--card", file, "--json", **KEY)
    assert (done.lines[0]["check"], done.lines[0]["passed"]) == ("is what its Card says", False)
    assert "/.well-known/agent-card.json answers with status 404" in done.lines[0]["problem"]


def test_what_matters_comes_before_the_many_requests_that_an_open_agent_does_not_refuse(
    alone: Aop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ForeignAgent, "reply", lambda _, request: answering(request))
    with foreign_agent(ForeignAgent()) as agent:
        agent.show(card_0_3())
        done = alone("agent", "check", agent.origin, "--card", card_file(tmp_path, agent.origin), **KEY)
    rows = done.out.splitlines()
    assert done.code == 1
    assert "without a credential" in done.err.splitlines()[0]
    assert rows[1].startswith("hello_world: message/stream")
    assert len([row for row in rows if row.startswith("rejects: ") and " failed " in row]) == 1


def test_a_project_is_started_with_a_key_of_the_check_alone_and_stopped(alone: Aop, tmp_path: Path) -> None:
    port, project = any_free_port(), tmp_path / "greeter"
    assert alone("init", str(project), "--port", str(port), "--template", "chat").code == 0
    python = ("--python", str(agent_python("summarizer")))
    with foreign_agent(ForeignAgent(), port):
        assert "answers at" in alone("agent", "check", str(project), *python).err
    done = alone("agent", "check", str(project), *python, "--json")
    assert done.code == 0, done.out + done.err
    assert all(row["passed"] for row in done.lines)
    skills = project / "greeter" / "skills.py"
    skills.write_text(skills.read_text() + "\nraise SystemExit('broken on purpose')\n")
    for arguments, reason in [(python, "broken on purpose"), (("--python", "no-python"), "cannot be run")]:
        assert reason in alone("agent", "check", str(project), *arguments).err
    dead = alone("agent", "check", f"http://127.0.0.1:{port}/", "--card", str(project / "card.json"))
    assert (dead.code, "nothing answers" in dead.err) == (3, True)


@pytest.mark.rows("FOR-07")
def test_an_agent_that_answers_only_later_is_waited_for_and_compared(tmp_path: Path) -> None:
    port = any_free_port()
    card = msgspec.json.decode(Path(card_file(tmp_path, f"http://127.0.0.1:{port}/")).read_bytes(), type=AgentCard)
    destination = Destination("http://127.0.0.1:1", Secret(""), "a test")

    def probe(wait_seconds: float) -> PublishProbe:
        return PublishProbe(Output(), card, ProbeChoices(False, None, wait_seconds), destination)

    async def published() -> None:
        with pytest.raises(CommandProblem, match=r"nothing answers at .*; nothing was registered"):
            await probe(0).before_publishing(own_path=False)
        waiting = asyncio.create_task(probe(PATIENCE_SECONDS).before_publishing(own_path=False))
        await asyncio.sleep(0)
        agent = ForeignAgent(NEW)
        agent.show(card_1_0())
        with foreign_agent(agent, port):
            await waiting

    with pytest.raises(CommandProblem, match=r"speaks A2A 1\.0 only"):
        asyncio.run(published())
