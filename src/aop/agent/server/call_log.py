"""The log of an Agent: one JSON record per call, written when its work is over, with nothing of what was sent."""

import logging
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final, Generic, TypeVar

import msgspec

from aop.agent.guard.context import AgentContext
from aop.base.clock import now_text
from aop.contracts.credential import CredentialClaims

LOGGER: Final = "aop.agent"
_logger: Final = logging.getLogger(LOGGER)
_LEVELS: Final = {logging.INFO: "info", logging.ERROR: "error"}
_encode: Final = msgspec.json.Encoder().encode
_written_plainly = False


class CallRecord(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Everything that may be said of a call. There is no member for an input, a result or a text of an exception."""

    time: str
    level: str
    event: str
    agent_id: str
    skill: str
    method: str
    outcome: str
    trace_id: str
    invocation_id: str
    milliseconds: float
    error: str | None = None
    """The class of what was raised."""
    place: str | None = None
    """File and line in which it was raised."""


Context = TypeVar("Context", AgentContext, CredentialClaims)


@dataclass(slots=True)
class LoggedCall(Generic[Context]):
    """One call, from its arrival to its record: of an Agent behind the guard, or of one behind the front."""

    context: Context
    method: str
    started: float = field(default_factory=time.monotonic)

    def record(self, outcome: str, error: BaseException | None = None, *, unexpected: bool = False) -> None:
        level = logging.ERROR if unexpected else logging.INFO
        if not _logger.isEnabledFor(level):
            return
        record = CallRecord(
            time=now_text(),
            level=_LEVELS[level],
            event="call",
            agent_id=self.context.agent_id,
            skill=self.context.capability,
            method=self.method,
            outcome=outcome,
            trace_id=self.context.trace_id,
            invocation_id=self.context.invocation_id,
            milliseconds=round((time.monotonic() - self.started) * 1000, 3),
            error=None if error is None else type(error).__qualname__,
            place=_place(error) if unexpected and error is not None else None,
        )
        if _written_plainly:
            # The same line as the handler would write, without the record around it, which costs more than the line.
            sys.stderr.buffer.write(_encode(record) + b"\n")
            sys.stderr.flush()
        else:
            _logger.log(level, "%s", _encode(record).decode())
        if unexpected:
            # The text of an exception may repeat the input, so it is shown only to an author who asks for it.
            _logger.debug("what was raised:", exc_info=error)


AgentCall = LoggedCall[AgentContext]


def _place(error: BaseException) -> str | None:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else None


def log_to_stderr() -> None:
    """One record per line, as the units of the platform do; for programs that have no logging of their own."""
    global _written_plainly  # noqa: PLW0603
    _written_plainly = True
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    _logger.addHandler(handler)
    _logger.setLevel(logging.INFO)
    _logger.propagate = False
