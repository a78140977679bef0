"""An Agent on AgentServer behind a real socket, and a caller that speaks JSON-RPC to it as the Router would."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from aop.agent import AgentContext, AgentServer, AgentSettings, AgentSkill, SkillFunction, TaskLimits
from aop.agent.testing import SignedRouter
from aop.contracts.card import AgentCard
from aop.net.http import Answer, HttpClient, Target
from aop.net.server import HttpServer, listening_socket
from aop.net.sse import EventParser
from tests.agent.agents import ask
from tests.support.cards import a_card, a_skill
from tests.support.waiting import PATIENCE_SECONDS

PATH = "/a2a"


async def echo(values: dict[str, Any], context: AgentContext) -> dict[str, Any]:
    return values


def card_for(skills: Mapping[str, object], **limits: Any) -> AgentCard:
    plain = a_card(
        skills=[a_skill(skill_id) for skill_id in skills],
        limits={"timeoutMs": 60_000, "maxInputBytes": 65_536, "maxOutputBytes": 65_536, "streaming": True} | limits,
    )
    plain["protocol"] = {**plain["protocol"], "endpoint": f"http://127.0.0.1:8099{PATH}"}
    return msgspec.json.decode(json.dumps(plain), type=AgentCard)


def message(data: object, **members: Any) -> dict[str, Any]:
    return message_of([{"kind": "data", "data": data}], **members)


def message_of(parts: list[dict[str, Any]], **members: Any) -> dict[str, Any]:
    return {"message": {"kind": "message", "messageId": "m-1", "role": "user", "parts": parts, **members}}


BLOCKING = {"configuration": {"blocking": True}}


@dataclass
class ServedAgent:
    router: SignedRouter
    port: int
    client: HttpClient
    skill: str
    path: str = PATH

    async def post(self, body: object, **options: Any) -> Answer:
        draft = self.router.draft(body, capability=options.pop("skill", self.skill))
        draft.claims |= options.pop("claims", {})
        request = draft.signed()
        headers = [line for line in request.headers if line[0] != b"content-type"]
        headers.append((b"content-type", options.pop("content_type", b"application/json")))
        return await ask(self.client, self.port, "POST", options.pop("path", self.path), headers, request.body)

    async def rpc(self, method: str, params: object, **options: Any) -> dict[str, Any]:
        """The whole response, whose id is the one of the request."""
        answer = await self.post({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}, **options)
        assert answer.status == 200
        found: dict[str, Any] = json.loads(answer.body)
        assert (found["jsonrpc"], found["id"]) == ("2.0", 7)
        return found

    async def result(self, method: str, params: object, **options: Any) -> dict[str, Any]:
        found: dict[str, Any] = (await self.rpc(method, params, **options))["result"]
        return found

    async def code(self, method: str, params: object, **options: Any) -> int:
        """The code of the JSON-RPC error."""
        return int((await self.rpc(method, params, **options))["error"]["code"])

    async def state(self, task_id: str) -> str:
        return str((await self.result("tasks/get", {"id": task_id}))["status"]["state"])

    async def events(self, method: str, params: object) -> AsyncGenerator[dict[str, Any], None]:
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        request = self.router.request(body, capability=self.skill, stream=True)
        target, deadline = self.target, asyncio.get_running_loop().time() + PATIENCE_SECONDS
        parser = EventParser(1_048_576)
        async with self.client.stream(
            target, "POST", self.path, headers=request.headers, body=request.body, deadline=deadline, max_body=8_388_608
        ) as answer:
            assert answer.headers_named(b"content-type") == [b"text/event-stream"]
            async for piece in answer:
                for event in parser.feed(piece):
                    yield json.loads(event)["result"]

    @property
    def target(self) -> Target:
        return Target("http", "127.0.0.1", self.port, "127.0.0.1")


@asynccontextmanager
async def served_agent(
    folder: Path,
    skills: Mapping[str, SkillFunction | AgentSkill],
    *,
    limits: TaskLimits | None = None,
    **card_limits: Any,
) -> AsyncIterator[ServedAgent]:
    listener = listening_socket("127.0.0.1", 0)
    port = listener.getsockname()[1]
    router = SignedRouter.new(f"http://127.0.0.1:{port}")
    settings = AgentSettings.from_environment(router.environment(folder))
    agent = AgentServer(card_for(skills, **card_limits), skills, limits)
    server = HttpServer(agent.application(settings))
    client = HttpClient(idle_seconds=5, connect_seconds=PATIENCE_SECONDS)
    try:
        await server.start([listener])
        yield ServedAgent(router, port, client, next(iter(skills)))
    finally:
        await client.close()
        await server.stop(1)
