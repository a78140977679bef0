"""Whether numbers follow each other as they should, as far as the rows tell that were read one after the other."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any
from uuid import UUID

from aop.ledger.model import OPENING_EVENTS
from aop.ledger.tree.leaf import EVENT_COLUMNS, OPENING_COLUMNS, InvocationLeaves
from aop.ledger.tree.store import NumberedRows

_EVENTS_OF = {str(opening): len(events) for opening, events in OPENING_EVENTS.items()}
_PARENT, _WORKSPACE, _OPENING = map(OPENING_COLUMNS.index, ("parent_invocation_id", "workspace_id", "opening"))
_TYPE = EVENT_COLUMNS.index("type")
_MAX_ENDED = 20_000
_number = itemgetter(0)


class NumberedChains:
    """`running` has the Invocations whose terminal was not read yet: the number of the opening, the sequence that the
    next event should have, and the number of the last one."""

    def __init__(self) -> None:
        self.running: dict[UUID, tuple[int, int, int]] = {}
        self._ended: dict[UUID, int] = {}
        self._past: int | None = None

    def follow(self, rows: NumberedRows, first: int, past: int) -> bool:
        """Goes on with a range of numbers. False if something seems wrong: it may be that the rows before it, or those
        of a detached month, were not read. True means that nothing is."""
        numbered: list[tuple[int, str, int, InvocationLeaves, Sequence[Any] | None]] = [
            *((*opening, None) for opening in rows.openings if opening[0] >= first),
            *(event for event in rows.events if first <= event[0] < past),
        ]
        numbered.sort(key=_number)
        is_right, expected = True, first if self._past is None else self._past
        for number, workspace_id, given, of_invocation, columns in numbered:
            is_right &= number == expected and workspace_id == of_invocation.columns[_WORKSPACE]
            if columns is None:
                is_right &= self._opened(number, given, of_invocation)
                expected = number + given
            else:
                is_right &= self._went_on(number, bool(given), of_invocation, columns)
                expected = number + 1
        self._past = expected
        return is_right and expected >= past

    def forget(self) -> Sequence[int]:
        """The numbers of the openings of those that run, which are not known any more."""
        numbers = [opened for opened, _, _ in self.running.values()]
        self.running.clear()
        return numbers

    def _opened(self, number: int, events: int, of_invocation: InvocationLeaves) -> bool:
        columns = of_invocation.columns
        invocation, parent = columns[0], columns[_PARENT]
        self.running[invocation] = number, events, number
        if events != _EVENTS_OF.get(columns[_OPENING]):
            return False
        if parent is None:
            return True
        above = self.running.get(parent)
        opened = self._ended.get(parent) if above is None else above[0]
        return opened is not None and opened < number

    def _went_on(self, number: int, is_terminal: bool, of_invocation: InvocationLeaves, columns: Sequence[Any]) -> bool:
        invocation, sequence = of_invocation.columns[0], columns[0]
        known = self.running.pop(invocation, None)
        if known is None:
            return False
        opened, expected, last = known
        if is_terminal:
            self._keep(invocation, opened)
        else:
            self.running[invocation] = opened, expected + 1, number
        return expected == sequence and last < number and is_terminal == (columns[_TYPE] != "stream")

    def _keep(self, invocation: UUID, opened: int) -> None:
        """For children that were numbered a moment later."""
        if len(self._ended) >= _MAX_ENDED:
            del self._ended[next(iter(self._ended))]
        self._ended[invocation] = opened
