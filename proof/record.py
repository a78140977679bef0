"""What was seen of a fault run: by each caller, by each Agent, in the Ledger, in logs and metrics. Values only."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TERMINAL_EVENTS = {"completed": "succeeded", "failed": "failed", "canceled": "canceled", "timed_out": "timed_out"}
"""The terminal of a stream, and how the Ledger names it."""
_OUTCOME_OF_CODE = {"CANCELED": "canceled", "TIMEOUT": "timed_out"}


@dataclass
class CallResult:
    """What one caller saw of one call, as far as it stayed. Times are seconds of the real clock.

    `status` is None without a whole head; `complete` says that the answer came to its proper end; `left` that the
    caller went away by itself before that. `outcome` is the terminal in the Ledger's words, None without one.
    """

    began: float
    ended: float = 0.0
    status: int | None = None
    trace_id: str | None = None
    invocation_id: str | None = None
    code: str | None = None
    outcome: str | None = None
    events: Sequence[Mapping[str, Any]] = ()
    complete: bool = False
    left: bool = False
    body: bytes = b""
    reason: str | None = None

    @property
    def is_refusal(self) -> bool:
        """An error without ids."""
        return self.status is not None and self.status >= 400 and self.invocation_id is None

    @property
    def seconds(self) -> float:
        return self.ended - self.began

    @property
    def chunk_count(self) -> int:
        return sum(event["type"] == "chunk" for event in self.events)

    @property
    def chunk_values(self) -> list[Any]:
        return [event["chunk"] for event in self.events if event["type"] == "chunk"]

    def read_document(self, document: Mapping[str, Any]) -> None:
        """Takes the ids and the outcome from a whole JSON answer."""
        self.invocation_id, self.code = document.get("invocationId"), document.get("code")
        self.reason = document.get("reason")
        if self.invocation_id is not None:
            failed = _OUTCOME_OF_CODE.get(str(self.code), "failed")
            self.outcome = "succeeded" if self.status == 200 else failed


@dataclass(frozen=True)
class AgentCall:
    """One request as an Agent saw it."""

    at: float
    method: str
    invocation_id: str
    jti: str


@dataclass(frozen=True)
class Fact:
    """A row behind the opening: progress or a terminal. `durable` is when its transaction committed, if the server
    keeps that."""

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
    """Everything the checker reads. An empty member is not checked.

    `details` are Invocations as the Gateway shows them, `{invocation, events}`; `breaches` the report of `aop ledger
    check`; `log` records of the Gateway's log; `texts` by place all that was logged, stored, measured and answered;
    `counted` ended Invocations by outcome as the Routers count them, None when one of them began anew.
    A Gateway may not have logged what it answered just before a time in `gateway_killed`. With `router_lost` it may
    have lost a Router that had accepted: then it cannot know the ids (contract 8.3).
    """

    callers: Sequence[CallResult] = ()
    agents: Sequence[AgentCall] = ()
    ledger: Sequence[Recorded] = ()
    details: Sequence[Mapping[str, Any]] = ()
    breaches: Sequence[str] = ()
    log: Sequence[Mapping[str, Any]] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    canaries: Mapping[str, str] = field(default_factory=dict)
    counted: Mapping[str, float] | None = None
    resources: Sequence[Resources] = ()
    outage: Sequence[OutageAnswer] = ()
    gateway_killed: Sequence[float] = ()
    router_lost: bool = False
