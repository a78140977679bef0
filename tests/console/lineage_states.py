"""What the Ledger holds for the screens of Invocations, Trace and Status: every outcome, a nested Trace, an hour."""

from datetime import timedelta
from typing import Any

from tests.console.recorded import Call, ago, record
from tests.console.stack import Stack


def every_outcome(stack: Stack, workspace_id: str) -> list[Call]:
    """One Invocation of each kind, the oldest first; the last was interrupted."""
    kinds = [("succeeded", None), ("failed", "AGENT_UNAVAILABLE"), ("canceled", "CANCELED"), ("timed_out", "TIMEOUT")]
    calls = [
        Call(workspace_id, ago(minutes=30 - place), outcome=outcome, error_code=code)
        for place, (outcome, code) in enumerate(kinds)
    ]
    calls.append(Call(workspace_id, ago(minutes=20), outcome=None))
    record(stack, calls)
    return calls


def child(parent: Call, started: float, took: float, **members: Any) -> Call:
    """A call made by another, in milliseconds after it."""
    at = parent.created_at + timedelta(milliseconds=started)
    return Call(parent.workspace_id, at, latency=timedelta(milliseconds=took), parent=parent, **members)


def nested(stack: Stack, workspace_id: str) -> list[Call]:
    """A root of a second, two calls side by side, one of which fails, and one below the other."""
    root = Call(
        workspace_id,
        ago(minutes=10),
        agent_id="aop:meeting-brief",
        capability="digest-meetings",
        latency=timedelta(seconds=1),
    )
    brief = child(root, 100, 500, agent_id="aop:meeting-brief", capability="brief-meeting")
    failed: dict[str, Any] = {"outcome": "failed", "error_code": "AGENT_UNAVAILABLE", "reason": "connect_failed"}
    items = child(root, 200, 600, agent_id="aop:action-items", capability="extract-action-items", **failed)
    calls = [root, brief, items, child(brief, 150, 250)]
    record(stack, calls)
    return calls


def an_hour(stack: Stack, workspace_id: str) -> None:
    """90 good ones of 1 to 90 ms, ten that failed after 100 ms, one canceled, one interrupted, and one too old."""
    good = [Call(workspace_id, ago(minutes=n % 50 + 2), latency=timedelta(milliseconds=n + 1)) for n in range(90)]
    after = timedelta(milliseconds=100)
    why = {"error_code": "AGENT_UNAVAILABLE", "reason": "connect_failed"}
    failed: dict[str, Any] = {"latency": after, "outcome": "failed", **why}
    bad = [Call(workspace_id, ago(minutes=5), capability="shorten", **failed) for _ in range(10)]
    others = [
        Call(workspace_id, ago(minutes=7), outcome="canceled", error_code="CANCELED"),
        Call(workspace_id, ago(minutes=9), outcome=None),
        Call(workspace_id, ago(minutes=70), outcome="failed", error_code="INTERNAL_ERROR"),
    ]
    record(stack, [*good, *bad, *others])


def trace_path(call: Call) -> str:
    return f"/workspaces/{call.workspace_id}/traces/{call.trace_id}"


def invocation_path(call: Call) -> str:
    return f"/workspaces/{call.workspace_id}/invocations/{call.invocation_id}"


def invocations(stack: Stack) -> str:
    workspace_id = stack.workspace("invocations")
    nested(stack, workspace_id)
    every_outcome(stack, workspace_id)
    return f"/workspaces/{workspace_id}/invocations"


def traces(stack: Stack) -> str:
    return f"{invocations(stack).removesuffix('/invocations')}/traces"


def compared(stack: Stack) -> str:
    workspace_id = stack.workspace("compared")
    first, second = nested(stack, workspace_id), nested(stack, workspace_id)
    return f"{trace_path(first[0])}?with={second[0].trace_id}"


def one(place: int) -> Any:
    """The page of one of `every_outcome`."""
    return lambda stack: invocation_path(every_outcome(stack, stack.workspace("outcome"))[place])


def caller_of_others(stack: Stack) -> str:
    return invocation_path(nested(stack, stack.workspace("caller"))[0])


def trace(*, chosen: int = 0, view: str = "") -> Any:
    def place(stack: Stack) -> str:
        calls = nested(stack, stack.workspace("trace"))
        return f"{trace_path(calls[0])}?invocation={calls[chosen].invocation_id}{view}"

    return place


def interrupted_trace(stack: Stack) -> str:
    root = Call(stack.workspace("broken"), ago(minutes=9), deadline=timedelta(seconds=20), outcome=None)
    record(stack, [root, child(root, 2000, 6000)])
    return trace_path(root)


def status(stack: Stack) -> str:
    workspace_id = stack.workspace("status")
    an_hour(stack, workspace_id)
    return f"/status?workspace={workspace_id}"
