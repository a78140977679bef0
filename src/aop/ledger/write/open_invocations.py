"""Every Invocation of this epoch whose terminal is not yet known to be in the store, and the table of its states."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from aop.ledger.model import Acceptance, Fact, Terminal

Facts = tuple[Fact, ...]
AcceptedEnded = tuple[int, Acceptance, Terminal]
"""An Invocation that is accepted and ends in one write, and its position."""

MAX_UNCONFIRMED = 2_000
"""With so many, the store has not answered for several batches, and another call would fail too."""


class State(StrEnum):
    """UNCONFIRMED: nobody knows whether it was accepted. DEFERRED: its terminal waits for the store. LEFT: the store
    denied its terminal, so this process has wrong facts about it and the next epoch ends it."""

    ACCEPTING = "accepting"
    RUNNING = "running"
    UNCONFIRMED = "unconfirmed"
    DEFERRED = "deferred"
    LEFT = "left"


class Step(StrEnum):
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
        Step.NOT_ACCEPTED: None,
        Step.UNANSWERED: State.UNCONFIRMED,
    },
    State.RUNNING: {Step.ENDED: None, Step.NOT_ENDED: State.DEFERRED},
    State.UNCONFIRMED: {Step.NOT_ACCEPTED: None, Step.NOT_ENDED: State.DEFERRED},
    State.DEFERRED: {Step.ENDED: None, Step.NOT_ENDED: State.DEFERRED, Step.DENIED: State.LEFT},
    State.LEFT: {Step.ENDED: None, Step.NOT_ENDED: State.LEFT},
}
_UNSETTLED = frozenset({State.UNCONFIRMED, State.DEFERRED})


class Unsettled(msgspec.Struct, frozen=True):
    """What the store has not taken yet. Calls that ended at their acceptance are `unconfirmed` too while nobody knows
    whether they were written. `seconds` is the age of the oldest that is unconfirmed or deferred."""

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
    state: State = State.ACCEPTING
    terminal: Facts = ()
    unsettled_since: float | None = None


class OpenInvocations:
    """In the order of their positions. An Invocation that is not here has its terminal, or another process ends it."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._endings: dict[int, tuple[AcceptedEnded, float] | None] = {}
        self._unanswered_endings = 0
        self._counts = dict.fromkeys(State, 0)
        self._next_position = 1

    @property
    def settled_before(self) -> int:
        """Everything accepted at a lower position has its terminal in the store, and nothing more will be."""
        first = next(iter(self._open.values()), None)
        position = self._next_position if first is None else first.position
        return min(position, next(iter(self._endings), position))

    @property
    def is_full(self) -> bool:
        """No further acceptance may be sent, because it could become unconfirmed too."""
        return self._counts[State.UNCONFIRMED] + self._unanswered_endings >= MAX_UNCONFIRMED

    def __contains__(self, invocation: str) -> bool:
        return invocation in self._open

    def begin_ending(self) -> int:
        """For an Invocation that is accepted and ends in one write. No checkpoint passes it before it was written or
        never will be."""
        position = self._take_position()
        self._endings[position] = None
        return position

    def leave_ending(self, entry: AcceptedEnded) -> None:
        """Nobody knows whether it was written."""
        self._endings[entry[0]] = entry, asyncio.get_running_loop().time()
        self._unanswered_endings += 1

    def settle_ending(self, position: int) -> None:
        self._unanswered_endings -= self._endings.pop(position) is not None

    def unanswered_endings(self) -> Sequence[AcceptedEnded]:
        return [entry for entry, _ in self._left_endings()]

    def _left_endings(self) -> Sequence[tuple[AcceptedEnded, float]]:
        """With the time since when nobody knows."""
        return [left for left in self._endings.values() if left is not None] if self._unanswered_endings else ()

    def _take_position(self) -> int:
        position, self._next_position = self._next_position, self._next_position + 1
        return position

    def begin(self, acceptance: Acceptance) -> int:
        position = self._take_position()
        self._open[acceptance.context.lineage.invocation] = _Open(position, acceptance)
        self._counts[State.ACCEPTING] += 1
        return position

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

    def unconfirmed(self) -> Sequence[tuple[int, Acceptance]]:
        return [(entry.position, entry.acceptance) for entry in self._in(State.UNCONFIRMED)]

    def deferred(self) -> Sequence[Facts]:
        return [entry.terminal for entry in self._in(State.DEFERRED)]

    def unsettled(self) -> Unsettled:
        counts = self._counts
        since = now = asyncio.get_running_loop().time()
        for state in _UNSETTLED:
            since = min([since, *(entry.unsettled_since or now for entry in self._in(state))])
        since = min([since, *(left_at for _, left_at in self._left_endings())])
        unconfirmed = counts[State.UNCONFIRMED] + self._unanswered_endings
        return Unsettled(unconfirmed, counts[State.DEFERRED], counts[State.LEFT], now - since)

    def _in(self, state: State) -> Sequence[_Open]:
        if not self._counts[state]:
            return ()
        return [entry for entry in self._open.values() if entry.state is state]
