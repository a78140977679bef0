"""The replay memory: which credentials were accepted while they are alive."""

from bisect import bisect_right
from heapq import heappop, heappush
from typing import Final

MAX_LIVE: Final = 1_000_000
_DROPPED_AT_ONCE: Final = 1024
_MAX_SPANS: Final = 1024


class ReplayMemory:
    """Belongs to one process. Full of live entries it admits nothing more, because forgetting one would admit a replay.

    Entries wait in one list per second of expiry, so that dropping them costs a constant amount each; at most
    1,024 are dropped per call. A second of which entries were dropped admits nothing more: so a clock that steps back
    revives no credential, and refuses none but those of such seconds.
    """

    def __init__(self, max_live: int = MAX_LIVE) -> None:
        self._max_live = max_live
        self._seen: dict[str, object] = {}
        self._expiring: dict[int, list[str]] = {}
        self._seconds: list[int] = []
        self._dropped = _Seconds()

    def __len__(self) -> int:
        return len(self._seen)

    def admits(self, jti: str, expires: int, now: float) -> bool:
        """True once per jti; the look and the record are one operation."""
        self._drop_expired(now)
        if expires <= now or expires in self._dropped or len(self._seen) >= self._max_live:
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

    def _drop_expired(self, now: float) -> None:
        left = _DROPPED_AT_ONCE
        while left > 0 and self._seconds and self._seconds[0] <= now:
            ids = self._expiring[self._seconds[0]]
            self._dropped.add(self._seconds[0])
            gone = ids[-left:]
            del ids[-left:]
            for jti in gone:
                del self._seen[jti]
            left -= len(gone)
            if not ids:
                del self._expiring[heappop(self._seconds)]


class _Seconds:
    """A set of seconds that is added to nearly in order, stored as spans. When there are many, the lowest grow
    together, which only ever adds seconds."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []

    def __contains__(self, second: int) -> bool:
        at = bisect_right(self._firsts, second) - 1
        return at >= 0 and second <= self._lasts[at]

    def add(self, second: int) -> None:
        at = bisect_right(self._firsts, second) - 1
        if at >= 0 and second <= self._lasts[at] + 1:
            self._lasts[at] = max(self._lasts[at], second)
            return
        self._firsts.insert(at + 1, second)
        self._lasts.insert(at + 1, second)
        if len(self._firsts) > _MAX_SPANS:
            del self._firsts[1], self._lasts[0]
