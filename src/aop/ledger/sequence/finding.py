"""Finds what has no number yet: openings behind known positions of each epoch, and events behind known sequences."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from aop.ledger.sequence import store
from aop.ledger.sequence.batch import RunningRow, UnnumberedEvent, UnnumberedOpening
from aop.ledger.sequence.epoch_positions import EpochPositions
from aop.store.database import Connection

MAX_OPENINGS: Final = 500
MAX_EVENTS: Final = 2_000
# Epochs that are over and not numbered yet, as an old Ledger has many.
_MAX_OLD_EPOCHS: Final = 16
_MAX_DEPTH: Final = 1_000

EpochKey = tuple[str, int]
Position = tuple[str, int, int]
"""Of an epoch of a Router."""


@dataclass(frozen=True)
class UnnumberedRows:
    openings: Sequence[UnnumberedOpening]
    events: Sequence[UnnumberedEvent]
    epochs: Sequence[store.EpochRow]
    has_all_openings: bool
    """Of these epochs."""
    is_all: bool


class Finder:
    """Knows which positions were seen, as long as no other Router gives numbers."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._positions: dict[EpochKey, EpochPositions] = {}

    async def find(self, running: Mapping[UUID, RunningRow]) -> UnnumberedRows:
        connection = self._connection
        unfinished = await store.epochs(connection)
        over = [epoch for epoch in unfinished if epoch.is_over]
        epochs = [*over[:_MAX_OLD_EPOCHS], *(epoch for epoch in unfinished if not epoch.is_over)]
        for epoch in epochs:
            self._positions.setdefault((epoch.router_id, epoch.epoch), EpochPositions(epoch))
        known = [self._positions[epoch.router_id, epoch.epoch] for epoch in epochs]
        ahead = await store.openings_behind(connection, [each.next_after() for each in known], MAX_OPENINGS)
        late = await store.openings_at(connection, [place for each in known for place in each.to_look_up()])
        places = defaultdict[EpochKey, list[int]](list)
        for one in (*ahead, *late):
            places[one.router_id, one.epoch].append(one.position)
        for epoch, each in zip(epochs, known, strict=True):
            each.found(places[epoch.router_id, epoch.epoch])
            each.looked_up(epoch)
        openings = await self._with_ancestors(running, [one for one in (*ahead, *late) if not one.is_numbered])
        events = [one.next_event for one in openings if one.next_event is not None]
        behind = [(invocation, one.root_task_id, one.sequence) for invocation, one in running.items()]
        behind += [place for one in openings if (place := one.open_behind) is not None]
        later = await store.events_behind(connection, behind, MAX_EVENTS)
        has_all_openings = len(ahead) < MAX_OPENINGS
        is_all = has_all_openings and len(later) < MAX_EVENTS and len(over) <= _MAX_OLD_EPOCHS
        return UnnumberedRows(openings, [*events, *later], epochs, has_all_openings, is_all)

    def numbered_positions(self, found: UnnumberedRows) -> Sequence[Position]:
        """The positions below which everything has its number once these rows have one, where they are new."""
        return [
            (epoch.router_id, epoch.epoch, position)
            for epoch in found.epochs
            if (positions := self._positions.get((epoch.router_id, epoch.epoch))) is not None
            and (position := positions.numbered_below(is_over=epoch.is_over and found.has_all_openings)) is not None
        ]

    def forget_ended(self, written: Iterable[Position]) -> None:
        """Epochs that are over and have all their numbers, as the store knows from now on."""
        for router_id, epoch, position in written:
            if position == store.ENDED_EPOCH:
                del self._positions[router_id, epoch]

    async def _with_ancestors(
        self, running: Mapping[UUID, RunningRow], openings: Sequence[UnnumberedOpening]
    ) -> Sequence[UnnumberedOpening]:
        """A parent was written before its child, so that it is there; it may be of an epoch whose turn comes later."""
        parents = {one.parent_invocation_id for one in openings if one.parent_invocation_id is not None}
        if not parents:
            return openings
        batch = {one.invocation_id: one for one in openings}
        for _ in range(_MAX_DEPTH):
            missing = [parent for parent in parents if parent not in batch and parent not in running]
            if not missing:
                break
            above = [one for one in await store.openings_named(self._connection, missing) if not one.is_numbered]
            batch.update({one.invocation_id: one for one in above})
            parents = {one.parent_invocation_id for one in above if one.parent_invocation_id is not None}
        return list(batch.values())
