"""Every attack on the credential, sent over HTTP to a guarded Agent, gets the fixed rejection and starts nothing."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from aop.agent.check.attacks import Attack, attacks
from tests.agent.agents import RunningAgent, require_rejection, running_agent

MESSAGE = {"jsonrpc": "2.0", "id": "1", "method": "tasks/get", "params": {"id": "t", "historyLength": 1}}


@pytest_asyncio.fixture
async def agent(tmp_path: Path) -> AsyncIterator[RunningAgent]:
    async with running_agent(tmp_path) as running:
        yield running


@pytest.mark.rows("AUTH-08", "AUTH-09", "AUTH-10", "AUTH-12b", "AUTH-13")
@pytest.mark.parametrize("attack", list(attacks()), ids=lambda attack: attack.name)
async def test_an_attack_is_rejected_and_starts_nothing(agent: RunningAgent, attack: Attack) -> None:
    draft = agent.router.draft(MESSAGE, parent="inv_parent")
    require_rejection(await agent.send(attack.make(draft)), attack.status)
    assert agent.app.bodies == []
    good = await agent.send(draft.signed())
    assert (good.status, len(agent.app.bodies)) == (200, 1)  # the jti was not burnt


@pytest.mark.rows("AUTH-11")
async def test_of_64_presentations_at_once_exactly_one_is_accepted(agent: RunningAgent) -> None:
    request = agent.router.request(MESSAGE)
    answers = await asyncio.gather(*(agent.send(request) for _ in range(64)))
    assert sorted(answer.status for answer in answers) == [200] + [401] * 63
    assert len(agent.app.bodies) == 1
    for answer in answers:
        if answer.status != 200:
            require_rejection(answer, 401)


@pytest.mark.rows("AUTH-08")
async def test_a_direct_request_to_any_path_and_method_is_rejected(agent: RunningAgent) -> None:
    for method, path in (("POST", "/"), ("GET", "/"), ("GET", "/docs"), ("POST", "/livez"), ("DELETE", "/a2a")):
        require_rejection(await agent.ask(method, path, body=b"{}" if method == "POST" else b""), 401)
    assert agent.app.contexts == []


@pytest.mark.rows("AUTH-09")
async def test_a_replayed_request_is_rejected(agent: RunningAgent) -> None:
    request = agent.router.request(MESSAGE)
    assert (await agent.send(request)).status == 200
    require_rejection(await agent.send(request), 401)
    assert len(agent.app.bodies) == 1
