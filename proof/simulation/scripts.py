"""What Agents do in a simulated world: answers and streams of every kind the contract speaks of, with how they end."""

import json
import random
from collections.abc import Callable
from typing import Any

from proof.simulation.agent import OF_TASK, Script, Step

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
