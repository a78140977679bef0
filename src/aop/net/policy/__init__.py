"""Which hosts and addresses the platform contacts: address tables, judgement, bounded lookups."""

from aop.net.policy.addresses import AddressClass, classify
from aop.net.policy.policy import AddressRefused, AllowList, NetworkPolicy, judge
from aop.net.policy.resolver import Bounds, Lookup, NameNotResolved, Resolver, system_lookup

__all__ = [
    "AddressClass",
    "AddressRefused",
    "AllowList",
    "Bounds",
    "Lookup",
    "NameNotResolved",
    "NetworkPolicy",
    "Resolver",
    "classify",
    "judge",
    "system_lookup",
]
