"""The checks for authors notice what is wrong with an Agent: each defect fails the row that names it."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aop.agent import AgentSettings, guarded
from aop.agent.check.check import AgentCheck, Subject
from aop.agent.testing import SignedRouter
from aop.contracts.card import AgentCard
from aop.net.asgi import ASGIApp, Receive, Scope, Send
from aop.net.origin import Endpoint
from aop.net.server import HttpServer, listening_socket
from tests.support.cards import a_card, a_skill

SKILL = a_skill("echo", inputSchema={"type": "object", "examples": [{"text": "hi"}]}, outputSchema={"type": "object"})
TASK = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed"}, "artifacts": []}
Answers = Callable[[str, dict[str, Any]], dict[str, Any]]


def good(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """An Agent without any framework: answers with messages, knows no task."""
    if method == "message/send":
        data = params["message"]["parts"][0].get("data", {})
        part = {"kind": "data", "data": data}
        return {"result": {"kind": "message", "messageId": "m", "role": "agent", "parts": [part]}}
    return {"error": {"code": -32001 if method in {"tasks/get", "tasks/cancel"} else -32601, "message": "no"}}


PAGE = b'{"name": "Echo", "url": "http://127.0.0.1/", "skills": []}'


def app_of(answers: Answers, page: bytes = PAGE) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        said = page
        if scope["method"] != "GET":
            request = json.loads((await receive())["body"] or b"{}")
            answer = answers(request.get("method", ""), request.get("params", {}))
            said = json.dumps({"jsonrpc": "2.0", "id": request.get("id")} | answer).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": said})

    return app


@asynccontextmanager
async def failed_rows(
    folder: Path, app: ASGIApp, *, behind_guard: bool = True, skill: dict[str, Any] = SKILL, result: type = dict
) -> AsyncIterator[dict[str, str]]:
    card = a_card(skills=[skill], limits={**a_card()["limits"], "streaming": False})
    read_card = msgspec.json.decode(json.dumps(card), type=AgentCard)
    listener = listening_socket("127.0.0.1", 0)
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    router = SignedRouter.new(origin)
    settings = AgentSettings.from_environment(router.environment(folder))
    server = HttpServer(guarded(app, settings) if behind_guard else app)
    subject = Subject(Endpoint.parse(origin), read_card, {}, lambda _, value: isinstance(value, result))
    try:
        await server.start([listener])
        findings = [finding async for finding in AgentCheck(subject, router).results()]
        yield {finding.name: finding.problem for finding in findings if finding.problem is not None}
    finally:
        await server.stop(1)


async def test_a_plain_agent_behind_the_guard_passes(tmp_path: Path) -> None:
    async with failed_rows(tmp_path, app_of(good)) as failed:
        assert failed == {}


async def test_a_skill_that_takes_a_text_is_tried_with_a_text_part(tmp_path: Path) -> None:
    def reads_text(method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "message/send" and "text" not in params["message"]["parts"][0]:
            return {"error": {"code": -32602, "message": "no text"}}
        return good(method, params)

    skill = a_skill("echo", inputSchema={"type": "string", "examples": ["hi"]}, outputSchema={"type": "object"})
    async with failed_rows(tmp_path, app_of(reads_text), skill=skill) as failed:
        assert failed == {}


@pytest.mark.rows("SOUND-10")
@pytest.mark.parametrize(("result", "is_found"), [(str, True), (list, True), (dict, False)])
async def test_several_texts_are_tried_as_one_string_and_as_an_array(
    tmp_path: Path, result: type, is_found: bool
) -> None:
    said = {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "a"}] * 2}
    async with failed_rows(tmp_path, app_of(changed("message/send", {"result": said})), result=result) as failed:
        assert ("echo: message/send gives a result" not in failed) is is_found


@pytest.mark.parametrize("page", [b'{"name":"caf\xe9"}', b'{"name":%b%b}' % (b"[" * 9_000, b"]" * 9_000), b"<p>"])
async def test_a_public_card_that_cannot_be_read_fails_its_row(tmp_path: Path, page: bytes) -> None:
    async with failed_rows(tmp_path, app_of(good, page)) as failed:
        assert set(failed) == {"serves its public card"}


async def test_an_agent_without_guard_fails_every_rejection(tmp_path: Path) -> None:
    async with failed_rows(tmp_path, app_of(good), behind_guard=False) as failed:
        assert len([name for name in failed if name.startswith("rejects: ")]) > 70
        assert "serves no proof for an unknown challenge" in failed


def changed(method: str, answer: dict[str, Any]) -> Answers:
    return lambda asked, params: answer if asked == method else good(asked, params)


@pytest.mark.parametrize(
    ("method", "answer", "row"),
    [
        ("tasks/get", {"result": TASK}, "tasks/get of an unknown task: -32001"),
        ("tasks/cancel", {"error": {"code": -32603, "message": ""}}, "tasks/cancel of an unknown task: -32001"),
        ("tasks/none", {"result": None}, "unknown method: JSON-RPC error -32601"),
        ("message/send", {"result": {"kind": "message"}}, "echo: message/send gives a result"),
        ("message/send", {"result": TASK, "id": 5}, "echo: message/send gives a result"),
        ("message/send", {"result": {**TASK, "status": {"state": "failed"}}}, "echo: message/send gives a result"),
        ("message/send", {"error": {"code": -32603, "message": ""}}, "echo: message/send gives a result"),
    ],
)
async def test_a_defect_fails_the_row_that_names_it(
    tmp_path: Path, method: str, answer: dict[str, Any], row: str
) -> None:
    async with failed_rows(tmp_path, app_of(changed(method, answer))) as failed:
        assert row in failed


async def test_a_result_that_breaks_the_output_schema_fails(tmp_path: Path) -> None:
    part = {"kind": "text", "text": "no object"}
    answer = {"result": {"kind": "message", "messageId": "m", "role": "agent", "parts": [part]}}
    async with failed_rows(tmp_path, app_of(changed("message/send", answer))) as failed:
        assert failed == {"echo: message/send gives a result": "the value breaks the outputSchema"}
