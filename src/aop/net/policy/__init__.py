"""Which hosts and addresses the platform contacts: address tables, judgement, bounded look-ups."""

from aop.net.policy.addresses import AddressClass, classify
from aop.net.policy.judgement import AddressRefused, AllowList, NameNotResolved, judge
from aop.net.policy.policy import NetworkPolicy
from aop.net.policy.resolver import Bounds, LookUp, Resolver, system_look_up

__all__ = [
    "AddressClass",
    "AddressRefused",
    "AllowList",
    "Bounds",
    "LookUp",
    "NameNotResolved",
    "NetworkPolicy",
    "Resolver",
    "classify",
    "judge",
    "system_look_up",
]
