"""One Agent as seen by one Invocation: requests to its judged address, each with a fresh credential."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

import msgspec

from aop.a2a import requests
from aop.a2a.answers import (
    TASK,
    AgentFault,
    Result,
    is_media_type,
    protocol_error,
    read_result,
    read_strict_result,
    require_media_type,
    require_plain,
)
from aop.base import json
from aop.base.ids import new_request_id
from aop.cards.checks import IN_LOOP_BYTES, SchemaChecks
from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.identity import InvocationContext
from aop.net.http import Headers, HttpClient, HttpError, StreamedAnswer, TakePiece, Target
from aop.net.origin import Endpoint
from aop.net.policy import AddressRefused, NameNotResolved, NetworkPolicy
from aop.router.a2a.http_answers import http_fault, require_json, require_ok
from aop.router.a2a.skill_requests import JSON_ANSWER, STREAM_ANSWER, RequestsOfSkills

CANCEL_SECONDS = 1.0
_FRESH_SECONDS = 2.0
_CANCEL_ANSWER_BYTES = 64 * 1024

WriteMessage = Callable[[str, str, bytes], bytes]
"""Of request id, message id and content: `requests.send` or `requests.stream`."""
CatchUp = Callable[[], Awaitable[bool]]
_ACCEPTED: dict[WriteMessage, bytes] = {requests.send: JSON_ANSWER, requests.stream: STREAM_ANSWER}


class AnswerLimits(msgspec.Struct, frozen=True):
    """In bytes: of a whole answer, streamed or not, and of one event in a stream."""

    answer: int
    event: int


class Agents(msgspec.Struct, frozen=True):
    """The way to every Agent: one network policy, one pool, one key, one place for long answers to be read."""

    policy: NetworkPolicy
    client: HttpClient
    requests: RequestsOfSkills
    checks: SchemaChecks
    limits: AnswerLimits
    """Of any Agent; a Card may set a lower one for the whole answer."""


class _FirstRequest(NamedTuple):
    request_id: str
    body: bytes
    request: bytes
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
        self._lineage = context.lineage
        self._skill = agents.requests.of(context, endpoint)
        self._max_answer = min(agents.limits.answer, max_output_bytes)
        self.max_event = min(agents.limits.event, self._max_answer)
        self._target: Target | None = None
        self._trace_headers = trace_headers
        self._first: _FirstRequest | None = None
        self._delegation: bytes | None = None

    def prepare(self, write: WriteMessage, content: bytes, expires_at: float) -> None:
        """Makes the first request, which will soon be sent, while there is nothing else to do. It is used once, while
        it is fresh; otherwise it is made again. What fails here fails then too, and is raised then."""
        try:
            request_id = new_request_id()
            body = write(request_id, self._lineage.invocation, content)
            request = self._written(body, _ACCEPTED[write], self.delegation(expires_at))
            self._first = _FirstRequest(request_id, body, request, time.monotonic() + _FRESH_SECONDS)
        except Exception:  # noqa: BLE001
            self._first = None

    def delegation(self, expires_at: float) -> bytes:
        """The right to make nested calls until then; made once."""
        if self._delegation is None:
            self._delegation = self._skill.delegation(self._lineage, expires_at)
        return self._delegation

    def message(self, write: WriteMessage, content: bytes) -> tuple[str, bytes]:
        """The first request, and its id. If one was prepared, it is of this content, and is this one."""
        if (prepared := self._first) is not None:
            return prepared.request_id, prepared.body
        request_id = new_request_id()
        return request_id, write(request_id, self._lineage.invocation, content)

    async def ask(
        self, body: bytes, request_id: str, allowed: frozenset[str], deadline: float, delegation: bytes | None = None
    ) -> Result:
        """The result in a 200 JSON answer; AgentFault otherwise, TimeoutError at the deadline."""
        target = self._known_target() or await self._judged(deadline)
        request = self._request(body, JSON_ANSWER, delegation)
        return await self._result(target, request, request_id, allowed, deadline, self._max_answer)

    async def _result(
        self, target: Target, request: bytes, request_id: str, allowed: frozenset[str], deadline: float, max_body: int
    ) -> Result:
        answer: StreamedAnswer | None = None
        try:
            answer = await self._agents.client.open(target, "POST", request, deadline, max_body, whole=True)
            require_json(answer)
            return await self.read(answer.rest() or b"", request_id, allowed)
        except TimeoutError:
            raise
        except HttpError as failure:
            raise http_fault(failure) from None
        except AgentFault as fault:
            _close_after(fault, answer)
            raise
        finally:
            if answer is not None:
                answer.leave()

    async def read(self, answer: bytes, request_id: str, allowed: frozenset[str]) -> Result:
        """A long answer is checked for strict JSON in a worker process, so that the event loop stays free."""
        if len(answer) <= IN_LOOP_BYTES:
            return read_result(answer, request_id, allowed)
        if not await self._agents.checks.is_strict(answer, json.AGENT_DEPTH):
            raise protocol_error(Reason.NOT_JSON)
        return read_strict_result(answer, request_id, allowed)

    async def stream(
        self, body: bytes, request_id: str, deadline: float, delegation: bytes, take: TakePiece, catch_up: CatchUp
    ) -> bool:
        """Hands a 200 event stream over, piece by piece. True if the reader had enough of it, False at its end.

        `take` does at once what can be done with a piece, and returns False if there is more to do; `catch_up` does
        that, and returns True if no further piece is wanted. AgentFault if it is no such stream, TimeoutError at the
        deadline.
        """
        target = self._known_target() or await self._judged(deadline)
        request = self._request(body, STREAM_ANSWER, delegation)
        answer: StreamedAnswer | None = None
        try:
            answer = await self._agents.client.open(target, "POST", request, deadline, self._max_answer)
            await self._require_event_stream(answer, request_id)
            while await answer.hand_to(take):
                if await catch_up():
                    return True
        except TimeoutError:
            raise
        except HttpError as failure:
            raise http_fault(failure) from None
        except AgentFault as fault:
            _close_after(fault, answer)
            raise
        finally:
            if answer is not None:
                answer.leave()
        return False

    async def cancel(self, task_id: str) -> None:
        """One attempt. Its result is ignored."""
        if self._target is None:
            return
        request_id, deadline = new_request_id(), asyncio.get_running_loop().time() + CANCEL_SECONDS
        request = self._written(requests.cancel_task(request_id, task_id), JSON_ANSWER, None)
        with suppress(AgentFault, TimeoutError):
            await self._result(self._target, request, request_id, TASK, deadline, _CANCEL_ANSWER_BYTES)

    def _request(self, body: bytes, accept: bytes, delegation: bytes | None) -> bytes:
        prepared, self._first = self._first, None
        if prepared is not None and prepared.body == body and time.monotonic() < prepared.fresh_until:
            return prepared.request
        return self._written(body, accept, delegation)

    def _written(self, body: bytes, accept: bytes, delegation: bytes | None) -> bytes:
        return self._skill.request(self._lineage, body, accept, delegation, self._trace_headers)

    def _known_target(self) -> Target | None:
        """Where requests go, if that needs no lookup and its addresses are those that were admitted the last time."""
        if self._target is None:
            addresses = self._agents.policy.ready_addresses(self._endpoint)
            admitted = self._skill.admitted
            if admitted is not None and admitted[0] == addresses:
                self._target = admitted[1]
        return self._target

    async def _judged(self, deadline: float) -> Target:
        policy, endpoint = self._agents.policy, self._endpoint
        try:
            addresses = await policy.addresses(endpoint, deadline)
            address = policy.judged(endpoint, addresses)
        except AddressRefused:
            raise AgentFault(ErrorCode.ROUTE_NOT_FOUND, Reason.ADDRESS_REFUSED) from None
        except NameNotResolved:
            raise AgentFault(ErrorCode.AGENT_UNAVAILABLE, Reason.NAME_NOT_RESOLVED) from None
        target = self._target = _target(endpoint, address)
        self._skill.admitted = addresses, target
        return target

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
    """One object for each, because a pool finds its connections faster by the same one."""
    return Target(endpoint.scheme, endpoint.host, endpoint.port, address)


def _close_after(fault: AgentFault, answer: StreamedAnswer | None) -> None:
    # What answers another request may be the first of two answers: the second one would meet the next request.
    if answer is not None and fault.code is ErrorCode.A2A_PROTOCOL_ERROR:
        answer.close()
