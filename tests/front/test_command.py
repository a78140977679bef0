"""`aop front` as a person runs it: one process before an Agent, from nothing but its address."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aop.agent.testing import SignedRouter
from aop.local.ports import any_free_port
from tests.agent.served import message_of
from tests.front import proto
from tests.front.played import PlayedAgent, plain
from tests.front.process import running_front, started
from tests.support.agent import a_message, chosen, data, rpc_error
from tests.support.authority import Authority
from tests.support.peers import Behaviour, Received, listening
from tests.support.waiting import becomes_true

pytestmark = pytest.mark.second_ring

SECRET = "canary-of-a-secret-77aa"
TEXT = message_of([{"kind": "text", "text": "hi"}])


def new_agent(url: str) -> Behaviour:
    """An Agent of A2A 1.0 alone: its agent card, no answer to A2A 0.3, a stream for every message."""
    interface = {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "north"}
    skill = {"id": "Chat!", "name": "Chat", "description": "Talks.", "tags": []}
    card = {
        "name": "New Agent",
        "description": "Speaks A2A 1.0.",
        "version": "2.1.0",
        "supportedInterfaces": [interface],
        "capabilities": {"streaming": True},
        "securitySchemes": {"key": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [skill],
    }

    def choose(request: Received) -> Behaviour:
        if request.verb == "GET":
            return plain(json.dumps(card).encode())
        answers = {
            "GetTask": rpc_error(-32001),
            "SendStreamingMessage": proto.streamed(proto.message({"text": "hello"})),
        }
        return answers.get(request.json["method"], rpc_error(-32601))

    return chosen(choose)


def require_own_names(agent: PlayedAgent) -> None:
    """The last request names Skill and tenant as the agent card does, though no Card may have such an id."""
    params = agent.received[-1].json["params"]
    assert (params["message"]["metadata"], params["tenant"]) == ({"skillId": "Chat!"}, "north")


async def service(request: Received) -> None:
    await request.answer(b'{"sum": 3}')


@pytest.mark.rows("FRONT-01", "FRONT-03")
async def test_an_agent_of_a2a_1_0_needs_its_address_alone_and_with_a_secret_a_settings_file(tmp_path: Path) -> None:
    port = any_free_port()
    origin = f"http://127.0.0.1:{port}"
    router = SignedRouter.new(origin, agent_id="acme:new-agent", agent_version="2.1.0")
    at = ("--listen", f"127.0.0.1:{port}", "--owner", "acme")
    agent = PlayedAgent(rpc_error(-32601))
    async with listening(agent.meet) as upstream:
        url = f"http://127.0.0.1:{upstream}/"
        agent.behaviour = agent.on_get = new_agent(url)
        running = {"agent_id": "acme:new-agent", "version": "2.1.0"}
        async with running_front(tmp_path, router, "--to", url, *at, **running) as (front, _):
            found = await front.result("message/send", TEXT)
            assert found["parts"] == [{"kind": "text", "text": "hello"}]
            require_own_names(agent)
        card = json.loads((tmp_path / "card.json").read_text())
        assert card["protocol"]["endpoint"] == f"{origin}/acme:new-agent/2.1.0"
        assert "next: aop publish card.json" in (tmp_path / "log").read_text()

        made = started(tmp_path, router, "init", "--to", url, *at)
        assert await _ended(made) == 0
        (tmp_path / "acme-new-agent.secret").write_text(SECRET)
        settings = json.loads((tmp_path / "front.json").read_text())
        assert settings["agents"][0]["authentication"] == {"type": "bearer", "secretFile": "acme-new-agent.secret"}
        assert (tmp_path / "front.json").stat().st_mode & 0o077 == 0
        async with running_front(tmp_path, router, "--settings", "front.json", **running) as (front, pid):
            await front.result("message/send", TEXT)
            require_own_names(agent)
            process = Path(f"/proc/{pid}")
            shown = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
    assert agent.received[-1].values("authorization") == [f"Bearer {SECRET}"]
    assert SECRET not in _written(tmp_path) + shown.decode("latin-1")


@pytest.mark.rows("FRONT-02")
async def test_one_command_makes_card_and_front_of_a_plain_http_service(tmp_path: Path) -> None:
    port = any_free_port()
    router = SignedRouter.new(f"http://127.0.0.1:{port}", agent_id="acme:sums")
    async with listening(service) as upstream:
        arguments = ("--to", f"http://127.0.0.1:{upstream}", "--http", "--route", "chat=/sum")
        named = ("--listen", f"127.0.0.1:{port}", "--owner", "acme", "--agent-id", "acme:sums")
        async with running_front(tmp_path, router, *arguments, *named, agent_id="acme:sums") as (front, _):
            found: dict[str, Any] = await front.result("message/send", message_of([data({"a": 1})]))
    assert found["artifacts"][0]["parts"] == [data({"sum": 3})]


async def test_an_agent_of_a_private_authority_needs_the_file_of_it(tmp_path: Path) -> None:
    port = any_free_port()
    router = SignedRouter.new(f"http://127.0.0.1:{port}", agent_id="acme:new-agent", agent_version="2.1.0")
    at = ("--listen", f"127.0.0.1:{port}", "--owner", "acme")
    running = {"agent_id": "acme:new-agent", "version": "2.1.0"}
    tls = Authority(tmp_path).server_context("127.0.0.1")
    agent = PlayedAgent(rpc_error(-32601))
    async with listening(agent.meet, tls=tls) as upstream:
        url = f"https://127.0.0.1:{upstream}/"
        agent.behaviour = agent.on_get = new_agent(url)
        assert await _ended(started(tmp_path, router, "--to", url, *at, SSL_CERT_FILE="")) == 3
        assert "--ca FILE or SSL_CERT_FILE" in (tmp_path / "log").read_text()
        # The agent card is read with the file, and so is the Agent called; a settings file names it for later.
        async with running_front(tmp_path, router, "--to", url, *at, "--ca", "roots.pem", **running) as (front, _):
            await front.result("message/send", TEXT)
        named = {"SSL_CERT_FILE": str(tmp_path / "roots.pem")}
        async with running_front(tmp_path, router, "--to", url, *at, **running, **named) as (front, _):
            await front.result("message/send", TEXT)
        assert await _ended(started(tmp_path, router, "init", "--to", url, *at, "--ca", "roots.pem")) == 0
        settings = json.loads((tmp_path / "front.json").read_text())
        assert settings["agents"][0]["tls"] == {"caFile": str(tmp_path / "roots.pem")}
        (tmp_path / "acme-new-agent.secret").write_text(SECRET)
        async with running_front(
            tmp_path, router, "--settings", "front.json", **running, SSL_CERT_FILE="/nowhere.pem"
        ) as (front, _):
            await front.result("message/send", TEXT)


async def test_a_wrong_command_says_what_is_wrong_in_a_line(tmp_path: Path) -> None:
    router = SignedRouter.new("http://127.0.0.1:8099")
    async with listening(a_message(data(1))) as upstream:
        for arguments, code, words in (
            (("--to", "http://127.0.0.1:9"), 3, "start the Agent"),
            (("--to", f"http://127.0.0.1:{upstream}"), 1, "--http"),
            (("--to", "ftp://x"), 2, "--to"),
            ((), 2, "--settings"),
            (("--settings", "absent.json"), 78, "cannot be read"),
        ):
            assert await _ended(started(tmp_path, router, *arguments)) == code
            log = (tmp_path / "log").read_text()
            assert words in log
            assert "Traceback" not in log


def _written(folder: Path) -> str:
    """All that the commands wrote: Cards, settings and the last log."""
    return "".join(path.read_text() for path in folder.glob("*") if path.is_file() and path.suffix != ".secret")


async def _ended(process: subprocess.Popen[bytes]) -> int:
    """Its exit code; the loop goes on, because the Agent it asks runs there."""

    async def is_over() -> bool:
        return process.poll() is not None

    await becomes_true(is_over)
    return int(process.returncode)
