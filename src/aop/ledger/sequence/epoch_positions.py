"""Which positions of an epoch the sequencer has seen, and which are missing between them."""

from collections.abc import Iterable, Sequence

from aop.ledger.sequence.store import ENDED_EPOCH, EpochRow

# A missing position is of a call that was refused, or of a write that commits late. So many are looked up at a time.
_MAX_LOOKED_UP = 2_000


class EpochPositions:
    """`seen` is the last position that was read. Below it, `missing` ones have no row yet."""

    def __init__(self, epoch: EpochRow) -> None:
        self.router_id, self.epoch = epoch.router_id, epoch.epoch
        self.seen = epoch.numbered - 1
        self.missing: dict[int, None] = {}
        self._numbered_below = epoch.numbered
        self._looked_up: list[int] = []

    def next_after(self) -> tuple[str, int, int]:
        return self.router_id, self.epoch, self.seen

    def to_look_up(self) -> Sequence[tuple[str, int, int]]:
        """Missing ones, others each time while there are many."""
        self._looked_up = list(self.missing)[:_MAX_LOOKED_UP]
        return [(self.router_id, self.epoch, position) for position in self._looked_up]

    def found(self, positions: Iterable[int]) -> None:
        for position in positions:
            if position == self.seen + 1:
                self.seen = position
            elif position > self.seen:
                self.missing.update(dict.fromkeys(range(self.seen + 1, position)))
                self.seen = position
            else:
                self.missing.pop(position, None)

    def looked_up(self, epoch: EpochRow) -> None:
        """What was looked up after the epoch was read is final below its checkpoint, or in an epoch that is over. The
        rest goes to the end of the queue."""
        for position in self._looked_up:
            if position in self.missing:
                del self.missing[position]
                if not epoch.is_over and position >= epoch.settled:
                    self.missing[position] = None
        self._looked_up = []

    def numbered_below(self, *, is_over: bool) -> int | None:
        """The position below which everything has its number, if that is more than before."""
        position = ENDED_EPOCH if is_over and not self.missing else min(self.missing, default=self.seen + 1)
        if position <= self._numbered_below:
            return None
        self._numbered_below = position
        return position
