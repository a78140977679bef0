"""What a seed means: who calls when, what Agents, store and callers do wrong, and how the Router's life ends."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from proof.simulation.agent import OF_TASK, Script, Step
from tests.ledger.simulated.store import FAULTED, StorePlan

Value = dict[str, Any] | str

FOREVER = 1e6
_OK = "succeeded"
_REQUEST_ID = "%id%"
"""Stands for the id of the request that is answered."""

_GOOD: Value = {"n": 1}
_BIG: Value = {"n": 1, "filling": "x" * 9000}
_BAD: Value = "not what the schema says"


def _answer(**result: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": _REQUEST_ID, "result": result})


def _message(value: Value) -> str:
    return _answer(kind="message", messageId="m", role="agent", parts=_parts(value))


def _task(state: str, value: Value = _GOOD) -> str:
    artifacts = [{"artifactId": "a", "parts": _parts(value)}]
    return _answer(kind="task", id="t", contextId="c", status={"state": state}, artifacts=artifacts)


def _parts(value: Value) -> list[Any]:
    return [{"kind": "data", "data": value}]


def _event(text: str) -> str:
    return f"data: {text}\n\n"


def _status(state: str, *, final: bool) -> str:
    return _event(_answer(kind="status-update", **OF_TASK, final=final, status={"state": state}))


def _artifact(value: Value, *, more: bool, last: bool = False) -> str:
    artifact = {"artifactId": "a", "parts": _parts(value)}
    return _event(_answer(kind="artifact-update", **OF_TASK, append=more, lastChunk=last, artifact=artifact))


_COMPLETED = _artifact(_GOOD, more=True, last=True) + _status("completed", final=True)
_FAILED = json.dumps({"jsonrpc": "2.0", "id": _REQUEST_ID, "error": {"code": -32000, "message": "no"}})

# name: (steps, how it ends)
JSON: dict[str, tuple[tuple[str, ...], str]] = {
    "message": ((_message(_GOOD),), _OK),
    "task": ((_task("completed"),), _OK),
    "polled task": ((_task("working"), _task("working"), _task("completed")), _OK),
    "failing task": ((_task("submitted"), _task("failed")), "failed AGENT_EXECUTION_FAILED"),
    "rejected task": ((_task("rejected"),), "failed AGENT_EXECUTION_FAILED"),
    "canceled task": ((_task("working"), _task("canceled")), "canceled CANCELED"),
    "asking task": ((_task("input-required"),), "failed AGENT_EXECUTION_FAILED"),
    "endless task": ((_task("working"),), "timed_out TIMEOUT"),
    "error": ((_FAILED,), "failed AGENT_EXECUTION_FAILED"),
    "status 500": (("#500",), "failed AGENT_UNAVAILABLE"),
    "no JSON": (("what?",), "failed A2A_PROTOCOL_ERROR"),
    "bad output": ((_task("completed", _BAD),), "failed A2A_PROTOCOL_ERROR"),
    "too large": (("!large",), "failed AGENT_RESPONSE_TOO_LARGE"),
    "unreachable": (("!connect",), "failed AGENT_UNAVAILABLE"),
    "broken": (("!broken",), "failed AGENT_UNAVAILABLE"),
    "broken later": ((_task("working"), "!broken"), "failed AGENT_UNAVAILABLE"),
    "silent": (("",), "timed_out TIMEOUT"),
}
# name: (what stands behind the chunks, how it ends)
STREAMS: dict[str, tuple[tuple[str, ...], str]] = {
    "completed": ((_COMPLETED,), _OK),
    "said more": ((_COMPLETED + _status("completed", final=True),), _OK),
    "messages": ((), _OK),
    "failing": ((_status("failed", final=True),), "failed AGENT_EXECUTION_FAILED"),
    "canceling": ((_status("canceled", final=True),), "canceled CANCELED"),
    "cut": (("!broken",), "failed AGENT_UNAVAILABLE"),
    "ended early": ((_status("working", final=False),), "failed A2A_PROTOCOL_ERROR"),
    "bad event": ((_event("what?"),), "failed A2A_PROTOCOL_ERROR"),
    "bad output": ((_artifact(_BAD, more=True),), "failed A2A_PROTOCOL_ERROR"),
    "unreachable": (("!connect",), "failed AGENT_UNAVAILABLE"),
    "status 500": (("#500",), "failed AGENT_UNAVAILABLE"),
    "stalled": ((_status("working", final=False), ""), "timed_out TIMEOUT"),
}
_JSON_NAMES, _STREAM_NAMES = tuple(JSON), tuple(STREAMS)
_MESSAGES = {size: _event(_message(value)) for size, value in enumerate((_GOOD, _BIG))}
_ARTIFACTS = {
    (size, more): _artifact(value, more=more) for size, value in enumerate((_GOOD, _BIG)) for more in (False, True)
}
_AT_ONCE = frozenset({"unreachable", "status 500"})


def json_script(source: random.Random, child: str | None) -> Script:
    name = source.choice(_JSON_NAMES)
    says, ends = JSON[name]
    pause = _pauses(source)
    steps = [Step(FOREVER if not text else pause(), text) for text in says]
    return Script(f"json: {name}", steps, ends, child)


def stream_script(source: random.Random, child: str | None) -> Script:
    name = source.choice(_STREAM_NAMES)
    says, ends = STREAMS[name]
    pause = _pauses(source)
    count = 0 if name in _AT_ONCE else source.randint(1, 5)
    size = 1 if source.random() < 0.3 else 0
    if name == "messages":
        pieces = [_MESSAGES[size]] * count
    else:
        pieces = [_ARTIFACTS[size, number > 0] for number in range(count)]
    steps = [Step(FOREVER if not text else pause(), text) for text in (*pieces, *says)]
    chunks = count + (1 if name in {"completed", "said more"} else 0)
    return Script(f"stream: {name}", steps, ends, child, chunks)


def _pauses(source: random.Random) -> Callable[[], float]:
    max_pause = source.choice((0.0, 0.05, 0.4))
    return lambda: source.random() * max_pause


FIRST_PAUSE = 0.3


class Ending(StrEnum):
    """How a life of the Router ends."""

    QUIET = "quiet"
    DRAIN = "drain"
    KILLED = "killed"
    FENCED = "fenced by a newer epoch"


class Kind(StrEnum):
    """The Card an Invocation runs against."""

    USUAL = "usual"
    HASTY = "short deadline"
    WHOLE = "no streams"
    FOREIGN = "foreign authentication"


_CARDS = (Kind.USUAL,) * 12 + (Kind.HASTY,) * 4 + (Kind.WHOLE, Kind.FOREIGN)


@dataclass(frozen=True)
class CallPlan:
    name: str
    at: float
    """In seconds of the Router's life, for a child of its parent's work."""
    stream: bool
    card: Kind
    script: Script
    leaves_after: float | None
    stalls: float
    resolve_seconds: float
    """How long the Control Plane takes to say which Card; 0 when the Router knows it already."""
    parent: str | None = None


@dataclass(frozen=True)
class Plan:
    seed: int
    calls: tuple[CallPlan, ...]
    store: StorePlan
    ending: Ending
    ends_at: float
    grace: float
    clock_back_at: float | None
    suspended_at: float | None

    @property
    def roots(self) -> tuple[CallPlan, ...]:
        return tuple(call for call in self.calls if call.parent is None)


def plan_of(seed: int) -> Plan:
    source = random.Random(seed)
    store = _store(source)
    calls: list[CallPlan] = []
    # A stall shows what it does only to calls that go on coming.
    for number in range(source.choice((5, 9) if store.stalled_until else (1, 1, 1, 2, 3))):
        name = f"call-{number}"
        child = f"{name}-child" if source.random() < 0.2 else None
        root = _call(source, name, child, None)
        calls.append(replace(root, at=source.random() * (store.stalled_until + 1)) if store.stalled_until else root)
        if child is not None:
            calls.append(_call(source, child, None, name))
    ending = source.choice((Ending.QUIET, Ending.QUIET, *Ending))
    return Plan(
        seed,
        tuple(calls),
        store,
        ending,
        source.choice((0.02, 0.3, 1.5)) * source.random(),
        source.choice((0.0, 0.2, 5.0)),
        source.random() if source.random() < 0.1 else None,
        0.3 * source.random() if source.random() < 0.05 else None,
    )


def _call(source: random.Random, name: str, child: str | None, parent: str | None) -> CallPlan:
    stream = source.random() < 0.5
    card = source.choice(_CARDS) if parent is None else Kind.USUAL
    return CallPlan(
        name,
        source.choice((0.0, 0.0, FIRST_PAUSE)) * source.random(),
        stream,
        card,
        stream_script(source, child) if stream else json_script(source, child),
        source.choice((0.01, 0.3, 2.0)) * source.random() if source.random() < 0.3 else None,
        source.choice((0.5, 30.0)) if stream and source.random() < 0.2 else 0.0,
        source.choice((0.02, 3.0)) * source.random() if source.random() < 0.15 else 0.0,
        parent,
    )


def _store(source: random.Random) -> StorePlan:
    weather = source.random()
    if weather < 0.4:
        return StorePlan()
    if weather < 0.6:
        return StorePlan(fault_rate=0.3)
    if weather < 0.82:
        return StorePlan(fault_rate=0.7, only=source.choice(FAULTED[:3]))
    begins = source.choice((0.0, 0.5)) * source.random()
    if weather < 0.92:
        begins *= source.choice((1, 4))
        return StorePlan(stalled_from=begins, stalled_until=begins + source.choice((1.5, 4.0, 7.0)))
    return StorePlan(fault_rate=0.1, down_from=begins, down_until=begins + source.choice((0.2, 1.0, 6.0)))
