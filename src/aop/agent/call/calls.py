"""Nested calls: opens the connection to the Router's agent API, reads its answers exactly, and names every failure."""

import asyncio
import socket
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from aop.base import json as strict_json
from aop.base.settings import Secret
from aop.contracts.errors import ErrorCode, Reason, Violation, fits
from aop.contracts.invocation import CorrelatedError, InvocationResult, NestedInvocationRequest
from aop.contracts.platform_error import InvocationError
from aop.contracts.recovery import recovery_of
from aop.net.headers import TRACEPARENT
from aop.net.http import Answer, AnswerStream, HttpClient, HttpError, Target
from aop.net.origin import Endpoint, parse_origin

PATH: Final = "/agent/v1/invocations"
JSON: Final = b"application/json"
EVENTS: Final = b"text/event-stream"
# The longest an invocation may run (a Card's limit) and the Router's own bounds after it.
MAX_SECONDS: Final = 615.0
MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024

_CONNECT_SECONDS = 5.0
_IDLE_SECONDS = 20.0


class NestedCallFailed(Exception):
    """The platform said no, or the child invocation ended otherwise than `succeeded`.

    `reason` is one word of the contract's closed list that says more than the code, or None. `recovery` says who acts
    next and how, and has the sentence of the reason. `invocation_id` is None when no child was accepted; then nothing
    ran, unless the reason is `acceptance_unknown`.
    """

    def __init__(
        self,
        code: ErrorCode,
        text: str,
        *,
        reason: Reason | None = None,
        invocation_id: str | None = None,
        trace_id: str | None = None,
        violations: tuple[Violation, ...] = (),
    ) -> None:
        self.recovery = recovery_of(code, reason)
        super().__init__(f"{code}: {text}" + ("" if reason is None else f" {reason}: {self.recovery.sentence}"))
        self.code = code
        self.reason = reason
        self.invocation_id = invocation_id
        self.trace_id = trace_id
        self.violations = violations

    @staticmethod
    def of(error: InvocationError | CorrelatedError) -> "NestedCallFailed":
        violations = error.violations if isinstance(error, InvocationError) else msgspec.UNSET
        invocation_id = error.invocation_id
        return NestedCallFailed(
            error.code,
            error.message,
            reason=error.reason or None,
            invocation_id=None if invocation_id is msgspec.UNSET else invocation_id,
            trace_id=error.trace_id,
            violations=() if violations is msgspec.UNSET else violations,
        )


class NestedCallInterrupted(NestedCallFailed):
    """The Router was out of reach or its delivery broke: whether and how the child ended is only in the Ledger."""

    def __init__(self, text: str) -> None:
        super().__init__(ErrorCode.DEPENDENCY_ERROR, text)


@dataclass(frozen=True)
class NestedCall:
    """One child call to be made, and the lineage its answer must name."""

    agent_id: str
    capability: str
    input: bytes = field(repr=False)
    delegation: Secret
    trace_id: str
    root_task_id: str
    timeout: float | None
    traceparent: str | None = None

    def headers(self, accept: bytes) -> list[tuple[bytes, bytes]]:
        headers = [
            (b"authorization", b"Bearer " + self.delegation.reveal().encode("latin-1")),
            (b"content-type", JSON),
            (b"accept", accept),
        ]
        if self.traceparent is not None:
            headers.append((TRACEPARENT, self.traceparent.encode("latin-1")))
        return headers

    def body(self, *, stream: bool) -> bytes:
        return msgspec.json.encode(
            NestedInvocationRequest(
                target_agent_id=self.agent_id, capability=self.capability, input=msgspec.Raw(self.input), stream=stream
            )
        )


class NestedCalls:
    """Calls through one Router; opens connections at the first call, on the loop of that call."""

    def __init__(self, router_url: str) -> None:
        self._endpoint = parse_origin(router_url)
        self._client: HttpClient | None = None

    async def result(self, call: NestedCall) -> Any:
        deadline = self.deadline(call)
        try:
            answer = await self._opened().request(
                await self._target(deadline),
                "POST",
                PATH,
                headers=call.headers(JSON),
                body=call.body(stream=False),
                deadline=deadline,
                max_body=MAX_ANSWER_BYTES,
            )
        except HttpError as error:
            raise NestedCallInterrupted(f"no answer from the Router: {error}") from error
        if answer.status != 200:
            raise refusal(answer)
        return _result(answer, call)

    async def open(self, call: NestedCall, deadline: float) -> AnswerStream:
        return self._opened().stream(
            await self._target(deadline),
            "POST",
            PATH,
            headers=call.headers(EVENTS),
            body=call.body(stream=True),
            deadline=deadline,
            max_body=MAX_ANSWER_BYTES,
        )

    def deadline(self, call: NestedCall) -> float:
        return asyncio.get_running_loop().time() + (MAX_SECONDS if call.timeout is None else call.timeout)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _opened(self) -> HttpClient:
        if self._client is None:
            self._client = HttpClient(idle_seconds=_IDLE_SECONDS, connect_seconds=_CONNECT_SECONDS)
        return self._client

    async def _target(self, deadline: float) -> Target:
        try:
            async with asyncio.timeout_at(deadline):
                return await target_of(self._endpoint)
        except OSError as error:  # a time-out is one, too
            raise NestedCallInterrupted("the Router's name is not resolved") from error


async def target_of(endpoint: Endpoint) -> Target:
    """The first address the system gives; OSError when it gives none."""
    addresses = await asyncio.get_running_loop().getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    return Target(endpoint.scheme, endpoint.host, endpoint.port, str(addresses[0][4][0]))


def refusal(answer: Answer) -> NestedCallFailed:
    """The Router's own error; an answer that is none counts as an interrupted delivery."""
    try:
        error = strict_json.decode(answer.body, InvocationError, strict_json.UNIT_DEPTH)
    except msgspec.DecodeError:
        return NestedCallInterrupted(f"the Router answered {answer.status} without a Platform Error")
    if not fits(error.code, error.reason):
        return NestedCallInterrupted(f"the Router answered {answer.status} with a reason of another code")
    return NestedCallFailed.of(error)


def _result(answer: Answer, call: NestedCall) -> Any:
    try:
        result = strict_json.decode(answer.body, InvocationResult, strict_json.UNIT_DEPTH)
    except msgspec.DecodeError:
        raise NestedCallInterrupted("the Router's answer is no Invocation Result") from None
    if (result.trace_id, result.root_task_id) != (call.trace_id, call.root_task_id):
        raise NestedCallInterrupted("the Router's answer belongs to another lineage")
    return msgspec.json.decode(result.result)
