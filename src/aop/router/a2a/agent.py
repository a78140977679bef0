"""One Agent as seen by one Invocation: requests to its judged address, each with a fresh credential."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import msgspec

from aop.base import json
from aop.cards.checks import IN_LOOP_BYTES, SchemaChecks
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.identity import InvocationContext
from aop.net.http import Headers, HttpClient, HttpError, StreamedAnswer, Target
from aop.net.origin import Endpoint
from aop.net.policy import AddressRefused, NameNotResolved, NetworkPolicy
from aop.net.sse import EventParser
from aop.router.a2a import requests
from aop.router.a2a.answers import Result, protocol_error, read_result, read_strict_result
from aop.router.a2a.credential import Credentials, context_headers
from aop.router.a2a.http_answers import (
    http_fault,
    is_media_type,
    require_json,
    require_media_type,
    require_ok,
    require_plain,
)
from aop.router.a2a.outcome import AgentFault

CANCEL_SECONDS = 1.0
FIRST_ID = "1"
"""Of the requests of a conversation; the others are numbered behind it."""
JSON_ANSWER, STREAM_ANSWER = b"application/json", b"text/event-stream"
_FRESH_SECONDS = 2.0
_JSON = (b"content-type", b"application/json")
_IDENTITY = (b"accept-encoding", b"identity")
_CANCEL_ANSWER_BYTES = 64 * 1024


class AnswerLimits(msgspec.Struct, frozen=True):
    """In bytes: of a whole answer, streamed or not, and of one event in a stream."""

    answer: int
    event: int


class Agents(msgspec.Struct, frozen=True):
    """The way to every Agent: one network policy, one pool, one key, one place for long answers to be read."""

    policy: NetworkPolicy
    client: HttpClient
    credentials: Credentials
    checks: SchemaChecks
    limits: AnswerLimits
    """Of any Agent; a Card may set a lower one for the whole answer."""


class _Prepared(NamedTuple):
    body: bytes
    headers: list[tuple[bytes, bytes]]
    fresh_until: float


class AgentConversation:
    """The address is judged once, at the first request, and holds for all; `trace_headers` name their span."""

    def __init__(
        self,
        agents: Agents,
        endpoint: Endpoint,
        context: InvocationContext,
        max_output_bytes: int,
        trace_headers: Headers = (),
    ) -> None:
        self._agents = agents
        self._endpoint = endpoint
        self._context = context
        self._audience = endpoint.origin
        self._max_answer = min(agents.limits.answer, max_output_bytes)
        self._max_event = min(agents.limits.event, self._max_answer)
        self._target: Target | None = None
        self._context_headers = (*context_headers(context), *trace_headers)
        self._numbers = count(int(FIRST_ID))
        self._prepared: _Prepared | None = None
        self._delegation: str | None = None

    def prepare(self, body: bytes, accept: bytes, delegation: str) -> None:
        """Makes the headers of a request that will soon be sent, while there is nothing else to do. They are used once,
        for exactly this body, and only while they are fresh; otherwise they are made again."""
        self._prepared = _Prepared(body, self._headers(body, accept, delegation), time.monotonic() + _FRESH_SECONDS)

    def delegation(self, expires_at: float) -> str:
        """The right to make nested calls until then; made once."""
        if self._delegation is None:
            self._delegation = self._agents.credentials.delegation(self._context, expires_at)
        return self._delegation

    def next_id(self) -> str:
        return str(next(self._numbers))

    async def ask(self, body: bytes, deadline: float, *, delegation: str | None = None) -> bytes:
        """The body of a 200 JSON answer; AgentFault otherwise, TimeoutError at the deadline."""
        target = await self._judged(deadline)
        try:
            answer = await self._agents.client.request(
                target,
                "POST",
                self._endpoint.path,
                headers=self._headers_of(body, JSON_ANSWER, delegation),
                body=body,
                deadline=deadline,
                max_body=self._max_answer,
            )
        except TimeoutError:
            raise
        except HttpError as failure:
            raise http_fault(failure) from None
        return require_json(answer)

    async def read(self, answer: bytes, request_id: str, allowed: frozenset[str]) -> Result:
        """A long answer is checked for strict JSON in a worker process, so that the event loop stays free."""
        if len(answer) <= IN_LOOP_BYTES:
            return read_result(answer, request_id, allowed)
        if not await self._agents.checks.is_strict(answer, json.AGENT_DEPTH):
            raise protocol_error(Reason.NOT_JSON)
        return read_strict_result(answer, request_id, allowed)

    async def events(
        self, body: bytes, request_id: str, deadline: float, delegation: str
    ) -> AsyncGenerator[Iterator[bytes], None]:
        """The data of the events of a 200 event stream; events that arrived together come together.

        Iterating over them may raise EventTooLarge; AgentFault if it is no such stream, TimeoutError at the deadline.
        """
        target = await self._judged(deadline)
        parser = EventParser(self._max_event)
        try:
            async with self._agents.client.stream(
                target,
                "POST",
                self._endpoint.path,
                headers=self._headers_of(body, STREAM_ANSWER, delegation),
                body=body,
                deadline=deadline,
                max_body=self._max_answer,
            ) as answer:
                await self._require_event_stream(answer, request_id)
                async for piece in answer:
                    events = parser.feed(piece)
                    del piece  # a reader who stalls would keep it beside the parser's own copy
                    yield events
        except TimeoutError:
            raise
        except HttpError as failure:
            raise http_fault(failure) from None

    async def cancel(self, task_id: str) -> None:
        """One attempt. Its result is ignored."""
        if self._target is None:
            return
        body = requests.cancel_task(self.next_id(), task_id)
        with suppress(HttpError):
            await self._agents.client.request(
                self._target,
                "POST",
                self._endpoint.path,
                headers=self._headers(body, JSON_ANSWER, None),
                body=body,
                deadline=asyncio.get_running_loop().time() + CANCEL_SECONDS,
                max_body=_CANCEL_ANSWER_BYTES,
            )

    def _headers_of(self, body: bytes, accept: bytes, delegation: str | None) -> list[tuple[bytes, bytes]]:
        prepared, self._prepared = self._prepared, None
        if prepared is not None and prepared.body == body and time.monotonic() < prepared.fresh_until:
            return prepared.headers
        return self._headers(body, accept, delegation)

    def _headers(self, body: bytes, accept: bytes, delegation: str | None) -> list[tuple[bytes, bytes]]:
        credential = self._agents.credentials.credential(self._context, self._audience, body)
        headers = [
            (b"authorization", b"Bearer " + credential.encode("ascii")),
            _JSON,
            _IDENTITY,
            (b"accept", accept),
            *self._context_headers,
        ]
        if delegation is not None:
            headers.append((b"x-platform-delegation", delegation.encode("ascii")))
        return headers

    async def _judged(self, deadline: float) -> Target:
        if self._target is None:
            endpoint = self._endpoint
            try:
                address = await self._agents.policy.admit(endpoint, deadline)
            except AddressRefused:
                raise AgentFault(ErrorCode.ROUTE_NOT_FOUND, Reason.ADDRESS_REFUSED) from None
            except NameNotResolved:
                raise AgentFault(ErrorCode.AGENT_UNAVAILABLE, Reason.NAME_NOT_RESOLVED) from None
            self._target = _target(endpoint, address)
        return self._target

    async def _require_event_stream(self, answer: StreamedAnswer, request_id: str) -> None:
        require_ok(answer.status)
        require_plain(answer.headers_named(b"content-encoding"))
        media_types = answer.headers_named(b"content-type")
        if is_media_type(media_types, b"application/json"):
            # The one thing a JSON answer to message/stream may be is a JSON-RPC error.
            await self.read(b"".join([piece async for piece in answer]), request_id, frozenset())
        require_media_type(media_types, b"text/event-stream")


@lru_cache(maxsize=1024)
def _target(endpoint: Endpoint, address: str) -> Target:
    return Target(endpoint.scheme, endpoint.host, endpoint.port, address)
