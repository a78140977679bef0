"""The network policy as units use it: resolve once, judge every address, name the one to dial."""

from aop.net.origin import Endpoint
from aop.net.policy.judgement import AllowList, judge
from aop.net.policy.resolver import Resolver


class NetworkPolicy:
    def __init__(self, allow_list: AllowList, resolver: Resolver) -> None:
        self._allow_list = allow_list
        self._resolver = resolver

    async def admit(self, endpoint: Endpoint, deadline: float) -> str:
        """The address to dial for this endpoint, good for one piece of work and all its connections.

        AddressRefused and NameNotResolved say why there is none; TimeoutError that the deadline, in loop time, passed.
        """
        return judge(endpoint, await self._resolver.addresses(endpoint.host, deadline), self._allow_list)
