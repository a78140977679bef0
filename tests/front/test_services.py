"""Plain HTTP services behind the front: a route for each Skill."""

import json
from pathlib import Path

import pytest

from tests.agent.served import message, message_of
from tests.front.played import before, plain
from tests.front.served import SKILL
from tests.support.agent import data, text
from tests.support.doubled_answers import Doubling, http_answer
from tests.support.peers import Received

TEXT = message_of([{"kind": "text", "text": "how are you?"}])


@pytest.mark.rows("FRONT-02")
async def test_a_plain_http_service_is_called_by_route(tmp_path: Path) -> None:
    async def serve(request: Received) -> None:
        assert request.target == "/base/v1/ask"
        await request.answer(b'{"echo": %b}' % request.body)

    routes = [{"skill": SKILL, "path": "/v1/ask"}]
    async with before(tmp_path, serve, "http", routes=routes, limits={"streaming": False}) as (front, agent):
        found = await front.result("message/send", message({"n": 1.50}))
        asked = await front.result("message/send", TEXT)
        agent.behaviour = plain(b"plain", 200, b"content-type: text/plain; charset=utf-8")
        as_text = await front.result("message/send", TEXT)
        agent.behaviour = plain(b"", 204)
        empty = await front.result("message/send", TEXT)
        states = []
        for status in (400, 404, 422, 500, 503):
            agent.behaviour = plain(b'{"detail":"canary-of-the-body"}', status)
            states.append(await front.result("message/send", TEXT))
        agent.behaviour = plain(b"", 302, b"location: http://127.0.0.1:9/")
        moved = await front.post({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": TEXT})
    assert found["artifacts"][0]["parts"] == [data({"echo": {"n": 1.5}})]
    assert asked["artifacts"][0]["parts"] == [data({"echo": "how are you?"})]
    assert as_text["artifacts"][0]["parts"] == [text("plain")]
    assert empty["status"]["state"] == "completed"
    assert "artifacts" not in empty
    assert [state["status"] for state in states] == [{"state": "failed"}] * 5
    assert "canary" not in json.dumps(states)
    assert moved.status == 502


@pytest.mark.rows("SOUND-01")
async def test_an_answer_that_a_service_sends_twice_reaches_no_other_call(tmp_path: Path) -> None:
    """Its answers have no ids, so a copy that comes after the next request cannot be told from that one's answer."""
    service = Doubling(lambda received: http_answer(received.body))
    routes = [{"skill": SKILL, "path": "/ask"}]
    async with before(tmp_path, service, "http", routes=routes, limits={"streaming": False}) as (front, _):
        for number, workspace in enumerate(["ws-1", "ws-1", "ws-2", "ws-1"]):
            claims = {"workspaceId": workspace}
            found = await front.result("message/send", message({"n": number}), claims=claims)
            assert found["artifacts"][0]["parts"] == [data({"n": number})]
    assert len(set(service.connections)) == len(service.received) == 4
