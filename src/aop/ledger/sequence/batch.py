"""What has no number yet, and the order in which a batch of it is numbered."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from aop.store.rows import Row


class UnnumberedEvent(Row, frozen=True):
    invocation_id: UUID
    sequence: int
    occurred_at: datetime
    is_terminal: bool
    leaf: Sequence[Any]
    """The columns that its leaf is made from."""


class UnnumberedOpening(Row, frozen=True):
    """The acceptance of an Invocation, at its place in an epoch; `is_numbered` if it has its number already."""

    router_id: str
    epoch: int
    position: int
    invocation_id: UUID
    root_task_id: UUID
    parent_invocation_id: UUID | None
    workspace_id: str
    events: int
    """How many it stands for."""
    created_at: datetime
    is_numbered: bool
    leaf: Sequence[Any]
    """The columns that its leaves are made from."""
    next_event: UnnumberedEvent | None
    """The first behind it, which is the last one of most."""

    @property
    def open_behind(self) -> tuple[UUID, UUID, int] | None:
        """Behind which sequence of its Invocation more events may be; None if its terminal came with it."""
        event = self.next_event
        if event is None:
            return self.invocation_id, self.root_task_id, self.events - 1
        return None if event.is_terminal else (self.invocation_id, self.root_task_id, event.sequence)


class RunningRow(Row, frozen=True):
    """An Invocation whose opening has this number and whose terminal has none; `sequence` is of its last with one."""

    number: int
    sequence: int
    workspace_id: str
    root_task_id: UUID


class NumberRow(NamedTuple):
    """A row of ledger.number: the number is of its first event."""

    number: int
    invocation_id: UUID
    sequence: int
    events: int
    is_terminal: bool
    workspace_id: str
    root_task_id: UUID
    position: int | None
    """Of an opening, in its epoch."""

    @property
    def past(self) -> int:
        return self.number + self.events


def number_rows(
    first: int,
    openings: Sequence[UnnumberedOpening],
    events: Sequence[UnnumberedEvent],
    running: dict[UUID, RunningRow],
) -> Iterator[tuple[NumberRow, Sequence[Any]]]:
    """Rows from this number on, each with the columns of its leaves. On the way `running` is brought up to date.

    By time as far as the clocks of several Routers allow. Whatever they say, an Invocation's events follow each other,
    and a parent's opening stands before those of its children.

    The parent of each opening is in the batch or has its number; the Invocation of each event too.
    """
    depths = _depths(openings)
    found: list[tuple[datetime, int, UUID, int, UnnumberedOpening | UnnumberedEvent]] = [
        (one.created_at, depths.get(one.invocation_id, 0), one.invocation_id, 0, one) for one in openings
    ]
    found += [
        (one.occurred_at, depths.get(one.invocation_id, 0), one.invocation_id, one.sequence, one) for one in events
    ]
    found.sort()
    for _, _, invocation_id, sequence, one in found:
        if isinstance(one, UnnumberedOpening):
            row = NumberRow(
                first, invocation_id, 0, one.events, False, one.workspace_id, one.root_task_id, one.position
            )
            running[invocation_id] = RunningRow(first, one.events - 1, one.workspace_id, one.root_task_id)
            first += one.events
        else:
            known = running[invocation_id]
            workspace_id, root_task_id = known.workspace_id, known.root_task_id
            row = NumberRow(first, invocation_id, sequence, 1, one.is_terminal, workspace_id, root_task_id, None)
            if one.is_terminal:
                del running[invocation_id]
            else:
                running[invocation_id] = RunningRow(known.number, sequence, workspace_id, root_task_id)
            first += 1
        yield row, one.leaf


def _depths(openings: Sequence[UnnumberedOpening]) -> dict[UUID, int]:
    """How many ancestors each has in the batch: a parent may be of the same microsecond as its child. Nothing where no
    opening has a parent."""
    if all(one.parent_invocation_id is None for one in openings):
        return {}
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
