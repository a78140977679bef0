"""A peer that the operator names by origin: its name is resolved, and requests go to it with an absolute deadline."""

import sys
from collections.abc import Coroutine
from typing import Any

from aop.net.http import Answer, AnswerStream, Headers, HttpClient, Target, completed, request_head
from aop.net.origin import Endpoint
from aop.net.policy import Resolver

_UNBOUNDED = sys.maxsize


class Peer:
    """Requests to one origin. The network policy does not apply: the operator, not a provider, chose the address."""

    def __init__(self, origin: str, client: HttpClient, resolver: Resolver, socket_path: str | None = None) -> None:
        """With the path of a unix socket all requests go there, and still name the origin as their Host."""
        self._endpoint = Endpoint.parse(origin)
        self._last: Target | None = None
        self._here = None if socket_path is None else self._target(socket_path)
        self._client = client
        self._resolver = resolver

    def posts(self, path: str, headers: Headers) -> "Posts":
        """Requests that begin with the same lines."""
        return Posts(self, self._client, path, headers)

    async def get(self, path: str, headers: Headers, *, deadline: float, max_body: int) -> Answer:
        return await self._request("GET", path, headers, b"", deadline, max_body)

    async def post(self, path: str, headers: Headers, body: bytes, *, deadline: float, max_body: int) -> Answer:
        return await self._request("POST", path, headers, body, deadline, max_body)

    async def stream(
        self, method: str, path: str, headers: Headers, *, body: bytes = b"", deadline: float
    ) -> AnswerStream:
        """The scope of a streamed answer; the size of the answer is the reader's concern."""
        target = self.ready() or await self.resolved(deadline)
        return self._client.stream(
            target, method, path, headers=headers, body=body, deadline=deadline, max_body=_UNBOUNDED
        )

    async def _request(
        self, method: str, path: str, headers: Headers, body: bytes, deadline: float, max_body: int
    ) -> Answer:
        target = self.ready() or await self.resolved(deadline)
        return await self._client.request(
            target, method, path, headers=headers, body=body, deadline=deadline, max_body=max_body
        )

    def ready(self) -> Target | None:
        """Where it is; None when its name has to be looked up."""
        if self._here is not None:
            return self._here
        addresses = self._resolver.ready(self._endpoint.host)
        return None if addresses is None else self._target(addresses[0])

    async def resolved(self, deadline: float) -> Target:
        return self._target((await self._resolver.addresses(self._endpoint.host, deadline))[0])

    def _target(self, address: str) -> Target:
        last, endpoint = self._last, self._endpoint
        if last is None or last.address != address:
            last = self._last = Target(endpoint.scheme, endpoint.host, endpoint.port, address)
        return last


class Posts:
    """Requests whose first lines are always the same: checked and written once for each address."""

    def __init__(self, peer: Peer, client: HttpClient, path: str, headers: Headers) -> None:
        self._peer = peer
        self._client = client
        self._path = path
        self._headers = headers
        self._target: Target | None = None
        self._head = b""

    def send(self, headers: Headers, body: bytes, *, deadline: float, max_body: int) -> Coroutine[Any, Any, Answer]:
        target = self._peer.ready()
        if target is None:
            return self._send_resolved(headers, body, deadline, max_body)
        return self._client.exchange(target, "POST", self._written(target, headers, body), deadline, max_body)

    async def _send_resolved(self, headers: Headers, body: bytes, deadline: float, max_body: int) -> Answer:
        target = await self._peer.resolved(deadline)
        request = self._written(target, headers, body)
        return await self._client.exchange(target, "POST", request, deadline, max_body)

    def _written(self, target: Target, headers: Headers, body: bytes) -> bytes:
        if target is not self._target:
            self._head = request_head(target, "POST", self._path, self._headers)
            self._target = target
        return completed(self._head, headers, body)
