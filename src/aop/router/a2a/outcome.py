"""How an Invocation ends, as values: what is recorded, and what its caller receives."""

import msgspec

from aop.contracts.errors import ErrorCode, Reason
from aop.contracts.lineage import EventType
from aop.ledger.model import Terminal


class Outcome(msgspec.Struct, frozen=True):
    """`value` is the result's bytes, with success only."""

    terminal: Terminal
    value: bytes | None = None


def failed(code: ErrorCode, reason: Reason | None = None) -> Outcome:
    return Outcome(Terminal(EventType.FAILED, code, reason))
