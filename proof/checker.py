"""The invariants of every fault run, as one pure function from what was seen to what of it may not be."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from aop.ledger.model import OPENING_EVENTS, Opening
from proof.record import TERMINAL_EVENTS, AgentCall, CallResult, History, Recorded
from tests.support.canaries import spellings

DEPENDENCY_ERROR = "DEPENDENCY_ERROR"
ACCEPTANCE_UNKNOWN = "acceptance_unknown"
_CLOCK_GRAIN = 0.002
"""Both clocks are the machine's; what is read a moment apart may differ by this."""
_SPARE_DESCRIPTORS = 6
"""Pools keep a few connections; a leak grows with the work."""
_RUNNING = len(OPENING_EVENTS[Opening.STARTED])
_LAST_WORDS_SECONDS = 0.5
"""So long around its death a process may have answered without having logged it."""

Check = Callable[[History], Iterator[str]]


def violations(history: History) -> list[str]:
    """Every broken invariant, in words that name the Invocation, Trace or process."""
    return [problem for check in CHECKS for problem in check(history)]


def _one_terminal_each(history: History) -> Iterator[str]:
    """Every accepted Invocation has exactly one terminal."""
    for row in history.ledger:
        if len(row.terminals) != 1:
            yield f"{row.invocation_id}: accepted, but has {len(row.terminals)} terminals"


def _no_gaps(history: History) -> Iterator[str]:
    """Events and chunks are numbered without a gap, in the Ledger and in every stream; a terminal is the last."""
    for row in history.ledger:
        if [fact.sequence for fact in row.facts] != list(range(row.opening, row.opening + len(row.facts))):
            yield f"{row.invocation_id}: its events are not numbered without a gap"
        if any(fact.type != "stream" for fact in row.facts[:-1]):
            yield f"{row.invocation_id}: an event stands behind its terminal"
        last = -1
        for fact in row.facts:
            if fact.type == "stream":
                last += fact.chunk_count or 0
                if fact.chunk_index != last:
                    yield f"{row.invocation_id}: its chunks are not counted without a gap"
    for result in history.callers:
        yield from _stream_problems(result)


def _stream_problems(result: CallResult) -> Iterator[str]:
    events, about = result.events, result.invocation_id or result.trace_id
    if [event["sequence"] for event in events] != list(range(len(events))):
        yield f"{about}: the stream's events are not numbered without a gap"
    chunks = [event["chunkIndex"] for event in events if event["type"] == "chunk"]
    if chunks != list(range(len(chunks))):
        yield f"{about}: the stream's chunks are not numbered without a gap"
    if [event["type"] == "accepted" for event in events] != [number == 0 for number in range(len(events))]:
        yield f"{about}: `accepted` is not the first event alone"
    if any(event["type"] in TERMINAL_EVENTS for event in events[:-1]):
        yield f"{about}: an event behind the terminal"


def _callers_agree_with_ledger(history: History) -> Iterator[str]:
    """What a caller was told is what the Ledger holds, and was durable before."""
    rows = {row.invocation_id: row for row in history.ledger}
    for result in history.callers:
        if result.outcome is None or result.invocation_id is None:
            continue
        row = rows.get(result.invocation_id)
        if row is None:
            yield f"{result.invocation_id}: its caller was told {result.outcome}, the Ledger knows nothing of it"
        elif result.code != DEPENDENCY_ERROR and row.terminals:
            yield from _disagreements(result, row)


def _disagreements(result: CallResult, row: Recorded) -> Iterator[str]:
    terminal = row.terminals[0]
    if (terminal.type, terminal.code) != (result.outcome, result.code):
        yield f"{row.invocation_id}: told {result.outcome}/{result.code}, recorded {terminal.type}/{terminal.code}"
    if result.trace_id is not None and result.trace_id != row.trace_id:
        yield f"{row.invocation_id}: told under another Trace than it is recorded"
    if terminal.durable is not None and result.ended < terminal.durable - _CLOCK_GRAIN:
        yield f"{row.invocation_id}: its terminal was told before it was durable"
    if result.complete and result.chunk_count != row.chunks:
        yield f"{row.invocation_id}: {result.chunk_count} chunks were delivered, {row.chunks} recorded"


def _refusals_left_nothing(history: History) -> Iterator[str]:
    """A refused call left nothing behind, or says that nobody can know yet."""
    by_trace = {row.trace_id: row for row in sorted(history.ledger, key=lambda row: -row.created)}  # the root stays
    contacted = {call.invocation_id for call in history.agents}
    for result in history.callers:
        row = by_trace.get(result.trace_id or "") if result.is_refusal else None
        if row is None:
            continue
        if result.reason != ACCEPTANCE_UNKNOWN:
            yield f"{row.invocation_id}: refused with {result.code} as if nobody had accepted it, yet recorded"
        elif history.router_lost:
            continue
        lost = [(fact.type, fact.code) for fact in row.terminals] == [("failed", DEPENDENCY_ERROR)]
        if row.opening == _RUNNING and not lost:  # one that was over at once may hold its own end
            yield f"{row.invocation_id}: refused with {result.code}, yet recorded other than failed/{DEPENDENCY_ERROR}"
        if row.invocation_id in contacted:
            yield f"{row.invocation_id}: refused with {result.code}, yet its Agent was contacted"


def _agents_saw_one_message(history: History) -> Iterator[str]:
    """An Agent gets one message and at most one cancel for an Invocation, never before its acceptance."""
    rows = {row.invocation_id: row for row in history.ledger}
    sent = Counter((call.invocation_id, _kind(call)) for call in history.agents)
    for (invocation_id, kind), count in sent.items():
        if kind in {"message", "cancel"} and count > 1:
            yield f"{invocation_id}: its Agent got {count} of {kind}"
    for call in history.agents:
        row = rows.get(call.invocation_id)
        if row is None:
            yield f"{call.invocation_id}: an Agent got {call.method}, yet it was never accepted"
        elif call.at < (row.durable or row.created) - _CLOCK_GRAIN:
            yield f"{call.invocation_id}: an Agent got {call.method} before acceptance"


def _kind(call: AgentCall) -> str:
    return {"message/send": "message", "message/stream": "message", "tasks/cancel": "cancel"}.get(call.method, "probe")


def _credentials_are_distinct(history: History) -> Iterator[str]:
    """No credential is used twice."""
    used = Counter(call.jti for call in history.agents)
    for call in history.agents:
        if used[call.jti] > 1:
            yield f"{call.invocation_id}: a credential was used {used[call.jti]} times"


def _one_release_each(history: History) -> Iterator[str]:
    """An Invocation names one Release and one Card digest in all its events."""
    for detail in history.details:
        record, events = detail["invocation"], detail["events"]
        about = record["invocationId"]
        releases = {(event["agentReleaseId"], event["agentCardDigest"]) for event in events}
        if releases != {(record["agentReleaseId"], record["agentCardDigest"])}:
            yield f"{about}: its events do not all name one Release and digest"
        if [event["sequence"] for event in events] != list(range(len(events))):
            yield f"{about}: its events are told with a gap"
        if record["status"] != events[-1]["status"]:
            yield f"{about}: told as {record['status']}, its last event as {events[-1]['status']}"


def _no_canary(history: History) -> Iterator[str]:
    """Nothing confidential is in a log, a table, a metric or an error."""
    for name, secret in history.canaries.items():
        for place, text in history.texts.items():
            if any(spelling in text for spelling in spellings(secret)):
                yield f"the canary {name} appears in {place}"


def _ledger_is_sound(history: History) -> Iterator[str]:
    """`aop ledger check` finds nothing."""
    yield from (f"ledger check: {breach}" for breach in history.breaches)


def _log_agrees(history: History) -> Iterator[str]:
    """The Gateway's one record of a call says what its caller was told."""
    if not history.log:
        return
    logged = {record["traceId"]: record for record in history.log if "traceId" in record}
    for result in history.callers:
        if not result.complete or result.trace_id is None or result.status is None:
            continue
        record = logged.get(result.trace_id)
        if record is None:
            if not any(abs(result.ended - killed) < _LAST_WORDS_SECONDS for killed in history.gateway_killed):
                yield f"trace {result.trace_id}: answered, but not in the log"
        elif record["status"] != result.status or (result.status >= 400 and record.get("code") != result.code):
            yield f"trace {result.trace_id}: told {result.status}/{result.code}, logged {_logged(record)}"


def _logged(record: Mapping[str, object]) -> str:
    return f"{record['status']}/{record.get('code')}"


def _metrics_agree(history: History) -> Iterator[str]:
    """The Routers count as many outcomes as the Ledger holds."""
    if history.counted is None:
        return
    recorded = Counter(row.terminals[0].type for row in history.ledger if row.terminals)
    for outcome in sorted(recorded.keys() | {name for name, count in history.counted.items() if count}):
        if recorded[outcome] != history.counted.get(outcome, 0):
            yield f"{recorded[outcome]} recorded as {outcome}, {history.counted.get(outcome, 0):.0f} counted"


def _resources_return(history: History) -> Iterator[str]:
    """Descriptors and slots are given back."""
    for held in history.resources:
        if held.descriptors_after > held.descriptors_before + _SPARE_DESCRIPTORS:
            yield f"{held.process}: {held.descriptors_before} descriptors before, {held.descriptors_after} after quiet"
        if held.in_flight_after:
            yield f"{held.process}: {held.in_flight_after:.0f} invocations in flight after quiet"


def _outage_is_admitted(history: History) -> Iterator[str]:
    """While something is down, nobody is told of success, absence or an empty list."""
    yield from (
        f"{answer.what}: answered {answer.status} while what it needs was down"
        for answer in history.outage
        if answer.pretends
    )


CHECKS: Sequence[Check] = (
    _one_terminal_each,
    _no_gaps,
    _callers_agree_with_ledger,
    _refusals_left_nothing,
    _agents_saw_one_message,
    _credentials_are_distinct,
    _one_release_each,
    _no_canary,
    _ledger_is_sound,
    _log_agrees,
    _metrics_agree,
    _resources_return,
    _outage_is_admitted,
)
