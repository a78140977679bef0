"""AgentServer keeps the rules of JSON-RPC and HTTP, and serves its card with the security scheme of the platform."""

import json
from pathlib import Path
from typing import Any

import pytest

from aop.agent import AgentServer
from aop.agent.check.a2a_card import read_agent_card
from aop.agent.server.skills import SkillsMismatch
from aop.contracts.documents import document
from tests.agent.agents import ask
from tests.agent.served import BLOCKING, PATH, ServedAgent, card_for, echo, message, message_of, served_agent

SKILLS = {"echo": echo}


async def refusal(agent: ServedAgent, body: object) -> tuple[Any, int]:
    """The id and the code of the error that answers the body."""
    answer = await agent.post(body)
    found = json.loads(answer.body)
    assert (answer.status, found["jsonrpc"]) == (200, "2.0")
    return found["id"], found["error"]["code"]


@pytest.mark.parametrize(
    ("body", "request_id", "code"),
    [
        (b"{", None, -32700),
        (b"", None, -32700),
        (b'{"id":1,"id":2}', None, -32700),
        (b"[" * 200 + b"]" * 200, None, -32700),
        (b"[]", None, -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"x"}}]', None, -32600),
        (b'"text"', None, -32600),
        ({"jsonrpc": "1.0", "id": "a", "method": "tasks/get"}, "a", -32600),
        ({"jsonrpc": "2.0", "id": 5}, 5, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "tasks/get"}, None, -32600),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "tasks/get"}, None, -32600),
        ({"jsonrpc": "2.0", "id": {}, "method": "tasks/get"}, None, -32600),
        ({"jsonrpc": "2.0", "method": "tasks/none"}, None, -32601),
        ({"jsonrpc": "2.0", "id": "a", "method": "tasks/none"}, "a", -32601),
        ({"jsonrpc": "2.0", "id": None, "method": "tasks/get", "params": {"id": "x"}}, None, -32001),
        ({"jsonrpc": "2.0", "id": 0, "method": "tasks/get", "params": [1]}, 0, -32602),
        ({"jsonrpc": "2.0", "id": 0, "method": "tasks/get"}, 0, -32602),
    ],
)
async def test_a_broken_request_gets_its_error_with_the_id_it_had(
    tmp_path: Path, body: object, request_id: object, code: int
) -> None:
    async with served_agent(tmp_path, SKILLS) as agent:
        assert await refusal(agent, body) == (request_id, code)


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("message/send", {}, -32602),
        ("message/send", message({}, role="agent"), -32602),
        ("message/send", message({}, messageId=""), -32602),
        ("message/send", {"message": {"kind": "message", "messageId": "m", "role": "user", "parts": []}}, -32602),
        ("message/send", message_of([{"kind": "video", "video": 1}]), -32602),
        ("message/send", message({}, taskId="none"), -32001),
        ("message/send", message({}) | {"configuration": {"acceptedOutputModes": ["image/png"]}}, -32005),
        ("message/send", message({}) | {"configuration": {"pushNotificationConfig": {"url": "http://x"}}}, -32003),
        ("message/send", message({}) | {"configuration": {"historyLength": -1}}, -32602),
        ("tasks/get", {"id": "none"}, -32001),
        ("tasks/cancel", {"id": "none"}, -32001),
        ("tasks/pushNotificationConfig/set", {}, -32003),
        ("agent/getAuthenticatedExtendedCard", {}, -32007),
    ],
)
async def test_a_call_the_agent_cannot_serve_gets_the_code_of_a2a(
    tmp_path: Path, method: str, params: object, code: int
) -> None:
    async with served_agent(tmp_path, SKILLS) as agent:
        assert await agent.code(method, params) == code


@pytest.mark.parametrize(
    ("method", "params"), [("tasks/resubscribe", {"id": "none"}), ("message/stream", message({}, taskId="none"))]
)
async def test_a_follower_of_a_task_that_is_gone_reads_the_error_as_an_event(
    tmp_path: Path, method: str, params: object
) -> None:
    async with served_agent(tmp_path, SKILLS) as agent:
        answer = await agent.post({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
        assert (answer.status, answer.headers_named(b"content-type")) == (200, [b"text/event-stream"])
        error = json.loads(answer.body.removeprefix(b"data: "))
        assert (error["id"], error["error"]["code"]) == (7, -32001)


@pytest.mark.parametrize("method", ["message/stream", "tasks/resubscribe"])
async def test_an_agent_whose_card_declares_no_streaming_refuses_streams(tmp_path: Path, method: str) -> None:
    async with served_agent(tmp_path, SKILLS, streaming=False) as agent:
        assert await agent.code(method, message({}) | {"id": "x"}) == -32004


async def test_a_body_of_another_media_type_is_refused(tmp_path: Path) -> None:
    async with served_agent(tmp_path, SKILLS) as agent:
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": message({"a": 1}) | BLOCKING}
        assert (await agent.post(body, content_type=b"text/plain")).status == 415
        assert (await agent.post(body, content_type=b"application/json; charset=utf-8")).status == 200


async def test_only_the_path_of_the_card_takes_calls_and_only_by_post(tmp_path: Path) -> None:
    async with served_agent(tmp_path, SKILLS) as agent:
        assert (await agent.post(b"{}", path="/other")).status == 404
        request = agent.router.request(b"")
        answer = await ask(agent.client, agent.port, "GET", PATH, request.headers)
        assert (answer.status, answer.headers_named(b"allow")) == (405, [b"POST"])


async def test_the_public_card_declares_the_credential_the_skills_and_the_capabilities(tmp_path: Path) -> None:
    async with served_agent(tmp_path, SKILLS) as agent:
        answer = await ask(agent.client, agent.port, "GET", "/.well-known/agent-card.json")
        card = json.loads(answer.body)
        assert card["url"] == f"http://127.0.0.1:{agent.port}{PATH}"
        assert card["protocolVersion"] == "0.3.0"
        assert card["capabilities"]["streaming"] is True
        (extension,) = card["capabilities"]["extensions"]
        assert document("agent-id-extension/1").violations(extension) == ()
        assert read_agent_card(card).agent_id == card_for(SKILLS).agent_id
        assert [skill["id"] for skill in card["skills"]] == ["echo"]
        (scheme,) = card["security"]
        assert [card["securitySchemes"][name]["scheme"] for name in scheme] == ["bearer"]


async def test_health_needs_no_credential_and_a_call_does(tmp_path: Path) -> None:
    async with served_agent(tmp_path, SKILLS) as agent:
        for path in ("/livez", "/readyz"):
            assert (await ask(agent.client, agent.port, "GET", path)).status == 200
        assert (await ask(agent.client, agent.port, "POST", PATH, body=b"{}")).status == 401


async def _one_argument(values: dict[str, Any]) -> None: ...


@pytest.mark.parametrize("skills", [{}, {"echo": echo, "more": echo}, {"other": echo}, {"echo": _one_argument}])
def test_functions_that_do_not_match_the_card_are_refused_at_once(skills: dict[str, Any]) -> None:
    with pytest.raises(SkillsMismatch):
        AgentServer(card_for(SKILLS), skills)
