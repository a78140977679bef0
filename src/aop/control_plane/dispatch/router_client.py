"""The Control Plane's only way to the Router: requests with the service token, no redirect, no retry."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

import msgspec

from aop.base.http import Answer, HttpError, StreamedAnswer
from aop.base.network_policy import NameNotResolved
from aop.base.peer import Peer
from aop.base.secret import Secret
from aop.contracts.topology import TopologyStatus

READ_SECONDS = 30.0
_STATUS_SECONDS = 2.0
FAILURES = (HttpError, NameNotResolved, TimeoutError)


class RouterUnavailable(Exception):
    """The Router gave no usable answer; the text is for logs."""


class RouterClient:
    def __init__(self, peer: Peer, token: Secret, answer_limit: int) -> None:
        self._peer = peer
        self._authorization = (b"authorization", f"Bearer {token.reveal()}".encode("ascii"))
        self._answer_limit = answer_limit

    async def topology_status(self) -> TopologyStatus:
        answer = await self.read("/internal/v1/topology/status", _STATUS_SECONDS)
        if answer.status != 200:
            raise RouterUnavailable(f"status {answer.status}")
        try:
            return msgspec.json.decode(answer.body, type=TopologyStatus)
        except msgspec.DecodeError:
            raise RouterUnavailable("shape") from None

    async def read(self, path: str, seconds: float = READ_SECONDS) -> Answer:
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            return await self._peer.get(path, (self._authorization,), deadline=deadline, max_body=self._answer_limit)
        except FAILURES as failure:
            raise RouterUnavailable(type(failure).__name__) from failure

    @asynccontextmanager
    async def dispatch(
        self, body: bytes, *, trace_id: str, accept: bytes, deadline: float
    ) -> AsyncIterator[StreamedAnswer]:
        """Sends an invocation; the answer's head is there on entry, its body is the reader's to take."""
        headers = (
            self._authorization,
            (b"content-type", b"application/json"),
            (b"accept", accept),
            (b"x-platform-trace-id", trace_id.encode("ascii")),
        )
        async with self._peer.stream(
            "POST", "/internal/v1/invocations", headers, body=body, answer_by=deadline, deadline=deadline
        ) as answer:
            yield answer


def workspace_path(workspace_id: str, *rest: str) -> str:
    return "/".join(["/internal/v1/workspaces", *(quote(part, safe="") for part in (workspace_id, *rest))])
