"""A changed Agent is published again: its version is raised when asked, and a program from before is told."""

import json
from pathlib import Path

import msgspec
import pytest

from aop.a2a.versions import A2AVersion
from aop.agent.check.a2a_address import FoundAgent
from aop.agent.check.a2a_card import read_agent_card
from aop.agent.check.card_comparison import differences
from aop.agent.guard.card import public_card
from aop.base import assets
from aop.base.semver import Version
from aop.cli.shell.card_version import VersionPart, raised, with_version
from aop.contracts.card import AgentCard
from tests.cli.conftest import Aop, Greeter, Stack
from tests.local.caller import Caller

pytestmark = pytest.mark.second_ring


def version_of(file: str) -> str:
    return str(json.loads(Path(file).read_text())["version"])


def test_the_version_is_raised_in_the_file_when_asked_and_once_however_often_it_is_tried(
    aop: Aop, greeter: Greeter, stack: Stack, tmp_path: Path
) -> None:
    file, _ = greeter.card()
    first = aop("publish", file, "--bump", "minor")
    assert (first.code, version_of(file), "so the version stays" in first.err) == (0, "1.0.0", True)
    text = Path(file).read_text().replace("Greets people", "Welcomes people")
    Path(file).write_text(text)
    interrupted = aop("publish", file, "--bump", "minor", "--proof-dir", str(tmp_path), "--wait", "0.1")
    assert (interrupted.code, version_of(file)) == (1, "1.1.0")
    again = aop("publish", file, "--bump", "minor", "--json").json
    assert (again["version"], again["state"], version_of(file)) == ("1.1.0", "published", "1.1.0")
    assert Path(file).read_text() == text.replace("1.0.0", "1.1.0", 1)
    caller = Caller(stack.run["gateway"], stack.token)
    assert caller.post("/v1/agents", json.loads(Path(file).read_text()) | {"version": "1.1.1"}).status == 201
    Path(file).chmod(0o640)
    link = greeter.project / "link.json"
    link.symlink_to(file)
    assert aop("publish", str(link), "--bump", "patch", "--json").json["version"] == version_of(file) == "1.1.2"
    assert (Path(file).stat().st_mode & 0o777, link.is_symlink()) == (0o640, True)
    assert not list(greeter.project.glob(f".{Path(file).name}*")), "what was written first took the place of the file"
    assert aop("publish", file, "--bump", "other").code == 2


@pytest.mark.parametrize(
    ("version", "patch", "minor", "major"),
    [
        ("1.2.3", "1.2.4", "1.3.0", "2.0.0"),
        ("0.1.0-beta.2+build", "0.1.0", "0.1.0", "1.0.0"),
        ("2.0.0-rc.1", "2.0.0", "2.0.0", "2.0.0"),
        ("1.1.1-rc.1", "1.1.1", "1.2.0", "2.0.0"),
    ],
)
def test_the_next_version_of_each_kind(version: str, patch: str, minor: str, major: str) -> None:
    assert [raised(Version.parse(version), part).text for part in VersionPart] == [patch, minor, major]


def test_nothing_but_the_version_of_the_card_itself_is_changed() -> None:
    text = '{"a": {"version": "1.0.0"}, "list": ["version", 1e2],\r\n\t"version" : "1.0.0" , "z": "1.0.0"}\n'
    assert with_version(text, "2.0.0") == text.replace('"version" : "1.0.0"', '"version" : "2.0.0"')


def test_a_program_from_before_the_change_is_told_and_the_publication_goes_on(aop: Aop, greeter: Greeter) -> None:
    own = json.loads((greeter.project / "card.json").read_text())
    file, _ = greeter.card(agentId=own["agentId"], version="1.7.0")
    done = aop("publish", file)
    assert done.code == 0, done.err
    assert "the running Agent has the Card of version 1.0.0, and this is 1.7.0" in done.err
    assert "start it again" in done.err


def test_a_card_that_changed_after_the_start_is_told_although_its_version_did_not() -> None:
    card = msgspec.json.decode((assets.folder("templates") / "plain" / "card.json").read_bytes(), type=AgentCard)
    served = read_agent_card(public_card(card, "http://127.0.0.1:8099"))
    running = FoundAgent(served, "", card.protocol.endpoint, None, frozenset({A2AVersion.V0_3}), checks_callers=True)
    assert differences(card, running) == []
    skill = msgspec.structs.replace(card.skills[0], description="Greets them all.")
    (found,) = differences(msgspec.structs.replace(card, name="Other", skills=(skill,)), running)
    assert (found.text, found.breaks_calls) == (
        "the running Agent was started before its Card changed: name, skills",
        False,
    )


def test_another_agent_at_the_address_is_named_without_a_long_wait(aop: Aop, greeter: Greeter, tmp_path: Path) -> None:
    file, _ = greeter.card()
    done = aop("publish", file, "--proof-dir", str(tmp_path), "--wait", "600", "--json")
    assert (done.code, done.error["code"]) == (1, "proof_not_served")
    assert ", another Agent: local:greeter" in done.error["message"]
