"""`aop card from-a2a` makes a Card from an agent card, and `aop card check` knows an agent card when it reads one."""

import json
from pathlib import Path

import pytest

from aop.local.ports import any_free_port
from tests.cli.conftest import Aop
from tests.cli.terminal import at_terminal
from tests.support.foreign_agent import NEW, ForeignAgent, Json, card_0_3, card_1_0, foreign_agent


@pytest.mark.rows("FOR-06")
@pytest.mark.parametrize("card", [card_0_3(), card_1_0()])
def test_an_address_gives_a_valid_card_and_the_open_points(alone: Aop, tmp_path: Path, card: Json) -> None:
    with foreign_agent(ForeignAgent()) as agent:
        agent.show(card)
        done = alone("card", "from-a2a", agent.origin, "--json")
    assert done.code == 0, done.err
    assert {"/owner/id", "/agentId", "/permissions", "/protocol/endpoint"} <= {
        point["pointer"] for point in done.json["openPoints"]
    }
    made = json.loads((tmp_path / "card.json").read_text())
    assert made["protocol"]["endpoint"] == f"{agent.origin}/"
    checked = alone("card", "check", "--json")
    assert (checked.code, checked.json["valid"]) == (0, True)
    assert {found["pointer"] for found in checked.json["findings"]} == {"/agentId", "/owner/id"}


@pytest.mark.rows("FOR-06", "FOR-07")
def test_an_agent_of_another_version_is_told_with_the_way_out_in_the_first_lines(alone: Aop) -> None:
    with foreign_agent(ForeignAgent(NEW)) as agent:
        agent.show(card_1_0())
        shown = alone("card", "from-a2a", agent.origin, "--owner", "alice").out.splitlines()
    assert "speaks A2A 1.0 only" in shown[1]
    assert all(word in shown[2] for word in ("aop front --to", "enable_v0_3_compat", "legacyCompat"))
    assert shown[-1] == "next: aop card check card.json"


def test_options_close_the_points_and_an_existing_file_is_kept(alone: Aop, tmp_path: Path) -> None:
    (tmp_path / "agent-card.json").write_text(json.dumps(card_0_3()))
    (tmp_path / "card.json").write_text("mine")
    options = ("--owner", "alice", "--agent", "alice:hello", "--endpoint", "https://agent.example/a2a")
    kept = alone("card", "from-a2a", "agent-card.json", *options, "--json")
    assert (kept.code, (tmp_path / "card.json").read_text()) == (1, "mine")
    made = alone("card", "from-a2a", "agent-card.json", *options, "--json", "--yes").json
    assert [one["pointer"] for one in made["openPoints"]] == ["/skills/*/outputSchema", "/permissions", "/limits"]
    card = json.loads((tmp_path / "card.json").read_text())
    assert (card["agentId"], card["protocol"]["endpoint"]) == ("alice:hello", "https://agent.example/a2a")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("ftp://agent.example/",), 2),
        (("missing.json",), 1),
        ((f"http://127.0.0.1:{any_free_port()}/",), 3),
        (("agent-card.json", "--owner", "a b"), 2),
        (("agent-card.json", "--agent", "ä"), 2),
        (("agent-card.json", "--endpoint", "x"), 2),
        (("other.json",), 1),
    ],
)
def test_what_cannot_be_read_is_told_and_nothing_is_written(
    alone: Aop, tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    (tmp_path / "agent-card.json").write_text(json.dumps(card_0_3()))
    (tmp_path / "other.json").write_text("{}")
    done = alone("card", "from-a2a", *arguments, "--out", "made.json", "--json")
    assert (done.code, "message" in done.error) == (code, True)
    assert not (tmp_path / "made.json").exists()


@pytest.mark.rows("FOR-06")
@pytest.mark.parametrize("card", [card_0_3(), card_1_0()])
def test_an_agent_card_is_recognised_and_the_command_for_it_is_the_first_line(
    alone: Aop, tmp_path: Path, card: Json
) -> None:
    (tmp_path / "card.json").write_text(json.dumps(card))
    checked = alone("card", "check")
    assert checked.code == 1
    assert "A2A agent card" in checked.out.splitlines()[0]
    assert "aop card from-a2a card.json" in checked.out.splitlines()[0]
    assert [one["rule"] for one in alone("card", "check", "--json").json["findings"]] == ["a2a_agent_card"]


def test_at_a_terminal_a_person_is_asked_for_what_only_they_know(tmp_path: Path) -> None:
    (tmp_path / "agent-card.json").write_text(json.dumps(card_0_3(name="Evil\x1b[2J\u202e")))
    source, target = str(tmp_path / "agent-card.json"), tmp_path / "made.json"
    answers = {"Your principal": "alice\n", "Id of the Agent": "alice:hello\n"}
    done = at_terminal("card", "from-a2a", source, "--out", str(target), answers=answers, folder=tmp_path)
    assert done.code == 0, done.screen
    made = json.loads(target.read_text())
    assert (made["owner"]["id"], made["agentId"]) == ("alice", "alice:hello")
    assert "\x1b[2J" not in done.screen + target.read_text()
    assert "\u202e" not in done.screen + target.read_text()
