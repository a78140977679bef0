"""Readers of what a Router says of itself."""

from enum import StrEnum

import msgspec

from aop.contracts.ledger_tree import LedgerHead
from aop.contracts.topology import TopologySource
from aop.contracts.wire import Wire


class RouterReadiness(StrEnum):
    OK = "ok"
    NOT_READY = "not_ready"


class WatchFreshness(TopologySource, frozen=True, kw_only=True):
    """`age_ms` is left out before the first message of the watch."""

    age_ms: int | msgspec.UnsetType = msgspec.UNSET


class SchemaLoad(Wire, frozen=True, kw_only=True):
    processes: int
    running: int
    waiting: int


class UnwrittenFacts(Wire, frozen=True, kw_only=True):
    """`oldest_ms` is left out when nothing waits."""

    unconfirmed: int
    deferred: int
    denied: int
    oldest_ms: int | msgspec.UnsetType = msgspec.UNSET


class SequenceLag(Wire, frozen=True, kw_only=True):
    lag_ms: int


class RouterStatus(Wire, frozen=True, kw_only=True):
    """`sequence` is left out where another Router numbers the events."""

    router_id: str
    instance_id: str
    status: RouterReadiness
    topology: WatchFreshness
    schema_work: SchemaLoad
    facts: UnwrittenFacts
    sequence: SequenceLag | msgspec.UnsetType = msgspec.UNSET
    ledger_head: LedgerHead | msgspec.UnsetType = msgspec.UNSET


READERS: dict[str, type] = {
    "router-status/1": RouterStatus,
    "router-status/1#topology": WatchFreshness,
    "router-status/1#schemaWork": SchemaLoad,
    "router-status/1#facts": UnwrittenFacts,
    "router-status/1#sequence": SequenceLag,
}
