"""What kind of network an address lies in, decided by the checked-in tables and by nothing else."""

import json
from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum
from functools import cache, lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path

_FILE = Path(__file__).with_name("addresses.json")


class AddressClass(StrEnum):
    PUBLIC = "public"
    LOCAL = "local"
    NEVER = "never"


# The first class one of whose ranges holds an address is its class: ::1 is local although ::/96 is not.
_PRECEDENCE = (("local", AddressClass.LOCAL), ("never", AddressClass.NEVER), ("unicast", AddressClass.PUBLIC))


@lru_cache(maxsize=1024)
def classify(address: str) -> AddressClass:
    """The class of an address as a resolver spells it; a zone is ignored. Anything else is a ValueError."""
    parsed = ip_address(address.partition("%")[0])
    starts, classes = _segments(parsed.version)
    return classes[bisect_right(starts, int(parsed)) - 1]


@cache
def _segments(version: int) -> tuple[Sequence[int], Sequence[AddressClass]]:
    """The whole address space of one IP version, cut where the class may change: where each part begins, its class."""
    tables = json.loads(_FILE.read_bytes())
    ranges = [
        (kind, network)
        for table, kind in _PRECEDENCE
        for network in (ip_network(row["range"]) for row in tables[table])
        if network.version == version
    ]
    bounds = {0}
    for _, network in ranges:
        bounds |= {int(network.network_address), int(network.broadcast_address) + 1}
    starts = sorted(bounds)
    return starts, [_class_at(start, ranges) for start in starts]


def _class_at(address: int, ranges: Sequence[tuple[AddressClass, IPv4Network | IPv6Network]]) -> AddressClass:
    for kind, network in ranges:
        if int(network.network_address) <= address <= int(network.broadcast_address):
            return kind
    return AddressClass.NEVER
