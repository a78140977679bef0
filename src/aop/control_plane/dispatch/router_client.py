"""The Control Plane's only way to the Router: requests with the service token, no redirect, no retry."""

import asyncio
from typing import TypeVar
from urllib.parse import quote

import msgspec

from aop.base.settings import Secret
from aop.contracts.router_status import RouterStatus
from aop.contracts.topology import TopologyStatus
from aop.net.http import Answer, AnswerStream, Headers, HttpError
from aop.net.peer import Peer
from aop.net.policy import NameNotResolved

READ_SECONDS = 30.0
_STATUS_SECONDS = 2.0
_DISPATCH = "/internal/v1/invocations"
_ACCEPT_JSON = (b"accept", b"application/json")
_ACCEPT_STREAM = (b"accept", b"text/event-stream")
FAILURES = (HttpError, NameNotResolved, TimeoutError)
_Document = TypeVar("_Document")


class RouterUnavailable(Exception):
    """The Router gave no usable answer; the text is for logs."""


class RouterClient:
    def __init__(self, peer: Peer, token: Secret, answer_limit: int) -> None:
        self._peer = peer
        self._authorization = (b"authorization", f"Bearer {token.reveal()}".encode("ascii"))
        self._dispatch_headers = (self._authorization, (b"content-type", b"application/json"))
        self._dispatches = peer.posts(_DISPATCH, (*self._dispatch_headers, _ACCEPT_JSON))
        self._answer_limit = answer_limit

    async def status(self) -> RouterStatus:
        """What the Router says of itself; RouterUnavailable also for one of another edition."""
        return await self._read_status("/internal/v1/status", RouterStatus)

    async def topology_status(self, release_id: str) -> TopologyStatus:
        """With what the Router knows of this Release."""
        path = f"/internal/v1/topology/status?releaseId={quote(release_id, safe='')}"
        return await self._read_status(path, TopologyStatus)

    async def read(self, path: str, seconds: float = READ_SECONDS) -> Answer:
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            return await self._peer.get(path, (self._authorization,), deadline=deadline, max_body=self._answer_limit)
        except FAILURES as failure:
            raise RouterUnavailable(type(failure).__name__) from failure

    async def _read_status(self, path: str, reader: type[_Document]) -> _Document:
        answer = await self.read(path, _STATUS_SECONDS)
        if answer.status != 200:
            raise RouterUnavailable(f"status {answer.status}")
        try:
            return msgspec.json.decode(answer.body, type=reader)
        except msgspec.DecodeError:
            raise RouterUnavailable("shape") from None

    async def dispatch(
        self, body: bytes, trace_headers: Headers, *, trace_id: str, deadline: float, max_body: int
    ) -> Answer:
        """Sends an Invocation whose answer is one JSON document; `trace_headers` name the span it is sent from."""
        headers = (_trace_header(trace_id), *trace_headers)
        return await self._dispatches.send(headers, body, deadline=deadline, max_body=max_body)

    async def open_stream(self, body: bytes, trace_headers: Headers, *, trace_id: str, deadline: float) -> AnswerStream:
        """Sends an Invocation that is answered by a stream. Its head is read on entry; the caller reads its body."""
        headers = (*self._dispatch_headers, _ACCEPT_STREAM, _trace_header(trace_id), *trace_headers)
        return await self._peer.stream("POST", _DISPATCH, headers, body=body, deadline=deadline)


def _trace_header(trace_id: str) -> tuple[bytes, bytes]:
    return b"x-platform-trace-id", trace_id.encode("ascii")


def workspace_path(workspace_id: str, *rest: str) -> str:
    return "/".join(["/internal/v1/workspaces", *(quote(part, safe="") for part in (workspace_id, *rest))])
