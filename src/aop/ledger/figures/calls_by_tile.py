"""Calls counted when they get their numbers, so that a tile need not read their rows again."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from aop.ledger.figures.hours import MINUTE, NUMBERS_IN_TILE
from aop.ledger.tree.leaf import EVENT_COLUMNS, OPENING_COLUMNS

Key = tuple[str, str, str, str | None, str | None, str | None]
"""What calls are counted by: Workspace, Agent, capability, and of one that ended its outcome, code and reason."""
CallsByMinute = Mapping[int, Mapping[Key, Sequence[int | None]]]
"""The latency of each call, by the minute in which it was accepted and by key."""
NumberedRow = tuple[int, UUID, int, int, bool, str, UUID, int | None]
"""Number, Invocation, sequence, events, whether it is a terminal, Workspace, root task and position."""

_AGENT, _CAPABILITY, _CREATED = map(OPENING_COLUMNS.index, ("target_agent_id", "capability", "created_at"))
_TYPE, _LATENCY, _CODE, _REASON = map(EVENT_COLUMNS.index, ("type", "latency_ms", "error_code", "reason"))
_MAX_OPEN: Final = 20_000
_MAX_TILES: Final = 16
_MAX_KEYS: Final = 100_000


class CallsByTile:
    """Of rows without a gap between them, and of whole tiles only. What is not known here has to be read."""

    def __init__(self) -> None:
        self._first = self._past = -1
        self._tiles: dict[int, dict[int, dict[Key, list[int | None]]]] = {}
        # By hand, the oldest first: each is used once, so that nothing is gained from the order of use, and every call
        # that gets its numbers goes through here.
        self._open: dict[UUID, tuple[str, str, str, int]] = {}
        self._minute, self._minute_at = 0, datetime.fromtimestamp(0, UTC)
        self._minute_past = self._minute_at
        self._keys: dict[Key, int] = {}

    @property
    def keys(self) -> dict[Key, int]:
        """The numbers of keys that were read before, which never change."""
        if len(self._keys) > _MAX_KEYS:
            self._keys.clear()
        return self._keys

    def learn(self, row: NumberedRow, columns: Sequence[Any]) -> None:
        """A row that has this number from now on, with the columns of its leaves."""
        number, invocation, sequence, events, is_terminal, workspace_id, *_ = row
        if number != self._past:
            self._begin(number)
        self._past = number + events
        if sequence == 0:
            minute = self._minute_of(columns[_CREATED])
            agent, capability = columns[_AGENT], columns[_CAPABILITY]
            if len(self._open) >= _MAX_OPEN:
                del self._open[next(iter(self._open))]
            self._open[invocation] = workspace_id, agent, capability, minute
            calls = (self._tiles.get(number // NUMBERS_IN_TILE) or self._begin_tile(number))[minute]
            calls[workspace_id, agent, capability, None, None, None].append(None)
        elif is_terminal:
            opened = self._open.pop(invocation, None)
            if opened is None:  # another one numbered its opening
                self._begin(self._past)
                return
            workspace_id, agent, capability, minute = opened
            calls = (self._tiles.get(number // NUMBERS_IN_TILE) or self._begin_tile(number))[minute]
            key = workspace_id, agent, capability, columns[_TYPE], columns[_CODE], columns[_REASON]
            calls[key].append(columns[_LATENCY])

    def take(self, tile: int) -> CallsByMinute | None:
        """The calls of a tile, which are not needed again; None if some are not known."""
        is_whole = self._first <= tile * NUMBERS_IN_TILE and (tile + 1) * NUMBERS_IN_TILE <= self._past
        calls = self._tiles.pop(tile, None)
        return calls if is_whole else None

    def _begin(self, first: int) -> None:
        self._first = self._past = first
        self._tiles.clear()

    def _begin_tile(self, number: int) -> dict[int, dict[Key, list[int | None]]]:
        if len(self._tiles) >= _MAX_TILES:
            del self._tiles[next(iter(self._tiles))]
        begun: dict[int, dict[Key, list[int | None]]] = defaultdict(lambda: defaultdict(list))
        self._tiles[number // NUMBERS_IN_TILE] = begun
        return begun

    def _minute_of(self, moment: datetime) -> int:
        """In seconds since 1970. The rows of a batch are of a few minutes."""
        if not self._minute_at <= moment < self._minute_past:
            self._minute_at = moment.replace(second=0, microsecond=0)
            self._minute_past = self._minute_at + timedelta(seconds=MINUTE)
            self._minute = int(self._minute_at.timestamp())
        return self._minute
