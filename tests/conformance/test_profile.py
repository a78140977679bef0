"""Every sample Agent passes the profile suite that `aop agent check` runs."""

import json
import os
import subprocess
from typing import Any

import msgspec
import pytest

from aop.agent.check.check import AgentCheck, Subject
from aop.contracts.documents import compiled, document
from aop.net.origin import Endpoint
from tests.agent.samples import SAMPLES, RunningSample
from tools.agent_env import AGENTS, agent_python

pytestmark = pytest.mark.second_ring


def conforms(schema: bytes, value: Any) -> bool:
    return compiled(msgspec.json.decode(schema)).is_valid(value)


@pytest.mark.rows("AUTH-08", "AUTH-09", "AUTH-10", "AUTH-12b", "AUTH-13")
async def test_a_sample_agent_passes_every_check(sample: RunningSample) -> None:
    subject = Subject(Endpoint.parse(sample.endpoint), sample.card, {}, conforms)
    findings = [finding async for finding in AgentCheck(subject, sample.router).results()]
    assert [finding for finding in findings if finding.problem is not None] == []
    assert len(findings) > 80
    calls = [line for line in sample.output.read_text().splitlines() if '"event":"call"' in line]
    assert calls, "its author sees each call at the terminal"
    assert all(json.loads(line)["agentId"] == sample.card.agent_id for line in calls)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_card_of_a_sample_agent_is_valid_and_names_an_example_per_skill(name: str) -> None:
    card = msgspec.json.decode((AGENTS / name / "card.json").read_bytes())
    assert document("agent-card/0.2").violations(card) == ()
    for skill in card["skills"]:
        examples = skill["inputSchema"]["examples"]
        assert examples
        assert all(compiled(skill["inputSchema"]).is_valid(example) for example in examples)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_agent_kit_needs_nothing_of_the_platform(name: str) -> None:
    code = (
        "import sys, aop.agent, aop.agent.testing, aop.agent.check.check\n"
        "platform = {'asyncpg', 'uvloop', 'jsonschema_rs', 'prometheus_client', 'click', 'rich', 'starlette'}\n"
        "sys.exit(1 if platform & sys.modules.keys() else 0)"
    )
    environment = {key: value for key, value in os.environ.items() if key == "PATH"}  # noqa: TID251
    subprocess.run([agent_python(name), "-c", code], check=True, env=environment)
