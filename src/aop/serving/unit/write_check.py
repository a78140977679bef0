"""Whether the store takes writes. It is asked while answers of the unit give reason to doubt that, and not before."""

import time
from collections.abc import Sequence
from typing import Final

from aop.contracts.errors import Reason
from aop.store.backends import require_writes
from aop.store.database import Database

DOUBT_SECONDS: Final = 5.0
_OF_STORE: Final = frozenset({Reason.STORE_UNAVAILABLE, Reason.ACCEPTANCE_UNKNOWN, Reason.OUTCOME_UNKNOWN})


class WriteCheck:
    """A readiness check. A full disk fails writes alone: reads, and with them the other checks, go on.

    `additions` are the unit's own statements that add no row: they wait for what the real ones would wait for.
    """

    def __init__(self, database: Database, additions: Sequence[str] = ()) -> None:
        self._database = database
        self._additions = additions
        self._doubted_at: float | None = None

    def note(self, reason: Reason) -> None:
        """The reason of an error that the unit answers with, be it of its own store or of that of a Router."""
        if self._doubted_at is None and reason in _OF_STORE:
            self._doubted_at = time.monotonic()

    async def check(self) -> None:
        # A call that fails for a moment is no reason to leave a balancer. Once the doubt is old enough, the store is
        # asked each time: nobody sends calls to a unit that is not ready, so none would show that it writes again.
        if self._doubted_at is None or time.monotonic() < self._doubted_at + DOUBT_SECONDS:
            return
        async with self._database.connection() as connection:
            await require_writes(connection)
            for addition in self._additions:
                await connection.execute(addition)
        self._doubted_at = None
