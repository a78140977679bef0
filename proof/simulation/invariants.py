"""What must hold after every seed: what holds of every fault run, and what only a simulated world can know."""

from collections.abc import Iterator, Mapping
from uuid import UUID

from aop.ledger.model import OPENING_EVENTS, Opening
from proof import checker
from proof.area import proves
from proof.record import CallResult, Fact, History, Recorded
from proof.simulation.caller import Caller
from proof.simulation.control_plane import RELEASES
from proof.simulation.plan import CallPlan, Ending, Kind
from proof.simulation.world import CANARY, World

SUCCEEDED = "succeeded"
LOST = "failed DEPENDENCY_ERROR"
CANCELED = "canceled CANCELED"
TIMED_OUT = "timed_out TIMEOUT"
_ENDS_CHILDREN = frozenset({CANCELED, TIMED_OUT})
_SPARE = 0.001
_WRITES = 4
"""So many times as long as one write may take, after its deadline, a caller may wait for its answer."""


@proves(
    "Every accepted Invocation has exactly one terminal, whatever Agent, store, caller, clock and shutdown"
    " do, in whatever order it happens.",
    "Nobody is told what is not recorded, and no Agent is asked before the acceptance is.",
)
def violations(world: World) -> Iterator[str]:
    yield from (*world.broken, *world.faults)
    if world.plan.ending in {Ending.QUIET, Ending.DRAIN} and not world.router.is_idle():
        yield "slots or running Invocations are left"
    if CANARY.encode() in world.router.log.getvalue():
        yield "a payload is in the log"
    ledger = recorded(world)
    results = {name: _result(caller, ledger.get(name)) for name, caller in world.callers.items()}
    names = {row.invocation_id: name for name, row in ledger.items()}
    for problem in checker.violations(History([*results.values()], world.agents.calls, [*ledger.values()])):
        about, _, text = problem.partition(": ")
        yield f"{names.get(about, about)}: {text}"
    for call in world.plan.calls:
        if call.name in results:
            check = InvocationCheck(world, call, results[call.name], ledger)
            yield from (f"{call.name}: {text}" for text in check.violations())


def recorded(world: World) -> Mapping[str, Recorded]:
    """By the names of the Invocations. All times are places in the history, of which no two are one."""
    tables, history = world.store.tables, world.history
    places = {(who, what): place for place, (_, who, what, _) in enumerate(history.happened, 1)}
    found = {}
    for key, opened in tables.invocations.items():
        name = history.name_of(key)
        began, ended = places[name, "recorded accepted"], places.get((name, "recorded terminal"))
        facts = [
            Fact(sequence, row["type"], row["error_code"], 0, ended, row["chunk_index"], row["chunk_count"])
            for sequence, row in sorted(tables.events.get(key, {}).items())
        ]
        opening = len(OPENING_EVENTS[Opening(opened["opening"])])
        trace = f"{opened['trace_id'].hex} of {name}"
        found[name] = Recorded(f"inv_{key.hex}", trace, opening, began, began, facts)
    return found


def _result(caller: Caller, own: Recorded | None) -> CallResult:
    """A parent and its children share a Trace: here each has its own, so that a refusal is held against its own row."""
    result = caller.result
    if result.is_refusal:
        result.trace_id = None if own is None else own.trace_id
    elif result.trace_id is not None:
        result.trace_id += f" of {caller.name}"
    return result


def ending(row: Recorded | None) -> str | None:
    """The terminal, in the words of the scripts."""
    return None if row is None or not row.terminals else _words(row.terminals[0].type, row.terminals[0].code)


def _words(outcome: str, code: str | None) -> str:
    return f"{outcome} {code or ''}".strip()


class InvocationCheck:
    """One Invocation as its caller, its Agent and the Ledger tell it."""

    def __init__(self, world: World, call: CallPlan, result: CallResult, ledger: Mapping[str, Recorded]) -> None:
        self._world = world
        self._call = call
        self._result = result
        self._row = ledger.get(call.name)
        self._terminal = ending(self._row)
        self._parent_terminal = ending(ledger.get(call.parent or ""))
        self._seen = world.agents.seen.get(call.name)
        self._deadline = world.begun[call.name] + RELEASES[call.card].card.limits.timeout_ms / 1000
        self._recorded_at = 0.0
        if self._row is not None and self._row.terminals:
            self._recorded_at = world.history.happened[int(self._row.terminals[0].durable or 0) - 1].time

    def violations(self) -> Iterator[str]:
        if self._row is None and self._result.events:
            yield "told of an acceptance, but nothing is recorded"
        if self._row is not None:
            yield from self._outcome(self._row)
        yield from self._caller()
        if self._row is not None and self._seen is not None:
            yield from self._releases(self._row, self._seen.releases)
            yield from self._cancel(self._row, self._seen.named_at, self._seen.finished_at)

    def _outcome(self, row: Recorded) -> Iterator[str]:
        allowed = set(self._allowed())
        if self._terminal not in allowed:
            yield f"ended {self._terminal}, which can only be {sorted(allowed)}"
        if self._terminal == SUCCEEDED:
            finished = None if self._seen is None else self._seen.finished_at
            if finished is None or finished >= self._deadline:
                yield "succeeded without an answer in time"
            if self._call.stream and row.chunks != self._call.script.chunks:
                yield f"{row.chunks} chunks are recorded, the Agent said {self._call.script.chunks}"
        suspended = self._world.suspended_at
        if suspended is not None and self._world.begun[self._call.name] > suspended and self._call.card is Kind.USUAL:
            yield "accepted after its Release was suspended"

    def _allowed(self) -> Iterator[str]:
        if self._call.card is Kind.FOREIGN:
            yield "failed AGENT_AUTH_UNSUPPORTED"
        elif self._call.card is Kind.WHOLE and self._call.stream:
            yield "failed ROUTE_NOT_FOUND"
        else:
            yield self._call.script.ends
        if self._result.left or self._parent_terminal in _ENDS_CHILDREN:
            yield CANCELED
        if self._recorded_at >= self._deadline:
            yield TIMED_OUT
        if self._world.store_failed or self._world.plan.ending is not Ending.QUIET:
            yield LOST

    def _caller(self) -> Iterator[str]:
        result = self._result
        cut = result.left or self._world.plan.ending in {Ending.KILLED, Ending.FENCED}
        if result.outcome is None and not result.is_refusal and not cut:
            yield "its caller waits for ever"
        if result.is_refusal and result.code == "INTERNAL_ERROR":
            yield "a fault nobody thought of: INTERNAL_ERROR"
        if len({(event["invocationId"], event["rootTaskId"], event["traceId"]) for event in result.events}) > 1:
            yield "the frames name several Invocations"
        late = self._world.callers[self._call.name].answered_at - self._deadline
        if (
            result.outcome is not None
            and not self._call.stalls
            and late > _WRITES * self._world.plan.store.write_seconds
        ):
            yield f"answered only {late:.1f} s after its deadline"

    def _releases(self, row: Recorded, called: set[tuple[str, str]]) -> Iterator[str]:
        release = RELEASES[self._call.card]
        opened = self._world.store.tables.invocations[UUID(row.invocation_id.removeprefix("inv_"))]
        kept = f"rel_{opened['agent_release_id'].hex}", opened["agent_card_digest"].hex()
        if called | {kept} != {(release.release_id, release.digest)}:
            yield "recorded, or its Agent called, under another Release"

    def _cancel(self, row: Recorded, named_at: float | None, finished_at: float | None) -> Iterator[str]:
        calls = [call for call in self._world.agents.calls if call.invocation_id == row.invocation_id]
        canceled = next((call.at for call in calls if call.method == "tasks/cancel"), None)
        told = _words(self._result.outcome or "", self._result.code)
        if canceled is not None and self._terminal == told == SUCCEEDED:
            yield "a Task that had ended was canceled"
        in_doubt = self._world.store_failed or self._world.plan.ending is Ending.FENCED
        if canceled is not None and not in_doubt and (not row.terminals or canceled < (row.terminals[0].durable or 0)):
            yield "the cancel came before the terminal"
        stopped = self._terminal in _ENDS_CHILDREN and self._call.script.ends != self._terminal
        runs = named_at is not None and named_at + _SPARE < self._recorded_at and finished_at is None
        if stopped and runs and canceled is None and self._world.plan.ending is Ending.QUIET:
            yield "a Task that may still run was not told to stop"
