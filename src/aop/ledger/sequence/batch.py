"""What has no number yet, and the order in which a batch of it is numbered."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from aop.contracts.lineage import EventType
from aop.ledger.model import OPENING_EVENTS, Opening
from aop.store.rows import Row


class OpeningFound(Row, frozen=True):
    """The acceptance of an Invocation, at its place in an epoch; `is_numbered` if it has its number already."""

    router_id: str
    epoch: int
    position: int
    invocation_id: UUID
    root_task_id: UUID
    parent_invocation_id: UUID | None
    workspace_id: str
    opening: Opening
    created_at: datetime
    is_numbered: bool
    leaf: Any
    """The columns that its leaves are made from."""

    @property
    def events(self) -> int:
        return len(OPENING_EVENTS[self.opening])


class EventFound(Row, frozen=True):
    invocation_id: UUID
    sequence: int
    type: EventType
    occurred_at: datetime
    leaf: Any
    """The columns that its leaf is made from."""


class Unended(Row, frozen=True):
    """An Invocation whose opening has this number and whose terminal has none; `sequence` is of its last with one."""

    number: int
    sequence: int
    workspace_id: str
    root_task_id: UUID


class Numbered(Row, frozen=True):
    """A row of ledger.number: the number is of its first event."""

    number: int
    invocation_id: UUID
    sequence: int
    events: int
    is_terminal: bool
    workspace_id: str
    root_task_id: UUID

    @property
    def past(self) -> int:
        return self.number + self.events


def numbered(
    first: int, openings: Sequence[OpeningFound], events: Iterable[EventFound], unended: Mapping[UUID, Unended]
) -> Iterator[Numbered]:
    """By time as far as the clocks of several Routers allow. Whatever they say, an Invocation's events follow each
    other, and a parent's opening stands before those of its children.

    The parent of each opening is in the batch or has its number; the Invocation of each event too.
    """
    depths = _depths(openings)
    found = {one.invocation_id: one for one in openings}
    opened = [(one.created_at, depths[one.invocation_id], one.invocation_id, 0, one.events, False) for one in openings]
    later = [
        (
            *(one.occurred_at, depths.get(one.invocation_id, 0), one.invocation_id, one.sequence, 1),
            one.type is not EventType.STREAM,
        )
        for one in events
    ]
    for _, _, invocation_id, sequence, count, is_terminal in sorted([*opened, *later]):
        of = found.get(invocation_id) or unended[invocation_id]
        yield Numbered(first, invocation_id, sequence, count, is_terminal, of.workspace_id, of.root_task_id)
        first += count


def _depths(openings: Sequence[OpeningFound]) -> dict[UUID, int]:
    """How many ancestors each has in the batch: a parent may be of the same microsecond as its child."""
    parents = {one.invocation_id: one.parent_invocation_id for one in openings}
    depths = dict[UUID, int]()
    for invocation in parents:
        path, above = list[UUID](), invocation
        while above in parents and above not in depths:
            path.append(above)
            parent = parents[above]
            if parent is None:
                break
            above = parent
        depth = depths.get(above, -1)
        for below in reversed(path):
            depth += 1
            depths[below] = depth
    return depths
