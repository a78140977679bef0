"""Finds what has no number yet: openings behind known positions of each epoch, and events behind known sequences."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from aop.ledger.sequence import store
from aop.ledger.sequence.batch import EventFound, OpeningFound, Unended
from aop.ledger.sequence.epoch_positions import EpochPositions
from aop.store.database import Connection

MAX_OPENINGS: Final = 500
MAX_EVENTS: Final = 2_000
# Epochs that are over and not numbered yet, as an old Ledger has many.
_MAX_OLD_EPOCHS: Final = 16
_MAX_DEPTH: Final = 1_000

Life = tuple[str, int]
Position = tuple[str, int, int]
"""Of an epoch of a Router."""


@dataclass(frozen=True)
class Unnumbered:
    openings: Sequence[OpeningFound]
    events: Sequence[EventFound]
    lives: Sequence[store.LifeRow]
    has_all_openings: bool
    """Of these epochs."""
    is_all: bool


class Finder:
    """Knows which positions were seen, as long as nobody else gives numbers."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._positions: dict[Life, EpochPositions] = {}

    async def find(self, unended: Mapping[UUID, Unended]) -> Unnumbered:
        connection = self._connection
        over, live = _split(await store.lives(connection))
        lives = [*over[:_MAX_OLD_EPOCHS], *live]
        for life in lives:
            self._positions.setdefault((life.router_id, life.epoch), EpochPositions(life))
        known = [self._positions[life.router_id, life.epoch] for life in lives]
        ahead = await store.openings_behind(connection, [each.behind() for each in known], MAX_OPENINGS)
        late = await store.openings_at(connection, [place for each in known for place in each.to_look_up()])
        places = defaultdict[Life, list[int]](list)
        for one in (*ahead, *late):
            places[one.router_id, one.epoch].append(one.position)
        for life, each in zip(lives, known, strict=True):
            each.found(places[life.router_id, life.epoch])
            each.looked_up(life)
        openings = await self._with_ancestors(unended, [one for one in (*ahead, *late) if not one.is_numbered])
        events = [one.next_event for one in openings if one.next_event is not None]
        behind = [(invocation, one.root_task_id, one.sequence) for invocation, one in unended.items()]
        behind += [place for one in openings if (place := one.open_behind) is not None]
        later = await store.events_behind(connection, behind, MAX_EVENTS)
        has_all_openings = len(ahead) < MAX_OPENINGS
        is_all = has_all_openings and len(later) < MAX_EVENTS and len(over) <= _MAX_OLD_EPOCHS
        return Unnumbered(openings, [*events, *later], lives, has_all_openings, is_all)

    def numbered_positions(self, found: Unnumbered) -> Sequence[Position]:
        """The positions below which everything has its number once what was found has one, where they are new."""
        return [
            (life.router_id, life.epoch, position)
            for life in found.lives
            if (positions := self._positions.get((life.router_id, life.epoch))) is not None
            and (position := positions.numbered_below(is_over=life.is_over and found.has_all_openings)) is not None
        ]

    def forget_ended(self, written: Iterable[Position]) -> None:
        """Epochs that are over and have all their numbers, as the store knows from now on."""
        for router_id, epoch, position in written:
            if position == store.ENDED_EPOCH:
                del self._positions[router_id, epoch]

    async def _with_ancestors(
        self, unended: Mapping[UUID, Unended], openings: Sequence[OpeningFound]
    ) -> Sequence[OpeningFound]:
        """A parent was written before its child, so that it is there; it may be of an epoch whose turn comes later."""
        parents = {one.parent_invocation_id for one in openings if one.parent_invocation_id is not None}
        if not parents:
            return openings
        batch = {one.invocation_id: one for one in openings}
        for _ in range(_MAX_DEPTH):
            missing = [parent for parent in parents if parent not in batch and parent not in unended]
            if not missing:
                break
            above = [one for one in await store.openings_named(self._connection, missing) if not one.is_numbered]
            batch.update({one.invocation_id: one for one in above})
            parents = {one.parent_invocation_id for one in above if one.parent_invocation_id is not None}
        return list(batch.values())


def _split(lives: Sequence[store.LifeRow]) -> tuple[Sequence[store.LifeRow], Sequence[store.LifeRow]]:
    """Epochs that are over, the oldest first, and the others."""
    return [life for life in lives if life.is_over], [life for life in lives if not life.is_over]
