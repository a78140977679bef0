"""The calls that every client makes at the door, and what each must come to."""

from collections.abc import Iterator, Mapping
from typing import Any

from interop.callers import Planned, SdkCaller, planned

HELLO, BREAK, EARLY, WAIT = "hello", "break", "early", "wait"
SAID = f"You said: {HELLO}"
CONTEXT = "ctx-1"
_FAILED = {"code": "AGENT_EXECUTION_FAILED", "reason": "task_failed"}


def plan_for(chat: str, typed: str) -> list[Planned]:
    """`chat` streams and has one Skill, which takes a text; `typed` does not stream and has two Skills."""
    return [
        planned("send", chat, "send", HELLO),
        planned("stream", chat, "stream", HELLO),
        planned("object", typed, "send", {"n": 1}, skill="typed"),
        planned("object in a stream", typed, "stream", {"n": 1}, skill="typed"),
        planned("failure", chat, "send", BREAK),
        planned("failure in a stream", chat, "stream", BREAK),
        planned("early end", chat, "stream", EARLY),
        planned("refusal", chat, "send", HELLO, skill="none"),
        planned("leave", chat, "leave", WAIT),
        planned("cancel", chat, "cancel", WAIT),
    ]


REQUIRED: Mapping[str, Mapping[str, Any]] = {
    "send": {"state": "completed", "value": SAID},
    "stream": {"state": "completed", "value": SAID},
    "object": {"state": "completed", "value": {"n": 1}},
    "object in a stream": {"state": "completed", "value": {"n": 1}},
    "failure": {"state": "failed", "facts": _FAILED},
    "failure in a stream": {"state": "failed", "facts": _FAILED},
    "early end": {"state": "failed", "facts": {"code": "A2A_PROTOCOL_ERROR", "reason": "stream_ended_early"}},
    "refusal": {"error": {"code": "CAPABILITY_NOT_ALLOWED", "reason": "skill_unknown"}},
    "leave": {"state": "working"},
    "cancel": {"state": "canceled", "canceled": "canceled"},
}


def problems(caller: SdkCaller, outcomes: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Every call that came to something else than it must."""
    for name, required in REQUIRED.items():
        if name in caller.left_out:
            continue
        found = _summary(outcomes.get(name, {}))
        for member, value in {"error": None, **required}.items():
            seen = found.get(member)
            agrees = (
                isinstance(seen, dict) and value.items() <= seen.items() if isinstance(value, dict) else seen == value
            )
            if not agrees:
                yield f"{name}: {member} is {seen!r}, and not {value!r} ({outcomes.get(name)})"
        if found.get("read") not in {None, found.get("state")}:
            yield f"{name}: the Ledger says {found['read']}, the answer {found['state']}"
        if found.get("context", CONTEXT) != CONTEXT:
            yield f"{name}: the context is {found.get('context')!r}"


def _summary(outcome: Mapping[str, Any]) -> dict[str, Any]:
    values, error = outcome.get("values", []), outcome.get("error")
    joined = "".join(values) if all(isinstance(value, str) for value in values) else values[0]
    return {
        **outcome,
        "state": (outcome.get("states") or [None])[-1],
        "value": joined,
        "error": None if error is None else error.get("facts") or error,
    }


def callers_table(results: Mapping[SdkCaller, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    lines = [f"| Client | {' | '.join(REQUIRED)} |", f"|---|{'---|' * len(REQUIRED)}"]
    for caller, outcomes in results.items():
        cells = [_cell(outcomes.get(name)) for name in REQUIRED]
        lines.append(f"| {' | '.join([caller.packages, *cells])} |")
    return lines


def _cell(outcome: Mapping[str, Any] | None) -> str:
    if outcome is None:
        return "—"
    found = _summary(outcome)
    facts = found["error"] or found.get("facts") or {}
    said = "" if "code" not in facts else f" {facts['code']}" + (f" ({facts['reason']})" if "reason" in facts else "")
    return f"{'error' if found['error'] else found['state']}{said}"
