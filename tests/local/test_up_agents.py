"""`aop up` with the sample Agents: published, installed and answering after a start and after a restart."""

import asyncio
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import pytest

from aop.client import Client
from aop.contracts.card import AgentCard
from aop.local.ports import any_free_port
from aop.local.problems import StepFailed
from aop.local.publication import SamplePublication
from aop.local.samples import Sample, find_samples
from aop.net.address_settings import ListenAddress
from tests.local.caller import Caller, Reply
from tests.local.sample_cards import CARDS, Json
from tests.support.platform import LocalPlatform, seed_ports, started_up
from tests.support.processes import is_alive, require_none_left
from tests.support.waiting import PATIENCE_SECONDS
from tools.agent_env import agent_python

pytestmark = pytest.mark.second_ring


@dataclass(frozen=True)
class Restarted:
    """A platform in its second run on one data folder, and what the first run left there."""

    platform: LocalPlatform
    first: Json
    before: Json

    @property
    def run(self) -> Json:
        return self.platform.run

    @property
    def caller(self) -> Caller:
        return Caller(self.run["gateway"], self.run["token"])


@pytest.fixture(scope="module")
def restarted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restarted]:
    for name in CARDS:
        agent_python(name)
    data = tmp_path_factory.mktemp("agents") / "data"
    seed_ports(data)
    with started_up(data) as platform:
        platform.wait_ready()
        first = platform.run
        before = recorded(Caller(first["gateway"], first["token"]))
        assert platform.stop() == 0
    require_none_left(str(data))
    with started_up(data) as platform:
        platform.wait_ready()
        yield Restarted(platform, first, before)
        assert platform.stop() == 0
    require_none_left(str(data))


def recorded(caller: Caller) -> Json:
    """Everything publication and installation leave behind."""
    lists = ("providers/aop/agents", "providers/aop/endpoint-bindings", "providers/aop/releases", "workspaces")
    return {name: caller.get(f"/v1/{name}").json for name in (*lists, "workspaces/demo/installations")}


def a_request(name: str, *, stream: bool) -> Json:
    card = CARDS[name]
    skill = card["skills"][0]
    example = skill["inputSchema"]["examples"][0]
    return {"agentId": card["agentId"], "capability": skill["id"], "input": example, "stream": stream}


def invoke(caller: Caller, name: str, *, stream: bool = False) -> Reply:
    return caller.post("/v1/workspaces/demo/invocations", a_request(name, stream=stream))


@pytest.mark.rows("OPS-01")
def test_every_sample_agent_runs_and_the_record_says_where_and_as_which_release(restarted: Restarted) -> None:
    run = restarted.run
    assert run["workspaceId"] == "demo"
    assert {agent["agentId"] for agent in run["agents"]} == {card["agentId"] for card in CARDS.values()}
    ports = json.loads((restarted.platform.data / "ports.json").read_text())["agents"]
    usual = {card["agentId"]: int(re.findall(r":(\d+)", card["protocol"]["endpoint"])[0]) for card in CARDS.values()}
    for agent in run["agents"]:
        assert agent["origin"] == f"http://127.0.0.1:{ports[usual[agent['agentId']] - 8091]}"
        assert is_alive(run["pids"][f"agent:{agent['agentId']}"])
        entry = restarted.caller.get(f"/v1/agents/{agent['agentId']}").json["versions"][0]
        assert entry["release"] == {"releaseId": agent["releaseId"], "state": "published"}
        assert (entry["version"], entry["card"]["owner"]["id"]) == (agent["version"], run["principal"])
        assert entry["card"]["protocol"]["endpoint"].startswith(f"{agent['origin']}/")


@pytest.mark.rows("OPS-01")
@pytest.mark.parametrize("name", CARDS)
def test_a_sample_agent_answers_through_the_gateway_and_its_lineage_can_be_read(
    restarted: Restarted, name: str
) -> None:
    caller = restarted.caller
    result = invoke(caller, name)
    assert (result.status, result.json["status"]) == (200, "succeeded")
    workspace = "/v1/workspaces/demo"
    detail = caller.get(f"{workspace}/invocations/{result.json['invocationId']}").json
    assert detail["invocation"]["status"] == "succeeded"
    assert detail["events"][-1]["type"] == "succeeded"
    trace = caller.get(f"{workspace}/traces/{result.json['traceId']}").json
    assert trace["invocations"][0]["invocationId"] == result.json["invocationId"]


@pytest.mark.rows("OPS-01")
@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card["limits"]["streaming"]])
def test_a_sample_agent_streams_through_the_gateway(restarted: Restarted, name: str) -> None:
    events = invoke(restarted.caller, name, stream=True).events
    assert [event["sequence"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "accepted"
    assert {event["type"] for event in events[1:-1]} == {"chunk"}
    assert events[-1]["type"] == "completed"


@pytest.mark.rows("OPS-02")
def test_a_restart_of_the_folder_uses_the_same_ports_and_publishes_and_installs_nothing_again(
    restarted: Restarted,
) -> None:
    for member in ("gateway", "router", "workspaceId", "agents"):
        assert restarted.run[member] == restarted.first[member]
    assert recorded(restarted.caller) == restarted.before
    assert len(restarted.before["workspaces/demo/installations"]["items"]) == len(CARDS)
    assert "publishing" not in restarted.platform.output


def test_no_proof_is_left_where_the_agents_serve_them(restarted: Restarted) -> None:
    assert {path.name for path in (restarted.platform.data / "proofs").iterdir()} == set(CARDS)
    assert not [path for path in (restarted.platform.data / "proofs").rglob("*") if path.is_file()]


@pytest.mark.rows("OPS-02")
def test_any_other_loopback_port_is_a_disallowed_network(restarted: Restarted) -> None:
    caller, port = restarted.caller, any_free_port()
    card = CARDS["action-items"] | {"agentId": "test:elsewhere"}
    card["protocol"] = card["protocol"] | {"endpoint": f"http://127.0.0.1:{port}/"}
    assert caller.post("/v1/agents", card).status == 201
    body = {"endpoint": card["protocol"]["endpoint"], "method": "http_well_known", "version": card["version"]}
    binding = caller.post("/v1/providers/test/agents/test:elsewhere/endpoint-bindings", body).json["bindingId"]
    challenges = f"/v1/providers/test/endpoint-bindings/{binding}/challenges"
    challenge = caller.post(challenges).json["challengeId"]
    refused = caller.post(f"{challenges}/{challenge}/complete")
    assert (refused.status, refused.json["code"]) == (403, "DISALLOWED_NETWORK")


def test_the_commands_of_the_panel_work_as_they_are(restarted: Restarted) -> None:
    found = [panel_output(restarted, label) for label in ("try", "invoke", "stream", "nested", "inspect")]
    searched, invoked, streamed, nested, inspected = found
    assert all(card["agentId"] in searched for card in CARDS.values())
    assert "send the budget" in invoked
    assert streamed.count('{"items":[{') == 3
    assert "7 Invocations" in nested
    assert inspected.splitlines() == nested.splitlines()[-8:]


@pytest.mark.rows("OPS-01")
def test_the_nested_demo_is_one_line_that_shows_its_lineage_as_a_tree(restarted: Restarted) -> None:
    tree = [line.partition("  succeeded")[0].rstrip() for line in panel_output(restarted, "nested").splitlines()[-7:]]
    brief = ["aop:summarizer summarize", "aop:action-items extract-action-items"]
    assert tree[0] == "aop:meeting-brief digest-meetings"
    assert tree[1] == "├─ aop:meeting-brief brief-meeting"
    assert sorted(tree[2:4]) == sorted([f"│  ├─ {brief[0]}", f"│  └─ {brief[1]}"]) or sorted(tree[2:4]) == sorted(
        [f"│  ├─ {brief[1]}", f"│  └─ {brief[0]}"]
    )
    assert tree[4] == "└─ aop:meeting-brief brief-meeting"


def panel_output(restarted: Restarted, label: str) -> str:
    """What the line under this label prints when pasted into a shell."""
    shown = restarted.platform.output.partition("ready     ")[2]
    line = next(line[10:] for line in shown.splitlines() if line[:10].strip() == label)
    # What ./dev does is set up an environment, which this test has, and run the command in it.
    program, _, rest = line.partition(" aop ")
    assert program.endswith("dev")
    script = f"{shlex.quote(sys.executable)} -m aop {rest}"
    environment = {"PATH": os.defpath, "XDG_CONFIG_HOME": str(restarted.platform.data / "no-profiles")}
    run = ["/bin/sh", "-ec", script]
    done = subprocess.run(run, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True, env=environment)
    return done.stdout


def test_a_sample_agent_that_dies_is_started_again_and_answers(restarted: Restarted) -> None:
    before = restarted.run
    key = f"agent:{CARDS['action-items']['agentId']}"
    os.kill(before["pids"][key], signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (
        restarted.run["pids"].get(key) in {None, before["pids"][key]}
        or invoke(restarted.caller, "action-items").status != 200
    ):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert restarted.run == before | {"pids": restarted.run["pids"]}


def a_sample(restarted: Restarted, address: ListenAddress | None = None, **changes: str) -> Sample:
    """The sample Agent action-items of the running platform, with another card.json."""
    ports = json.loads((restarted.platform.data / "ports.json").read_text())["agents"]
    samples = find_samples([ListenAddress("127.0.0.1", port) for port in ports])
    found = next(sample for sample in samples if sample.name == "action-items")
    template = {**found.template, **changes}
    card = msgspec.json.decode(json.dumps(template), type=AgentCard)
    return replace(found, template=template, card=card, address=address or found.address)


def published_again(restarted: Restarted, sample: Sample, proofs: Path) -> list[str]:
    said: list[str] = []

    async def publish() -> None:
        async with Client(restarted.run["gateway"], restarted.run["token"]) as client:
            publication = SamplePublication(client, restarted.run["principal"], said.append)
            await publication.publish(sample, proofs)
            await publication.install(sample)

    asyncio.run(publish())
    return said


def test_a_changed_card_of_a_published_version_is_told_and_changes_nothing(
    restarted: Restarted, tmp_path: Path
) -> None:
    before = recorded(restarted.caller)
    said = published_again(restarted, a_sample(restarted, description="Something new."), tmp_path)
    assert len(said) == 1
    assert "agents/action-items/card.json has changed" in said[0]
    assert "Raise `version`" in said[0]
    assert recorded(restarted.caller) == before


def test_an_agent_that_moved_to_another_port_is_told(restarted: Restarted, tmp_path: Path) -> None:
    said = published_again(restarted, a_sample(restarted, ListenAddress("127.0.0.1", 8099)), tmp_path)
    assert len(said) == 1
    assert "now listens on http://127.0.0.1:8099" in said[0]


def test_a_refused_step_is_told_with_its_code_and_a_way_out(restarted: Restarted, tmp_path: Path) -> None:
    sample = a_sample(restarted, ListenAddress("127.0.0.1", 9), agentId="test:not-allowed")
    for _ in range(2):  # the second try goes on where the first one stopped
        with pytest.raises(StepFailed, match=r"(?s)sample Agent action-items.*DISALLOWED_NETWORK.*--allow HOST:PORT"):
            published_again(restarted, sample, tmp_path)
        assert not list(tmp_path.iterdir())
    bindings = restarted.caller.get("/v1/providers/aop/endpoint-bindings?agentId=test:not-allowed").json["items"]
    assert [binding["verificationStatus"] for binding in bindings] == ["failed"]
