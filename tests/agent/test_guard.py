"""The guard passes an authentic request on unchanged, bounds what it reads, and leaves the open paths alone."""

import asyncio
import logging
from pathlib import Path

import pytest

from aop.agent import AgentSettings, Guard, ProofPage, ReplayMemory, Verifier
from aop.agent.call.calls import NestedCalls
from aop.agent.testing import SignedRouter
from aop.net.asgi import Message
from aop.net.http import HttpError
from tests.agent.agents import RunningAgent, Watched, require_rejection, running_agent
from tests.support.waiting import patience, promptly

BODY = b'{"jsonrpc": "2.0",  "id":"1"}'


async def test_the_agent_gets_the_exact_body_and_the_context_but_not_the_credential(tmp_path: Path) -> None:
    async with running_agent(tmp_path) as agent:
        draft = agent.router.draft(BODY, capability="draft", parent="inv_parent")
        assert (await agent.send(draft.signed(), "/a2a")).body == b'{"path": "/a2a"}'
        assert agent.app.bodies == [BODY]
        context = agent.app.contexts[0]
        assert (context.invocation_id, context.capability) == (draft.claims["invocationId"], "draft")
        assert (context.parent_invocation_id, context.workspace_id) == ("inv_parent", "workspace-under-test")
        assert (context.trace_id, context.root_task_id) == (draft.claims["traceId"], draft.claims["rootTaskId"])
        assert not {b"authorization", b"x-platform-delegation"} & {name for name, _ in agent.app.headers[0]}


async def test_the_delegation_shows_in_no_text_of_the_context(tmp_path: Path) -> None:
    async with running_agent(tmp_path) as agent:
        draft = agent.router.draft(BODY)
        await agent.send(draft.signed())
        assert draft.delegation is not None
        shown = f"{agent.app.contexts[0]!r} {agent.app.contexts[0]}"
        assert "delegation" not in shown
        assert draft.delegation not in shown
        assert draft.delegation.split(".")[2] not in shown


async def test_a_body_over_the_limit_is_forbidden_before_it_is_read(tmp_path: Path) -> None:
    async with running_agent(tmp_path, max_body=64) as agent:
        require_rejection(await agent.send(agent.router.request(b"x" * 65)), 403)
        assert (await agent.send(agent.router.request(b"x" * 64))).status == 200
        assert agent.app.bodies == [b"x" * 64]


async def test_an_undeclared_body_over_the_limit_is_forbidden(tmp_path: Path) -> None:
    async with running_agent(tmp_path, max_body=64) as agent:
        request = agent.router.request(b"x" * 65)
        head = [f"{name.decode()}: {value.decode()}" for name, value in request.headers]
        lines = ["POST / HTTP/1.1", "host: a", "transfer-encoding: chunked", *head, "", "41", "x" * 65, "0", "", ""]
        assert b"403 Forbidden" in await _exchange(agent, "\r\n".join(lines).encode(), b"FORBIDDEN")
        assert agent.app.bodies == []


async def test_a_body_that_comes_too_late_is_forbidden_and_burns_no_jti(tmp_path: Path) -> None:
    async with running_agent(tmp_path, body_seconds=0.1) as agent:
        request = agent.router.request(BODY)
        head = [f"{name.decode()}: {value.decode()}" for name, value in request.headers]
        lines = ["POST / HTTP/1.1", "host: a", f"content-length: {len(BODY)}", *head, "", BODY.decode()[:-1]]
        assert b"403 Forbidden" in await _exchange(agent, "\r\n".join(lines).encode(), b"FORBIDDEN")
        assert (await agent.send(request)).status == 200


async def test_a_stranger_is_rejected_before_any_byte_of_the_body(tmp_path: Path) -> None:
    async with running_agent(tmp_path) as agent:
        head = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n"
        assert b"401 Unauthorized" in await _exchange(agent, head, b"UNAUTHENTICATED")


async def test_the_departure_of_the_caller_reaches_the_agent(tmp_path: Path) -> None:
    async with running_agent(tmp_path) as agent:
        agent.app.waits_for_departure = True
        call = asyncio.create_task(agent.send(agent.router.request(BODY)))
        async with promptly(2):
            await agent.app.started.wait()
        call.cancel()
        with pytest.raises((asyncio.CancelledError, HttpError)):
            await call
        async with promptly(2):
            await agent.app.departed.wait()


async def test_the_open_paths_need_no_credential_for_reads(tmp_path: Path) -> None:
    async with running_agent(tmp_path) as agent:
        for path in ("/.well-known/agent-card.json", "/livez", "/readyz"):
            assert (await agent.ask("GET", path)).status == 200
            require_rejection(await agent.ask("POST", path, body=b"{}"), 401)
        for path in ("/.well-known/agent-card.json/", "/livez/x", "//livez", "/.well-known/agent.json"):
            require_rejection(await agent.ask("GET", path), 401)
        assert agent.app.contexts == []


@pytest.mark.parametrize("kind", ["memory", "directory"])
async def test_the_proof_page_serves_the_exact_bytes(tmp_path: Path, kind: str) -> None:
    page = ProofPage()
    page.put("chal_1", "a" * 64)
    (tmp_path / "chal_1").write_text("a" * 64)
    async with running_agent(tmp_path, proofs=page if kind == "memory" else None) as agent:
        path = "/.well-known/platform/challenges/chal_1"
        answer = await agent.ask("GET", path)
        assert (answer.status, answer.body, answer.header(b"content-type")) == (200, b"a" * 64, b"text/plain")
        page.remove("chal_1")
        (tmp_path / "chal_1").unlink()
        assert (await agent.ask("GET", path)).status == 404
        assert "a" * 64 not in repr(page)


async def test_the_proof_page_follows_no_path_and_no_link_out_of_its_directory(tmp_path: Path) -> None:
    folder = tmp_path / "proofs"
    (folder / "inner").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (folder / "inner" / "deep").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / ".hidden").write_text("secret")
    (folder / "large").write_text("x" * 4097)
    async with running_agent(folder) as agent:
        for name in (
            "../secret",
            "%2e%2e%2fsecret",
            "..%2fsecret",
            "inner",
            "inner/deep",
            "link",
            ".hidden",
            "large",
            "",
        ):
            answer = await agent.ask("GET", f"/.well-known/platform/challenges/{name}")
            assert (answer.status, answer.body) == (404, b""), name


async def test_a_websocket_is_refused(tmp_path: Path) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    app, router = Watched(), SignedRouter.new("http://127.0.0.1:8099")
    settings = AgentSettings.from_environment(router.environment(tmp_path))
    guard = Guard(app, Verifier(settings.trust, ReplayMemory()), NestedCalls(settings.router_url), ProofPage())
    await guard({"type": "websocket", "path": "/", "headers": []}, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]
    assert app.contexts == []


async def test_nothing_secret_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with running_agent(tmp_path) as agent:
        draft = agent.router.draft(BODY)
        for _ in range(2):
            await agent.send(draft.signed())
    assert draft.token() not in caplog.text
    assert draft.claims["jti"] not in caplog.text


async def _exchange(agent: RunningAgent, request: bytes, until: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", agent.port)
    writer.write(request)
    answer = b""
    async with patience():
        while until not in answer:
            piece = await reader.read(4096)
            if not piece:
                break
            answer += piece
    writer.close()
    return answer
