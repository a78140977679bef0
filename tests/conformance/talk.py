"""Speaks A2A to a running sample Agent as the Router would, for one capability."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import msgspec

from aop.a2a.v0_3 import Message, Task
from aop.net.http import Answer, HttpClient, Target
from aop.net.sse import EventParser
from tests.agent.agents import ask
from tests.agent.samples import RunningSample
from tests.support import profile
from tests.support.waiting import PATIENCE_SECONDS

ID = "7"


def data(value: object) -> list[dict[str, Any]]:
    return [{"kind": "data", "data": value}]


def text(value: str) -> list[dict[str, Any]]:
    return [{"kind": "text", "text": value}]


def rpc(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ID, "method": method, "params": params}


def message(parts: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"message": {"kind": "message", "messageId": "m", "role": "user", "parts": parts, **more}}


@dataclass(frozen=True)
class Talk:
    sample: RunningSample
    client: HttpClient
    capability: str

    async def post(self, body: object) -> Answer:
        """The answer to any body, signed."""
        request = self.sample.router.request(body, capability=self.capability)
        return await ask(self.client, self.sample.port, "POST", "/", request.headers, request.body)

    async def call(self, method: str, params: dict[str, Any]) -> msgspec.Raw:
        answer = await self.post(rpc(method, params))
        assert answer.status == 200
        return profile.rpc_result(answer.body, ID)

    async def send(self, parts: list[dict[str, Any]], *, blocking: bool = True, **more: Any) -> Message | Task:
        params = message(parts, **more) | {"configuration": {"blocking": blocking}}
        return profile.message_or_task(await self.call("message/send", params))

    async def task(self, parts: list[dict[str, Any]], **more: Any) -> Task:
        found = await self.send(parts, **more)
        assert isinstance(found, Task)
        return found

    async def events(self, skill_input: object) -> AsyncGenerator[msgspec.Raw, None]:
        """The results of one stream; closing the iterator is leaving it."""
        async for event in self.frames(rpc("message/stream", message(data(skill_input)))):
            yield profile.rpc_result(event, ID)

    async def frames(self, body: object) -> AsyncGenerator[bytes, None]:
        request = self.sample.router.request(body, capability=self.capability, stream=True)
        parser, deadline = EventParser(1_048_576), asyncio.get_running_loop().time() + PATIENCE_SECONDS
        target = Target("http", "127.0.0.1", self.sample.port, "127.0.0.1")
        async with self.client.stream(
            target, "POST", "/", headers=request.headers, body=request.body, deadline=deadline, max_body=8_388_608
        ) as answer:
            assert answer.status == 200
            assert [kind.partition(b";")[0] for kind in answer.headers_named(b"content-type")] == [b"text/event-stream"]
            async for piece in answer:
                for event in parser.feed(piece):
                    yield event
