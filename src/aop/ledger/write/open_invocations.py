"""Every Invocation of this epoch whose terminal is not yet known to be in the store, and the table of its states."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from aop.ledger.model import Acceptance, Fact, Terminal
from aop.ledger.write.store import Entry

Facts = tuple[Fact, ...]

MAX_UNCONFIRMED = 2_000
"""With so many, the store has not answered for several batches, and another call would fail too."""


class State(StrEnum):
    """UNCONFIRMED: it is not known whether it was accepted. DEFERRED: its terminal waits for the store. LEFT: the store
    denied its terminal, so this process has wrong facts about it and the next epoch ends it."""

    ACCEPTING = "accepting"
    RUNNING = "running"
    UNCONFIRMED = "unconfirmed"
    DEFERRED = "deferred"
    LEFT = "left"


class Step(StrEnum):
    """ENDED is also said of an Invocation that was accepted and ended in one write."""

    ACCEPTED = "accepted"
    NOT_ACCEPTED = "not accepted"
    UNANSWERED = "unanswered"
    ENDED = "ended"
    NOT_ENDED = "not ended"
    DENIED = "denied"


# None: settled. Its terminal is in the store, or the Invocation is not and never will be.
_MOVES: Mapping[State, Mapping[Step, State | None]] = {
    State.ACCEPTING: {
        Step.ACCEPTED: State.RUNNING,
        Step.ENDED: None,
        Step.NOT_ACCEPTED: None,
        Step.UNANSWERED: State.UNCONFIRMED,
    },
    State.RUNNING: {Step.ENDED: None, Step.NOT_ENDED: State.DEFERRED},
    State.UNCONFIRMED: {Step.NOT_ACCEPTED: None, Step.ENDED: None, Step.NOT_ENDED: State.DEFERRED},
    State.DEFERRED: {Step.ENDED: None, Step.NOT_ENDED: State.DEFERRED, Step.DENIED: State.LEFT},
    State.LEFT: {Step.ENDED: None, Step.NOT_ENDED: State.LEFT},
}
_UNSETTLED = frozenset({State.UNCONFIRMED, State.DEFERRED})


class Unsettled(msgspec.Struct, frozen=True):
    """What the store has not taken yet; calls that ended at their acceptance are `unconfirmed` like others. `seconds`
    is the age of the oldest that is unconfirmed or deferred."""

    unconfirmed: int
    deferred: int
    left: int
    seconds: float

    @property
    def count(self) -> int:
        return self.unconfirmed + self.deferred


@dataclass(slots=True)
class _Open:
    position: int
    acceptance: Acceptance
    ending: Terminal | None
    """Of one that is accepted and ends in one write."""
    state: State = State.ACCEPTING
    terminal: Facts = ()
    unsettled_since: float | None = None


class OpenInvocations:
    """In the order of their positions. An Invocation that is not here has its terminal, or another process ends it."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._counts = dict.fromkeys(State, 0)
        self._next_position = 1

    @property
    def settled_before(self) -> int:
        """Everything accepted at a lower position has its terminal in the store, and nothing more will be."""
        first = next(iter(self._open.values()), None)
        return self._next_position if first is None else first.position

    @property
    def is_full(self) -> bool:
        """No further acceptance may be sent, because it could become unconfirmed too."""
        return self._counts[State.UNCONFIRMED] >= MAX_UNCONFIRMED

    def __contains__(self, invocation: str) -> bool:
        return invocation in self._open

    def begin(self, acceptance: Acceptance, ending: Terminal | None = None) -> Entry:
        """No checkpoint passes its position before its terminal is in the store, or it is known that nothing is."""
        position, self._next_position = self._next_position, self._next_position + 1
        self._open[acceptance.context.lineage.invocation] = _Open(position, acceptance, ending)
        self._counts[State.ACCEPTING] += 1
        return position, acceptance, ending

    def move(self, invocation: str, step: Step, terminal: Facts = ()) -> None:
        entry = self._open.get(invocation)
        if entry is None:
            return
        after = _MOVES[entry.state][step]
        self._counts[entry.state] -= 1
        if after is None:
            del self._open[invocation]
            return
        self._counts[after] += 1
        entry.state = after
        if after in _UNSETTLED:
            entry.terminal = terminal
            if entry.unsettled_since is None:
                entry.unsettled_since = asyncio.get_running_loop().time()

    def unconfirmed(self) -> Sequence[Entry]:
        return [(one.position, one.acceptance, one.ending) for one in self._in(State.UNCONFIRMED)]

    def deferred(self) -> Sequence[Facts]:
        return [entry.terminal for entry in self._in(State.DEFERRED)]

    def unsettled(self) -> Unsettled:
        counts = self._counts
        since = now = asyncio.get_running_loop().time()
        for state in _UNSETTLED:
            since = min([since, *(entry.unsettled_since or now for entry in self._in(state))])
        return Unsettled(counts[State.UNCONFIRMED], counts[State.DEFERRED], counts[State.LEFT], now - since)

    def _in(self, state: State) -> Sequence[_Open]:
        if not self._counts[state]:
            return ()
        return [entry for entry in self._open.values() if entry.state is state]
