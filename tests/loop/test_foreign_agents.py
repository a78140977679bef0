"""An ordinary server of a2a-sdk 0.3, as its documentation writes one, works behind the platform as it is."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import pytest_asyncio

from aop.local.ports import any_free_port
from tests.support.loop import Changes, Platform, open_skill, running_platform
from tests.support.nested import ANY_PORT
from tests.support.postgres import PostgresForTests
from tests.support.stream import require_agreement, streaming
from tests.support.units import Reply
from tests.support.waiting import PATIENCE_SECONDS, becomes_true
from tools.agent_env import agent_python

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]
ALLOWED = {"PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON": ANY_PORT}
CANARY = "canary-of-the-agent"
PROGRAM = """
import sys
import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TextPart
from a2a.utils import new_task

def text(words):
    return [Part(root=TextPart(text=words))]

class Words(AgentExecutor):
    async def execute(self, context, event_queue):
        task = context.current_task or new_task(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work(updater.new_agent_message(text("on it")))
        said = context.get_user_input()
        if said == "ask":
            await updater.requires_input(updater.new_agent_message(text("canary-of-the-agent?")), final=True)
        elif said == "sign in":
            await updater.requires_auth(updater.new_agent_message(text("canary-of-the-agent!")), final=True)
        elif said == "fail":
            await updater.failed(updater.new_agent_message(text("canary-of-the-agent")))
        else:
            for word in said.split():
                await updater.add_artifact(text(word))
            await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()

port = int(sys.argv[1])
skill = AgentSkill(id="work", name="Words", description="Says the words again.", tags=["words"])
card = AgentCard(name="Words", description="Says the words again.", url=f"http://127.0.0.1:{port}/", version="1.0.0",
                 capabilities=AgentCapabilities(streaming=True), skills=[skill],
                 default_input_modes=["text"], default_output_modes=["text"])
handler = DefaultRequestHandler(agent_executor=Words(), task_store=InMemoryTaskStore())
uvicorn.run(A2AStarletteApplication(card, handler).build(), port=port, log_level="error")
"""


@contextmanager
def a2a_sdk_server(port: int) -> Iterator[subprocess.Popen[bytes]]:
    """In the environment of a sample Agent, which has this SDK; nothing of the platform is loaded."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}  # noqa: TID251
    command = [str(agent_python("action-items")), "-c", PROGRAM, str(port)]
    process = subprocess.Popen(command, env=inherited, stdout=sys.stderr, stderr=sys.stderr)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def foreign(postgres: PostgresForTests) -> AsyncIterator[tuple[Platform, str]]:
    """A platform, and the id of the foreign Agent installed there."""
    port = any_free_port()
    changes = Changes(control_plane=ALLOWED, router=ALLOWED)
    with a2a_sdk_server(port) as process:
        async with running_platform(await postgres.new_platform(), changes) as platform:

            async def listens() -> bool:
                assert process.poll() is None, "the server ended"
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    return False
                writer.close()
                return True

            protocol = {**platform.card["protocol"], "endpoint": f"http://127.0.0.1:{port}/"}
            card, _, _ = await platform.installed(
                protocol=protocol, skills=[open_skill(inputSchema={"type": "string"})]
            )
            await becomes_true(listens, 60)
            yield platform, card["agentId"]


async def in_both_modes(foreign: tuple[Platform, str], said: str) -> tuple[Reply, list[Any], dict[str, Any]]:
    """The JSON reply; the chunks and the terminal event of the stream."""
    platform, agent = foreign
    content = json.dumps(said).encode()
    reply = await platform.invoke(content, agentId=agent)
    async with streaming(platform, content, agentId=agent) as caller:
        terminal = await caller.whole()
    await require_agreement(platform, caller)
    assert CANARY.encode() not in reply.body + caller.body
    return reply, caller.chunks, terminal


@pytest.mark.rows("FOR-01", "FOR-03")
async def test_artifacts_as_the_sdk_documents_them_arrive_in_both_modes(foreign: tuple[Platform, str]) -> None:
    reply, chunks, terminal = await in_both_modes(foreign, "two days in Ghent")
    assert (reply.status, reply.json["result"]) == (200, "twodaysinGhent")  # pieces of text are one text
    assert (terminal["type"], chunks) == ("completed", ["two", "days", "in", "Ghent"])
    platform, agent = foreign
    assert (await platform.invoke(b"{}", agentId=agent)).status == 400


@pytest.mark.rows("FOR-04", "REAS-02")
@pytest.mark.parametrize(
    ("said", "reason"), [("ask", "input_required"), ("sign in", "auth_required"), ("fail", "task_failed")]
)
async def test_an_agent_that_asks_or_fails_gives_the_same_reason_in_both_modes(
    foreign: tuple[Platform, str], said: str, reason: str
) -> None:
    reply, chunks, terminal = await in_both_modes(foreign, said)
    await foreign[0].require_failed(reply, 502, "AGENT_EXECUTION_FAILED")
    assert (reply.json["reason"], chunks) == (reason, [])
    told = terminal["error"]
    assert (told["code"], told["reason"]) == ("AGENT_EXECUTION_FAILED", reason)
