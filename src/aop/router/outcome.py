"""How an Invocation ends, as values: what is recorded, and what its caller is told."""

import msgspec

from aop.contracts.errors import ErrorCode
from aop.contracts.lineage import EventType
from aop.ledger.model import Terminal


class AgentFault(Exception):
    """The Agent, or the way to it, did not give a usable answer; ends the Invocation `failed` with this code.

    `leaves_task` says whether a Task the Router knows of may still be running and should be told to stop.
    """

    def __init__(self, code: ErrorCode, *, leaves_task: bool = True) -> None:
        super().__init__(code)
        self.code = code
        self.leaves_task = leaves_task


class AgentCanceled(Exception):
    """The Agent reported its Task as canceled."""


class Outcome(msgspec.Struct, frozen=True):
    """`value` is the result's bytes, with success only."""

    terminal: Terminal
    value: bytes | None = None


def failed(code: ErrorCode) -> Outcome:
    return Outcome(Terminal(EventType.FAILED, code))
