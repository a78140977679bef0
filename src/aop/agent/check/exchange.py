"""Speaks A2A to the Agent under check as the Router would, and demands the form that every answer must have."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable
from typing import Any, Final

import msgspec

from aop.a2a.answers import (
    STREAM_KINDS,
    Result,
    parse_strict,
    read_response,
    read_result,
    require_media_type,
    require_plain,
)
from aop.agent.call.calls import target_of
from aop.agent.guard.guard import REJECTIONS
from aop.agent.testing import SignedRequest, SignedRouter
from aop.base.ids import new_request_id
from aop.contracts.card import Skill
from aop.net.http import Answer, HttpClient, StreamedAnswer, Target
from aop.net.origin import Endpoint
from aop.net.sse import EventParser

_MAX_BODY: Final = 8 * 1024 * 1024
_MAX_EVENT: Final = 1024 * 1024

Write = Callable[[str], bytes]
"""Writes a request with this id."""


class CheckFailed(Exception):
    """What the Agent did wrong, for its author to read."""


def require(holds: bool, problem: str) -> None:
    if not holds:
        raise CheckFailed(problem)


def require_rejection(answer: Answer, status: int) -> None:
    require(answer.status == status, f"status {answer.status} instead of {status}")
    require(answer.body == REJECTIONS[status], "the body is not the fixed rejection")
    require(answer.headers_named(b"cache-control") == [b"no-store"], "no `Cache-Control: no-store`")
    challenge = [b"Bearer"] if status == 401 else []
    require(answer.headers_named(b"www-authenticate") == challenge, "`WWW-Authenticate: Bearer` belongs to 401 alone")
    require_media_type(answer.headers_named(b"content-type"), b"application/json")


def _require_answer(answer: Answer | StreamedAnswer, media_type: bytes) -> None:
    require(answer.status == 200, f"status {answer.status} instead of 200")
    require_plain(answer.headers_named(b"content-encoding"))
    require_media_type(answer.headers_named(b"content-type"), media_type)


def example(skill: Skill) -> bytes | None:
    examples = msgspec.json.decode(skill.input_schema, type=dict[str, Any]).get("examples")
    return msgspec.json.encode(examples[0]) if isinstance(examples, list) and examples else None


class AgentExchange:
    """Signed requests to one Agent, each within the same bound of time."""

    def __init__(
        self, endpoint: Endpoint, router: SignedRouter, seconds: float, tls: ssl.SSLContext | None = None
    ) -> None:
        self._endpoint = endpoint
        self._router = router
        self._seconds = seconds
        self._client = HttpClient(idle_seconds=2, connect_seconds=5, tls=tls)

    async def close(self) -> None:
        await self._client.close()

    async def get(self, path: str) -> Answer:
        return await self._request("GET", path, SignedRequest([], b""))

    async def post(self, request: SignedRequest) -> Answer:
        return await self._request("POST", self._endpoint.path, request)

    async def call(self, write: Write, capability: str = "capability") -> bytes:
        """The result of one request, of any kind; AgentFault when there is none."""
        request_id = new_request_id()
        answer = await self.post(self._router.request(write(request_id), capability=capability))
        _require_answer(answer, b"application/json")
        parse_strict(answer.body)
        return read_response(answer.body, request_id)

    async def stream(self, write: Write, capability: str) -> AsyncGenerator[Result, None]:
        """The results of one message/stream, as they come."""
        request_id = new_request_id()
        request = self._router.request(write(request_id), capability=capability, stream=True)
        parser = EventParser(_MAX_EVENT)
        async with self._client.stream(
            await self._target(),
            "POST",
            self._endpoint.path,
            headers=request.headers,
            body=request.body,
            deadline=self._deadline(),
            max_body=_MAX_BODY,
        ) as answer:
            _require_answer(answer, b"text/event-stream")
            async for piece in answer:
                for event in parser.feed(piece):
                    yield read_result(event, request_id, STREAM_KINDS)

    async def _request(self, method: str, path: str, request: SignedRequest) -> Answer:
        return await self._client.request(
            await self._target(),
            method,
            path,
            headers=request.headers,
            body=request.body,
            deadline=self._deadline(),
            max_body=_MAX_BODY,
        )

    def _deadline(self) -> float:
        return asyncio.get_running_loop().time() + self._seconds

    async def _target(self) -> Target:
        try:
            return await target_of(self._endpoint)
        except OSError:
            raise CheckFailed("the Agent's name is not resolved") from None
