"""Readers of a Workspace's figures, and the window that they are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from aop.base.clock import from_text, to_text
from aop.contracts.errors import ErrorCode, InvalidRequest, Reason, Violation
from aop.contracts.wire import Wire

LATENCY_ERROR: Final = 0.02
MAX_BUCKETS: Final = 400
MINUTE: Final = 60
_DAY: Final = 86_400
_DEFAULT_LENGTH: Final = timedelta(hours=1)


class CallCounts(Wire, frozen=True, gc=False):
    """All Invocations, and the same by outcome."""

    calls: int
    running: int
    succeeded: int
    failed: int
    canceled: int
    timed_out: int


class Latency(Wire, frozen=True, kw_only=True, gc=False):
    """Milliseconds; only `max` is exact."""

    p50: int
    p90: int
    p99: int
    max: int


class AgentCounts(Wire, frozen=True, kw_only=True, gc=False):
    agent_id: str
    counts: CallCounts


class SkillCounts(Wire, frozen=True, kw_only=True, gc=False):
    agent_id: str
    capability: str
    counts: CallCounts


class ReasonCalls(Wire, frozen=True, kw_only=True, gc=False):
    reason: Reason
    calls: int


class CodeCalls(Wire, frozen=True, kw_only=True, gc=False):
    """Those that no reason has are the rest."""

    code: ErrorCode
    calls: int
    reasons: tuple[ReasonCalls, ...]


class WindowFigures(Wire, frozen=True, kw_only=True):
    """`other_…` are all that have no entry of their own."""

    counts: CallCounts
    latency: Latency | msgspec.UnsetType = msgspec.UNSET
    agents: tuple[AgentCounts, ...]
    other_agents: CallCounts | msgspec.UnsetType = msgspec.UNSET
    skills: tuple[SkillCounts, ...]
    other_skills: CallCounts | msgspec.UnsetType = msgspec.UNSET
    errors: tuple[CodeCalls, ...]


class LeftOut(Wire, frozen=True, kw_only=True):
    """How many have no entry of their own in the total."""

    agents: int
    skills: int


class FigureBucket(WindowFigures, frozen=True, kw_only=True):
    start: str


class Figures(Wire, frozen=True, kw_only=True):
    workspace_id: str
    since: str
    until: str
    step: int
    latency_error: float
    left_out: LeftOut
    total: WindowFigures
    buckets: tuple[FigureBucket, ...]


@dataclass(frozen=True)
class Window:
    """From `since` to before `until`, in steps of so many seconds; the last step may be shorter."""

    since: datetime
    until: datetime
    step: int

    @classmethod
    def of(cls, query: Mapping[str, Any], now: datetime) -> "Window":
        """From parameters that WINDOW_QUERY has read; the hour that ends with this minute by default."""
        until = query.get("until") or now.replace(second=0, microsecond=0) + timedelta(minutes=1)
        try:
            since = query.get("since") or until - _DEFAULT_LENGTH
        except OverflowError:
            raise InvalidRequest(Violation("/until", "query_value")) from None
        window = cls(since, until, query.get("step") or MINUTE)
        if since >= until:
            raise InvalidRequest(Violation("/until", "query_value"))
        if window.buckets > MAX_BUCKETS:
            raise InvalidRequest(Violation("/step", "query_value"))
        return window

    @property
    def buckets(self) -> int:
        return -(-(self.until - self.since) // timedelta(seconds=self.step))

    def start(self, bucket: int) -> str:
        return to_text(self.since + timedelta(seconds=self.step * bucket))

    @property
    def query(self) -> dict[str, str]:
        return {"since": to_text(self.since), "until": to_text(self.until), "step": str(self.step)}


def _whole_minute(text: str) -> datetime:
    moment = from_text(text).astimezone(UTC)
    if moment.second or moment.microsecond:
        raise ValueError("not a whole minute")
    return moment


def _step(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) <= 5 and text[0] != "0"):
        raise ValueError("not a number of seconds")
    step = int(text)
    if not MINUTE <= step <= _DAY or step % MINUTE:
        raise ValueError("not whole minutes up to a day")
    return step


WINDOW_QUERY = {"since": _whole_minute, "until": _whole_minute, "step": _step}

READERS: dict[str, type] = {"figures/1": Figures}
