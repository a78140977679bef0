"""A peer that the operator names by origin: its name is resolved, and requests go to it with an absolute deadline."""

import sys

from aop.net.http import Answer, AnswerStream, Headers, HttpClient, Target
from aop.net.origin import Endpoint
from aop.net.policy import Resolver

_UNBOUNDED = sys.maxsize


class Peer:
    """Requests to one origin. The network policy does not apply: the operator, not a provider, chose the address."""

    def __init__(self, origin: str, client: HttpClient, resolver: Resolver) -> None:
        self._endpoint = Endpoint.parse(origin)
        self._last: Target | None = None
        self._client = client
        self._resolver = resolver

    async def get(self, path: str, headers: Headers, *, deadline: float, max_body: int) -> Answer:
        return await self._request("GET", path, headers, b"", deadline, max_body)

    async def post(self, path: str, headers: Headers, body: bytes, *, deadline: float, max_body: int) -> Answer:
        return await self._request("POST", path, headers, body, deadline, max_body)

    async def stream(
        self, method: str, path: str, headers: Headers, *, body: bytes = b"", deadline: float
    ) -> AnswerStream:
        """The scope of a streamed answer; the size of the answer is the reader's concern."""
        target = await self._target(deadline)
        return self._client.stream(
            target, method, path, headers=headers, body=body, deadline=deadline, max_body=_UNBOUNDED
        )

    async def _request(
        self, method: str, path: str, headers: Headers, body: bytes, deadline: float, max_body: int
    ) -> Answer:
        target = await self._target(deadline)
        return await self._client.request(
            target, method, path, headers=headers, body=body, deadline=deadline, max_body=max_body
        )

    async def _target(self, deadline: float) -> Target:
        endpoint = self._endpoint
        address = (await self._resolver.addresses(endpoint.host, deadline))[0]
        if self._last is None or self._last.address != address:
            self._last = Target(endpoint.scheme, endpoint.host, endpoint.port, address)
        return self._last
