"""A peer that the operator names by origin: its name is looked up, and requests go to it with an absolute deadline."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from aop.base.http import Answer, Headers, HttpClient, StreamedAnswer, Target
from aop.base.network_policy import Resolver
from aop.base.origin import Endpoint

_UNBOUNDED = sys.maxsize


class Peer:
    """Requests to one origin. The network policy does not apply: the operator, not a provider, chose the address."""

    def __init__(self, origin: str, client: HttpClient, resolver: Resolver) -> None:
        self._endpoint = Endpoint.parse(origin)
        self._client = client
        self._resolver = resolver

    async def get(self, path: str, headers: Headers, *, deadline: float, max_body: int) -> Answer:
        return await self._request("GET", path, headers, b"", deadline, max_body)

    async def post(self, path: str, headers: Headers, body: bytes, *, deadline: float, max_body: int) -> Answer:
        return await self._request("POST", path, headers, body, deadline, max_body)

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, headers: Headers, *, body: bytes = b"", answer_by: float, deadline: float
    ) -> AsyncIterator[StreamedAnswer]:
        """A streamed answer whose head must come by `answer_by`; its size is the reader's concern."""
        async with AsyncExitStack() as opened:
            async with asyncio.timeout_at(answer_by):
                answer = await opened.enter_async_context(
                    self._client.stream(
                        await self._target(deadline),
                        method,
                        path,
                        headers=headers,
                        body=body,
                        deadline=deadline,
                        max_body=_UNBOUNDED,
                    )
                )
            yield answer

    async def _request(
        self, method: str, path: str, headers: Headers, body: bytes, deadline: float, max_body: int
    ) -> Answer:
        target = await self._target(deadline)
        return await self._client.request(
            target, method, path, headers=headers, body=body, deadline=deadline, max_body=max_body
        )

    async def _target(self, deadline: float) -> Target:
        endpoint = self._endpoint
        addresses = await self._resolver.addresses(endpoint.host, deadline)
        return Target(endpoint.scheme, endpoint.host, endpoint.port, addresses[0])
