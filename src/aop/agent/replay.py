"""The replay memory: which credentials were accepted while they are alive."""

from heapq import heappop, heappush
from typing import Final

MOST_LIVE: Final = 1_000_000
_DROPPED_AT_ONCE: Final = 1024


class ReplayMemory:
    """Belongs to one process. Full of live entries it admits nothing more, because forgetting one would admit a replay.

    Entries wait in one list per second of expiry, so that dropping them costs a constant amount each; at most
    1,024 are dropped per call.
    """

    def __init__(self, most_live: int = MOST_LIVE) -> None:
        self._most_live = most_live
        self._seen: dict[str, object] = {}
        self._expiring: dict[int, list[str]] = {}
        self._seconds: list[int] = []
        self._latest = 0.0

    def __len__(self) -> int:
        return len(self._seen)

    def admits(self, jti: str, expires: int, now: float) -> bool:
        """True once per jti; the look and the record are one operation."""
        # A clock that steps back would revive credentials whose entry is gone already.
        self._latest = max(self._latest, now)
        self._drop_expired()
        if expires <= self._latest or len(self._seen) >= self._most_live:
            return False
        mark = object()
        if self._seen.setdefault(jti, mark) is not mark:
            return False
        ids = self._expiring.get(expires)
        if ids is None:
            ids = self._expiring[expires] = []
            heappush(self._seconds, expires)
        ids.append(jti)
        return True

    def _drop_expired(self) -> None:
        left = _DROPPED_AT_ONCE
        while left > 0 and self._seconds and self._seconds[0] <= self._latest:
            ids = self._expiring[self._seconds[0]]
            gone = ids[-left:]
            del ids[-left:]
            for jti in gone:
                del self._seen[jti]
            left -= len(gone)
            if not ids:
                del self._expiring[heappop(self._seconds)]
