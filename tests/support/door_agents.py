"""Two Agents behind a door: what they do follows from the text or the object they are given."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from interop.door import BREAK, EARLY, HELLO, WAIT
from tests.support.agent import a_task, data, text
from tests.support.door import OpenDoor, running_door
from tests.support.loop import SPACE, open_skill, running_platform
from tests.support.peers import Received, hold
from tests.support.postgres import PostgresForTests
from tests.support.streaming_agent import HEAD, event_of, send_body, status, streamed, task

STREAMING = {"timeoutMs": 20_000, "maxInputBytes": 65_536, "maxOutputBytes": 1_048_576, "streaming": True}
CHAT = open_skill("chat", inputSchema={"type": "string"})
TYPED = open_skill("typed", inputSchema={"type": "object", "properties": {"n": {"type": "integer"}}})
PIECES = ("You ", "said: ", HELLO)


async def played(request: Received) -> None:
    """Answers, breaks, stops too early or waits, in either mode."""
    (part,) = request.json["params"]["message"]["parts"]
    word = part.get("text") or part["data"].get("do", HELLO)
    if request.json["method"] == "message/stream":
        await _stream(request, word)
    elif word == WAIT:
        await hold(request)
    elif word == BREAK:
        await a_task("failed")(request)
    elif word == EARLY:
        await a_task("working")(request)
    else:
        value = data(part["data"]) if "data" in part else text("".join(PIECES))
        await a_task("completed", [value])(request)


async def _stream(request: Received, word: str) -> None:
    pieces = [_piece(text, number) for number, text in enumerate(PIECES)]
    if word == BREAK:
        await streamed(task(), pieces[0], status("failed"))(request)
    elif word == EARLY:
        await streamed(task(), *pieces)(request)
    elif word == WAIT:
        await request.send(HEAD)
        await send_body(request, event_of(request, task()) + event_of(request, pieces[0]))
        await request.wait_for_leaving()
    else:
        await streamed(task(), *pieces, status("completed"))(request)


def _piece(words: str, number: int) -> dict[str, Any]:
    artifact = {"artifactId": "a", "parts": [text(words)]}
    ids = {"taskId": "task-7", "contextId": "ctx-1"}
    return {"kind": "artifact-update", **ids, "artifact": artifact, "append": number > 0}


@dataclass(frozen=True)
class A2AAgents:
    """Their addresses at the door."""

    door: OpenDoor
    chat: str
    """Streams, has one Skill, and that takes a text."""
    typed: str
    """Does not stream, and has two Skills."""


@asynccontextmanager
async def agents_at_door(postgres: PostgresForTests) -> AsyncIterator[A2AAgents]:
    """On a platform of their own."""
    urls = await postgres.new_platform()
    async with running_platform(urls) as platform, running_door(platform) as door:
        platform.agent.usual = (played,)
        chat, _, _ = await platform.installed(skills=[CHAT], limits=STREAMING)
        typed, _, _ = await platform.installed(skills=[TYPED, CHAT], limits={**STREAMING, "streaming": False})
        root = f"{door.unit.origin}/a2a/{SPACE}"
        yield A2AAgents(door, f"{root}/{chat['agentId']}", f"{root}/{typed['agentId']}")
    await postgres.drop(urls.migration.rpartition("/")[2])
