"""The sample Agents of a checkout: which there are, and where each listens."""

import json
from pathlib import Path

import pytest

from aop.local.problems import SampleUnusable
from aop.local.samples import find_samples
from aop.net.address_settings import ListenAddress
from tests.local.sample_cards import CARDS

pytestmark = pytest.mark.second_ring

PORTS = [ListenAddress("127.0.0.1", port) for port in (8091, 8092, 8093)]


def a_checkout(folder: Path, *endpoints: str) -> Path:
    for number, endpoint in enumerate(endpoints):
        card = CARDS["action-items"] | {"protocol": CARDS["action-items"]["protocol"] | {"endpoint": endpoint}}
        for path in (folder / "agents" / f"agent-{number}", folder / ".dev" / "agents" / f"agent-{number}" / "bin"):
            path.mkdir(parents=True)
        (folder / "agents" / f"agent-{number}" / "card.json").write_text(json.dumps(card))
        (folder / ".dev" / "agents" / f"agent-{number}" / "bin" / "python").touch()
        (folder / ".dev" / "agents" / f"agent-{number}" / ".stamp").touch()
    return folder


def test_without_a_checkout_there_are_no_sample_agents(tmp_path: Path) -> None:
    assert find_samples(PORTS, tmp_path) == []


def test_each_sample_agent_listens_on_the_port_chosen_for_the_one_its_card_names(tmp_path: Path) -> None:
    chosen = [ListenAddress("127.0.0.1", port) for port in (9009, 9002, 9003)]
    checkout = a_checkout(tmp_path, "http://127.0.0.1:8093/a2a", "http://127.0.0.1:8091/")
    assert [sample.endpoint for sample in find_samples(chosen, checkout)] == [
        "http://127.0.0.1:9009/",
        "http://127.0.0.1:9003/a2a",
    ]


def test_a_sample_agent_without_its_environment_is_told_with_the_command_that_makes_it(tmp_path: Path) -> None:
    checkout = a_checkout(tmp_path, "http://127.0.0.1:8091/")
    (tmp_path / ".dev" / "agents" / "agent-0" / ".stamp").unlink()
    with pytest.raises(SampleUnusable, match=r"agent-0 has no environment .*\./dev up.*--no-agents"):
        find_samples(PORTS, checkout)


@pytest.mark.parametrize("second", ["http://127.0.0.1:8091/", "http://127.0.0.1:8094/"])
def test_a_port_that_is_taken_twice_or_is_none_of_the_three_is_refused(tmp_path: Path, second: str) -> None:
    with pytest.raises(SampleUnusable, match="8091 or 8092 or 8093"):
        find_samples(PORTS, a_checkout(tmp_path, "http://127.0.0.1:8091/", second))


def test_a_card_that_is_none_is_named(tmp_path: Path) -> None:
    checkout = a_checkout(tmp_path, "http://127.0.0.1:8091/")
    (tmp_path / "agents" / "agent-0" / "card.json").write_text("{}")
    with pytest.raises(SampleUnusable, match=r"agent-0/card\.json is no Agent Card"):
        find_samples(PORTS, checkout)
