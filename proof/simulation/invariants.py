"""What must hold after every seed: of the Ledger, of what callers and Agents saw, and of what is left behind."""

from collections.abc import Iterator
from uuid import UUID

from proof.area import proves
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
    yield from world.broken
    yield from world.faults
    if world.plan.ending in {Ending.QUIET, Ending.DRAIN} and not world.router.is_idle():
        yield "slots or running Invocations are left"
    if CANARY.encode() in world.router.log.getvalue():
        yield "a payload is in the log"
    named = {world.history.name_of(key): key for key in world.store.tables.invocations}
    for call in world.plan.calls:
        caller = world.callers.get(call.name)
        if caller is not None:
            check = InvocationCheck(world, call, caller, named.get(call.name))
            yield from (f"{call.name}: {text}" for text in check.violations())


def terminal_of(world: World, key: UUID | None) -> str | None:
    """In the words callers are told it in."""
    row = None if key is None else world.store.tables.terminal(key)
    return None if row is None else f"{row['type']} {row['error_code'] or ''}".strip()


class InvocationCheck:
    """One Invocation as its caller, its Agent and the Ledger tell it; `key` is None when the Ledger does not."""

    def __init__(self, world: World, call: CallPlan, caller: Caller, key: UUID | None) -> None:
        self._world = world
        self._call = call
        self._caller = caller
        self._key = key
        self._terminal = terminal_of(world, key)
        self._seen = world.agents.seen.get(call.name)
        self._moments = {
            (what, detail): place
            for place, (_, who, what, detail) in enumerate(world.history.happened)
            if who == call.name
        }

    def violations(self) -> Iterator[str]:
        if self._key is None:
            yield from self._unrecorded()
        else:
            yield from self._chain(self._key)
            yield from self._outcome()
        yield from self._caller_agrees()
        if self._caller.frames:
            yield from self._frames()
        yield from self._agent()

    def _unrecorded(self) -> Iterator[str]:
        if self._caller.outcome is not None or self._caller.frames:
            yield f"told {self._caller.outcome}, but nothing is recorded"
        if self._seen is not None:
            yield "the Agent was contacted, but nothing is recorded"

    def _chain(self, key: UUID) -> Iterator[str]:
        tables = self._world.store.tables
        opened, events = tables.invocations[key], tables.events.get(key, {})
        if self._terminal is None:
            yield "accepted, and without a terminal"
        first = {"started": 3, "routing": 2, "created": 1}[opened["opening"]]
        if sorted(events) != list(range(first, first + len(events))):
            yield "the events have a gap"
        if any(row["type"] != "stream" for number, row in sorted(events.items())[:-1]):
            yield "an event stands behind the terminal"
        release = RELEASES[self._call.card]
        if (f"rel_{opened['agent_release_id'].hex}", opened["agent_card_digest"].hex()) != (
            *(release.release_id, release.digest),
        ):
            yield "another Release is recorded"

    def _outcome(self) -> Iterator[str]:
        allowed = set(self._allowed())
        if self._terminal not in allowed:
            yield f"ended {self._terminal}, which can only be {sorted(allowed)}"
        if self._terminal == SUCCEEDED:
            finished = None if self._seen is None else self._seen.finished_at
            if finished is None or finished >= self._deadline:
                yield "succeeded without an answer in time"
            if self._call.stream and self._recorded_chunks() != self._call.script.chunks:
                yield f"{self._recorded_chunks()} chunks are recorded, the Agent said {self._call.script.chunks}"
        suspended = self._world.suspended_at
        if suspended is not None and self._world.begun[self._call.name] > suspended and self._call.card is Kind.USUAL:
            yield "accepted after its Release was suspended"

    @property
    def _deadline(self) -> float:
        return self._world.begun[self._call.name] + RELEASES[self._call.card].card.timeout_ms / 1000

    def _recorded_at(self) -> float:
        place = self._moments.get(("recorded terminal", self._terminal or ""))
        return 0.0 if place is None else self._world.history.happened[place].time

    def _allowed(self) -> Iterator[str]:
        if self._call.card is Kind.FOREIGN:
            yield "failed AGENT_AUTH_UNSUPPORTED"
        elif self._call.card is Kind.WHOLE and self._call.stream:
            yield "failed ROUTE_NOT_FOUND"
        else:
            yield self._call.script.ends
        if self._caller.gone.is_set() or self._parent_terminal() in _ENDS_CHILDREN:
            yield CANCELED
        if self._recorded_at() >= self._deadline:
            yield TIMED_OUT
        if self._world.store_failed or self._world.plan.ending is not Ending.QUIET:
            yield LOST

    def _parent_terminal(self) -> str | None:
        history = self._world.history
        keys = self._world.store.tables.invocations
        parents = (key for key in keys if history.name_of(key) == self._call.parent)
        return terminal_of(self._world, next(parents, None))

    def _caller_agrees(self) -> Iterator[str]:
        caller, ending = self._caller, self._world.plan.ending
        cut = caller.gone.is_set() or ending in {Ending.KILLED, Ending.FENCED}
        if caller.refused is None and caller.outcome is None and not cut:
            yield "its caller waits for ever"
        if caller.refused == "INTERNAL_ERROR":
            yield "a fault nobody thought of: INTERNAL_ERROR"
        if caller.refused is not None and self._key is not None and not self._was_in_doubt(self._key):
            yield f"refused with {caller.refused}, but ended {self._terminal}"
        if caller.refused is not None and self._key is not None and caller.reason != "acceptance_unknown":
            yield f"refused with {caller.refused} as if nobody had accepted it, but recorded"
        if caller.outcome not in {None, self._terminal, LOST}:
            yield f"told {caller.outcome}, but ended {self._terminal}"
        if caller.outcome is None:
            return
        at = self._moments["caller was told", caller.outcome]
        if caller.outcome != LOST and self._moments.get(("recorded terminal", caller.outcome), at) >= at:
            yield f"told {caller.outcome} before it was recorded"
        limit = self._deadline + _WRITES * self._world.store.write_seconds
        if not self._call.stalls and caller.answered_at is not None and caller.answered_at > limit:
            yield f"answered only {caller.answered_at - self._deadline:.1f} s after its deadline"

    def _was_in_doubt(self, key: UUID) -> bool:
        """Nobody could say whether the acceptance is in the store: it ends as lost, or, when it holds its end already,
        as that; in any case without its Agent."""
        over_at_once = self._world.store.tables.invocations[key]["opening"] != "started"
        return self._seen is None and (self._terminal == LOST or over_at_once)

    def _frames(self) -> Iterator[str]:
        frames = self._caller.frames
        if [frame["sequence"] for frame in frames] != list(range(len(frames))):
            yield "the frames have a gap"
        chunks = [frame["chunkIndex"] for frame in frames if frame["type"] == "chunk"]
        if chunks != list(range(len(chunks))):
            yield "the chunks have a gap"
        if frames[0]["type"] != "accepted" or any(frame["type"] not in {"accepted", "chunk"} for frame in frames[1:-1]):
            yield "the frames are not accepted, chunks, one terminal"
        if len(self._caller.ids) != 1:
            yield "the frames name several Invocations"
        if self._caller.outcome == self._terminal != LOST and len(chunks) != self._recorded_chunks():
            yield f"{len(chunks)} chunks were told, {self._recorded_chunks()} are recorded"

    def _recorded_chunks(self) -> int:
        rows = () if self._key is None else self._world.store.tables.events.get(self._key, {}).values()
        return sum(row["chunk_count"] or 0 for row in rows)

    def _agent(self) -> Iterator[str]:
        seen = self._seen
        if seen is None:
            return
        if seen.methods["message"] != 1:
            yield f"the Agent got {seen.methods['message']} messages"
        if len(seen.credentials) != seen.requests:
            yield "a credential was used twice"
        release = RELEASES[self._call.card]
        if seen.names != {(release.release_id, release.digest)}:
            yield "the Agent was called under another Release"
        accepted = self._moments.get(("recorded accepted", ""))
        contacted = min(place for (what, _), place in self._moments.items() if what == "agent got")
        if accepted is None or contacted < accepted:
            yield "the Agent was contacted before the acceptance was recorded"
        yield from self._cancel(seen.methods["tasks/cancel"])

    def _cancel(self, count: int) -> Iterator[str]:
        if count > 1:
            yield f"the Agent got {count} cancels"
        if count and self._terminal == SUCCEEDED and self._caller.outcome == SUCCEEDED:
            yield "a Task that had ended was canceled"
        check = self._moments.get(("agent got", "tasks/cancel"))
        recorded = self._moments.get(("recorded terminal", self._terminal or ""))
        in_doubt = self._world.store_failed or self._world.plan.ending is Ending.FENCED
        if check is not None and not in_doubt and (recorded is None or check < recorded):
            yield "the cancel came before the terminal"
        named = None if self._seen is None else self._seen.named_at
        stopped = self._terminal in _ENDS_CHILDREN and self._call.script.ends != self._terminal
        runs = named is not None and named + _SPARE < self._recorded_at() and self._world.plan.ending is Ending.QUIET
        if stopped and runs and not count and self._seen is not None and self._seen.finished_at is None:
            yield "a Task that may still run was not told to stop"
