"""A peer that the operator names by origin: its name is looked up, and requests go to it with an absolute deadline."""

from collections.abc import Sequence

from aop.base.http import Answer, HttpClient, Target
from aop.base.network_policy import Resolver
from aop.base.origin import Endpoint


class Peer:
    """Requests to one origin. The network policy does not apply: the operator, not a provider, chose the address."""

    def __init__(self, origin: str, client: HttpClient, resolver: Resolver) -> None:
        self._endpoint = Endpoint.parse(origin)
        self._client = client
        self._resolver = resolver

    async def target(self, deadline: float) -> Target:
        endpoint = self._endpoint
        addresses = await self._resolver.addresses(endpoint.host, deadline)
        return Target(endpoint.scheme, endpoint.host, endpoint.port, addresses[0])

    async def get(self, path: str, headers: Sequence[tuple[bytes, bytes]], *, deadline: float, max_body: int) -> Answer:
        target = await self.target(deadline)
        return await self._client.request(target, "GET", path, headers=headers, deadline=deadline, max_body=max_body)
