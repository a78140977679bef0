"""What was seen of a fault run: by each caller, by each Agent, in the Ledger, in logs and metrics. Values only."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TERMINAL_EVENTS = {"completed": "succeeded", "failed": "failed", "canceled": "canceled", "timed_out": "timed_out"}
"""The terminal of a stream, and how the Ledger names it."""


@dataclass(frozen=True)
class Told:
    """What one caller saw of one call, as far as it stayed. Times are seconds of the real clock.

    `status` is None without a whole head; `complete` says that the answer came to its proper end; `left` that the
    caller went away by itself before that.
    """

    began: float
    ended: float
    status: int | None = None
    trace_id: str | None = None
    invocation_id: str | None = None
    code: str | None = None
    outcome: str | None = None
    """The terminal it was told of, in the Ledger's words; None when it was told of none."""
    events: Sequence[Mapping[str, Any]] = ()
    complete: bool = False
    left: bool = False
    body: bytes = b""
    reason: str | None = None

    @property
    def is_refusal(self) -> bool:
        """An error without ids."""
        return self.status is not None and self.status >= 400 and self.invocation_id is None


@dataclass(frozen=True)
class AgentCall:
    """One request as an Agent saw it."""

    at: float
    method: str
    invocation_id: str
    jti: str


@dataclass(frozen=True)
class Fact:
    """A row behind the opening: progress or a terminal. `durable` is when its transaction committed, where known."""

    sequence: int
    type: str
    code: str | None
    occurred: float
    durable: float | None = None
    chunk_index: int | None = None
    chunk_count: int | None = None


@dataclass(frozen=True)
class Recorded:
    """One Invocation as the Ledger holds it; `opening` is how many events its first row stands for."""

    invocation_id: str
    trace_id: str
    opening: int
    created: float
    durable: float | None
    facts: Sequence[Fact]

    @property
    def terminals(self) -> Sequence[Fact]:
        return [fact for fact in self.facts if fact.type != "stream"]

    @property
    def chunks(self) -> int:
        return sum(fact.chunk_count or 0 for fact in self.facts)


@dataclass(frozen=True)
class Resources:
    """What a process held before any work and well after it."""

    process: str
    descriptors_before: int
    descriptors_after: int
    in_flight_after: float = 0.0


@dataclass(frozen=True)
class OutageAnswer:
    """An answer given while something it needed was surely down."""

    what: str
    status: int
    body: bytes

    @property
    def pretends(self) -> bool:
        """Success, absence or an empty list, none of which anybody could know."""
        if self.status in {200, 201, 404}:
            return True
        try:
            return bool(json.loads(self.body or b"null") in ([], {"items": []}))
        except ValueError:
            return False


@dataclass(frozen=True)
class History:
    """Everything the checker looks at. An empty member is not looked at."""

    callers: Sequence[Told] = ()
    agents: Sequence[AgentCall] = ()
    ledger: Sequence[Recorded] = ()
    details: Sequence[Mapping[str, Any]] = ()
    """Invocations as the Gateway tells them: `{invocation, events}`."""
    breaches: Sequence[str] = ()
    """What `aop ledger check` reports."""
    log: Sequence[Mapping[str, Any]] = ()
    """Records of the Gateway's log."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """By place: all that was logged, stored, measured and answered."""
    canaries: Mapping[str, str] = field(default_factory=dict)
    counted: Mapping[str, float] | None = None
    """Ended Invocations by outcome as the Routers count them; None when one of them began anew."""
    resources: Sequence[Resources] = ()
    outage: Sequence[OutageAnswer] = ()
    gateway_killed: Sequence[float] = ()
    """When: what it answered just before may not be in its log."""
    router_lost: bool = False
    """The Gateway may have lost a Router that had accepted: then it cannot know the ids (contract 8.3)."""
