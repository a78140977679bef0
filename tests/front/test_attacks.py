"""Every attack on the credential, sent to the front, gets the fixed rejection; the Agent behind it is never reached."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from aop.agent.check.attacks import attacks
from tests.agent.agents import ask, require_rejection
from tests.agent.served import message
from tests.front.played import PlayedAgent, before
from tests.front.served import SKILL, ServedFront
from tests.support.agent import a_task

BODY = {"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": message({})}
Before = tuple[ServedFront, PlayedAgent]


@pytest_asyncio.fixture
async def served(tmp_path: Path) -> AsyncIterator[Before]:
    async with before(tmp_path, a_task("completed"), "a2a-0.3", limits={"streaming": False}) as found:
        yield found


@pytest.mark.rows("FRONT-04")
async def test_an_attack_is_rejected_and_never_reaches_the_agent(served: Before) -> None:
    front, agent = served
    for attack in attacks():
        draft = front.router.draft(BODY, capability=SKILL, parent="inv_parent")
        request = attack.make(draft)
        answer = await ask(front.client, front.port, "POST", front.path, request.headers, request.body)
        require_rejection(answer, attack.status)
    assert agent.received == []
    good = front.router.request(BODY, capability=SKILL)
    for status in (200, 401):  # the second one is a replay
        answer = await ask(front.client, front.port, "POST", front.path, good.headers, good.body)
        assert answer.status == status
    assert len(agent.received) == 1


@pytest.mark.second_ring
@pytest.mark.rows("FRONT-04")
async def test_nothing_but_the_public_pages_is_open(served: Before) -> None:
    front, agent = served
    closed = (("GET", front.path), ("POST", "/"), ("GET", "/metrics"), ("DELETE", front.path), ("POST", "/livez"))
    for method, path in closed:
        require_rejection(await ask(front.client, front.port, method, path), 401)
    for path in ("/livez", "/readyz", "/.well-known/agent-card.json", f"{front.path}/.well-known/agent-card.json"):
        assert (await ask(front.client, front.port, "GET", path)).status == 200
    imitated = [(b"x_platform_trace_id", b"1")]
    assert (await ask(front.client, front.port, "GET", "/livez", imitated)).status == 400
    assert agent.received == []
