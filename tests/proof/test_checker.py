"""The checker itself: a sound history passes, and each way to break an invariant is found by its own words."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from proof.checker import violations
from proof.record import AgentCall, CallResult, Fact, History, OutageAnswer, Recorded, Resources
from tests.support.every import every

JSON_ID, STREAM_ID, LOST_ID = "inv_1", "inv_2", "inv_3"


def event(number: int, kind: str, **members: Any) -> dict[str, Any]:
    return {"sequence": number, "type": kind, **members}


STREAM = (
    event(0, "accepted"),
    event(1, "chunk", chunkIndex=0),
    event(2, "chunk", chunkIndex=1),
    event(3, "completed"),
)
DETAIL: dict[str, Any] = {
    "invocation": {"invocationId": JSON_ID, "agentReleaseId": "r", "agentCardDigest": "d", "status": "succeeded"},
    "events": [
        {"sequence": number, "status": status, "agentReleaseId": "r", "agentCardDigest": "d"}
        for number, status in enumerate(("pending", "routing", "running", "succeeded"))
    ],
}
SOUND = History(
    callers=(
        CallResult(10.0, 11.0, 200, "t1", JSON_ID, None, "succeeded", complete=True),
        CallResult(10.0, 12.0, 200, "t2", STREAM_ID, None, "succeeded", STREAM, complete=True),
        CallResult(
            *(10.0, 10.5, 503, "t3", None, "DEPENDENCY_ERROR"),
            complete=True,
            body=b"{}",
            reason="acceptance_unknown",
        ),
        CallResult(10.0, 10.5, 409, "t4", None, "INSTALLATION_DISABLED", complete=True, body=b"{}"),
    ),
    agents=(
        AgentCall(10.3, "message/send", JSON_ID, "j1"),
        AgentCall(10.4, "tasks/get", JSON_ID, "j2"),
        AgentCall(10.5, "tasks/get", JSON_ID, "j3"),
        AgentCall(10.3, "message/stream", STREAM_ID, "j4"),
    ),
    ledger=(
        Recorded(JSON_ID, "t1", 3, 10.1, 10.2, (Fact(3, "succeeded", None, 10.8, 10.9),)),
        Recorded(
            STREAM_ID,
            "t2",
            3,
            10.1,
            10.2,
            (Fact(3, "stream", None, 11.0, 11.0, 1, 2), Fact(4, "succeeded", None, 11.5, 11.6)),
        ),
        Recorded(LOST_ID, "t3", 3, 10.1, 10.2, (Fact(3, "failed", "DEPENDENCY_ERROR", 10.8, 10.9),)),
    ),
    details=(DETAIL,),
    log=tuple(
        {"traceId": f"t{number}", "status": status} | ({} if code is None else {"code": code})
        for number, status, code in (
            (1, 200, None),
            (2, 200, None),
            (3, 503, "DEPENDENCY_ERROR"),
            (4, 409, "INSTALLATION_DISABLED"),
        )
    ),
    texts={"the log": "nothing to see"},
    canaries={"token": "a-secret-value"},
    counted={"succeeded": 2, "failed": 1},
    resources=(Resources("router-1", 20, 22),),
    outage=(OutageAnswer("a read", 503, b"{}"),),
)


def with_caller(number: int, **changes: Any) -> History:
    callers = list(SOUND.callers)
    callers[number] = replace(callers[number], **changes)
    return replace(SOUND, callers=callers)


def row(number: int, **changes: Any) -> History:
    rows = list(SOUND.ledger)
    rows[number] = replace(rows[number], **changes)
    return replace(SOUND, ledger=rows)


def call(**changes: Any) -> History:
    return replace(SOUND, agents=(*SOUND.agents, replace(SOUND.agents[0], **changes)))


def detail(**changes: Any) -> History:
    events = [*DETAIL["events"][:-1], {**DETAIL["events"][-1], **changes}]
    return replace(SOUND, details=({**DETAIL, "events": events},))


ENDED = Fact(3, "succeeded", None, 10.8, 10.9)
BROKEN: dict[str, tuple[Callable[[], History], str]] = {
    "no terminal": (lambda: row(0, facts=()), "has 0 terminals"),
    "two terminals": (lambda: row(0, facts=(ENDED, replace(ENDED, sequence=4))), "has 2 terminals"),
    "a gap in the Ledger": (lambda: row(0, facts=(replace(ENDED, sequence=4),)), "its events are not numbered"),
    "a gap in recorded chunks": (
        lambda: row(1, facts=(Fact(3, "stream", None, 11.0, 11.0, 2, 2), replace(ENDED, sequence=4))),
        "its chunks are not counted",
    ),
    "a gap in a stream": (
        lambda: with_caller(1, events=STREAM[:1] + STREAM[2:]),
        "the stream's events are not numbered",
    ),
    "a gap in delivered chunks": (
        lambda: with_caller(1, events=(*STREAM[:2], event(2, "chunk", chunkIndex=2), STREAM[3])),
        "the stream's chunks are not numbered",
    ),
    "no accepted first": (
        lambda: with_caller(1, events=(event(0, "chunk", chunkIndex=0), event(1, "completed"))),
        "`accepted` is not the first",
    ),
    "an event behind the terminal": (
        lambda: with_caller(1, events=(*STREAM, event(4, "failed"))),
        "an event behind the terminal",
    ),
    "told otherwise than recorded": (
        lambda: with_caller(0, outcome="failed", code="AGENT_UNAVAILABLE", status=503),
        "told failed/AGENT_UNAVAILABLE, recorded succeeded/None",
    ),
    "a result without a record": (lambda: with_caller(0, invocation_id="inv_9"), "the Ledger knows nothing of it"),
    "another Trace": (lambda: with_caller(0, trace_id="t9"), "told under another Trace"),
    "told before durable": (lambda: with_caller(0, ended=10.85), "told before it was durable"),
    "a chunk not recorded": (
        lambda: row(1, facts=(Fact(3, "stream", None, 11.0, 11.0, 0, 1), replace(ENDED, sequence=4))),
        "2 chunks were delivered, 1 recorded",
    ),
    "a refusal that ran": (
        lambda: row(2, facts=(Fact(3, "succeeded", None, 10.8, 10.9),)),
        "yet recorded other than failed/DEPENDENCY_ERROR",
    ),
    "a refusal that was recorded": (lambda: with_caller(2, reason=None), "as if nobody had accepted it, yet recorded"),
    "a refusal that reached the Agent": (
        lambda: call(invocation_id=LOST_ID, jti="j9"),
        "yet its Agent was contacted",
    ),
    "two messages": (lambda: call(jti="j9"), "its Agent got 2 of message"),
    "two cancels": (
        lambda: replace(
            SOUND,
            agents=[*SOUND.agents, *(AgentCall(10.9, "tasks/cancel", JSON_ID, name) for name in ("j8", "j9"))],
        ),
        "its Agent got 2 of cancel",
    ),
    "an Agent contacted for nothing": (lambda: call(invocation_id="inv_9", jti="j9"), "yet it was never accepted"),
    "an Agent contacted too early": (
        lambda: call(method="tasks/get", at=10.15, jti="j9"),
        "got tasks/get before acceptance",
    ),
    "a credential used twice": (lambda: call(method="tasks/get"), "a credential was used 2 times"),
    "two Releases": (lambda: detail(agentReleaseId="other"), "do not all name one Release"),
    "two digests": (lambda: detail(agentCardDigest="other"), "do not all name one Release"),
    "a detail with a gap": (lambda: detail(sequence=7), "its events are told with a gap"),
    "a detail that disagrees": (lambda: detail(status="failed"), "told as succeeded, its last event as failed"),
    "a canary": (lambda: replace(SOUND, texts={"the log": "…a-secret-value…"}), "the canary token appears in the log"),
    "a canary in disguise": (
        lambda: replace(SOUND, texts={"rows": b"a-secret-value".hex()}),
        "the canary token appears in rows",
    ),
    "an unsound Ledger": (lambda: replace(SOUND, breaches=("inv_1: is broken",)), "ledger check: inv_1"),
    "an answer not logged": (lambda: replace(SOUND, log=SOUND.log[1:]), "answered, but not in the log"),
    "an answer logged otherwise": (
        lambda: replace(SOUND, log=(*SOUND.log[:3], {"traceId": "t4", "status": 409, "code": "CONFLICT"})),
        "logged 409/CONFLICT",
    ),
    "an outcome not counted": (lambda: replace(SOUND, counted={"succeeded": 1, "failed": 1}), "1 counted"),
    "an outcome counted twice": (
        lambda: replace(SOUND, counted={"succeeded": 2, "failed": 1, "canceled": 1}),
        "0 recorded as canceled",
    ),
    "descriptors that stay": (
        lambda: replace(SOUND, resources=(Resources("router-1", 20, 80),)),
        "20 descriptors before, 80 after",
    ),
    "work that stays": (
        lambda: replace(SOUND, resources=(Resources("router-1", 20, 20, 3.0),)),
        "3 invocations in flight",
    ),
    "an outage told as absence": (
        lambda: replace(SOUND, outage=(OutageAnswer("a read", 404, b"{}"),)),
        "a read: answered 404",
    ),
    "an outage told as success": (
        lambda: replace(SOUND, outage=(OutageAnswer("a call", 200, b"{}"),)),
        "a call: answered 200",
    ),
    "an outage told as an empty list": (
        lambda: replace(SOUND, outage=(OutageAnswer("a list", 206, b'{"items": []}'),)),
        "a list: answered 206",
    ),
}


def test_a_sound_history_passes() -> None:
    assert violations(SOUND) == []


@every("name", BROKEN)
def test_each_broken_history_is_found(name: str) -> None:
    history, words = BROKEN[name]
    found = violations(history())
    assert any(words in problem for problem in found), found


def test_a_caller_told_of_a_failed_dependency_may_find_a_terminal_that_had_been_committed() -> None:
    assert violations(with_caller(0, outcome="failed", code="DEPENDENCY_ERROR", status=503, complete=False)) == []


def test_a_gateway_that_lost_its_router_cannot_know_the_ids() -> None:
    """Contract 8.3: the Invocation may have run; its caller was told only that a dependency failed."""
    reached = replace(call(invocation_id=LOST_ID, jti="j9"), router_lost=True)
    assert violations(reached) == []
    assert violations(replace(reached, router_lost=False)) != []


def test_a_gateway_that_was_killed_may_not_have_logged_what_it_answered_last() -> None:
    unlogged = replace(SOUND, log=SOUND.log[1:])
    assert violations(replace(unlogged, gateway_killed=(11.1,))) == []
    assert violations(replace(unlogged, gateway_killed=(12.0,))) != []
