"""The network policy: whether a host may be contacted, and at which address. One refused address refuses the host."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from aop.net.origin import Endpoint, InvalidEndpoint, canonical_host, canonical_port
from aop.net.policy.addresses import AddressClass, classify
from aop.net.policy.resolver import NameNotResolved, Resolver

_ENTRY = re.compile(r"(?P<host>\[[^\[\]]*+\]|[^\[\]:]*+)(?::(?P<port>[0-9]++))?", re.ASCII)


class AddressRefused(Exception):
    """The network policy does not let this host be contacted."""


@dataclass(frozen=True, slots=True)
class AllowList:
    """Hosts that may lie in local networks, each at one port or at any."""

    hosts: frozenset[str] = frozenset()
    hosts_with_port: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def parse(cls, entries: Iterable[str]) -> Self:
        """Reads `host`, `host:port`, `[ipv6]` and `[ipv6]:port`; any other entry is an InvalidEndpoint."""
        hosts, hosts_with_port = set(), set()
        for entry in entries:
            host, port = _read_entry(entry)
            if port is None:
                hosts.add(host)
            else:
                hosts_with_port.add((host, port))
        return cls(frozenset(hosts), frozenset(hosts_with_port))

    def holds(self, host: str, port: int) -> bool:
        return host in self.hosts or (host, port) in self.hosts_with_port


class NetworkPolicy:
    def __init__(self, allow_list: AllowList, resolver: Resolver) -> None:
        self._allow_list = allow_list
        self._resolver = resolver

    async def admit(self, endpoint: Endpoint, deadline: float) -> str:
        """The address to dial for this endpoint, good for one piece of work and all its connections.

        AddressRefused and NameNotResolved say why there is none; TimeoutError that the deadline, in loop time, passed.
        """
        return self.judged(endpoint, await self.addresses(endpoint, deadline))

    async def addresses(self, endpoint: Endpoint, deadline: float) -> Sequence[str]:
        """The addresses of its host, not judged."""
        return await self._resolver.addresses(endpoint.host, deadline)

    def ready_addresses(self, endpoint: Endpoint) -> Sequence[str] | None:
        """Likewise, without waiting; None when a lookup is needed."""
        return self._resolver.ready(endpoint.host)

    def judged(self, endpoint: Endpoint, addresses: Sequence[str]) -> str:
        """The address to dial, or AddressRefused. The verdict on the same addresses never changes."""
        return judge(endpoint, addresses, self._allow_list)


def judge(endpoint: Endpoint, addresses: Sequence[str], allow_list: AllowList) -> str:
    """The address to dial, the first of the resolver's answer, or AddressRefused, or NameNotResolved when empty."""
    if not addresses:
        raise NameNotResolved(endpoint.host)
    try:
        classes = {classify(address) for address in addresses}
    except ValueError:
        raise AddressRefused("the resolver's answer is not an address") from None
    if AddressClass.NEVER in classes:
        raise AddressRefused("an address is in a network that is never contacted")
    if allow_list.holds(endpoint.host, endpoint.port):
        if len(classes) > 1:
            raise AddressRefused("the answer mixes local and public addresses")
    elif AddressClass.LOCAL in classes:
        raise AddressRefused("an address is local and the host is not on the allow-list")
    elif endpoint.scheme != "https":
        raise AddressRefused("a public host is contacted over https only")
    return addresses[0]


def _read_entry(entry: str) -> tuple[str, int | None]:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise InvalidEndpoint("an entry is neither host, host:port, [ipv6] nor [ipv6]:port")
    return canonical_host(match["host"]), None if match["port"] is None else canonical_port(match["port"])
