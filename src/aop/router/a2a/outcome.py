"""How an Invocation ends, as values: what is recorded, and what its caller receives."""

import msgspec

from aop.contracts.errors import ErrorCode, Reason, require_fitting
from aop.contracts.lineage import EventType
from aop.ledger.model import Terminal


class AgentFault(Exception):
    """The Agent, or the way to it, did not give a usable answer; the Invocation ends `failed` with its code and reason.

    `leaves_task` says whether a Task the Router knows of may still be running and should be told to stop.
    """

    def __init__(self, code: ErrorCode, reason: Reason | None = None, *, leaves_task: bool = True) -> None:
        super().__init__(code)
        require_fitting(code, reason)
        self.code = code
        self.reason = reason
        self.leaves_task = leaves_task


class AgentCanceled(Exception):
    """The Agent reported its Task as canceled."""


class Outcome(msgspec.Struct, frozen=True):
    """`value` is the result's bytes, with success only."""

    terminal: Terminal
    value: bytes | None = None


def failed(code: ErrorCode, reason: Reason | None = None) -> Outcome:
    return Outcome(Terminal(EventType.FAILED, code, reason))
