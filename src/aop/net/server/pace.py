"""The clocks of a connection: when it is closed because the next step did not come, and how fast its peer must read."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from aop.net.server.limits import ServerLimits

End = Callable[[], None]

_SAMPLES: Final = 15
"""In one window. A slow peer is cut at most one fifteenth of the window late."""
_SAMPLES_TO_RESUME: Final = 5
"""A reader that rested for a whole window may just have begun to read. Within so many samples it must show its pace:
TCP tells of what it takes in segments, which are 64 KiB on loopback, so every three seconds at 24 KB/s."""


def _nothing() -> None: ...


class CloseTimer:
    """Closes a connection at its due time, which every step of a request moves.

    One timer serves many requests: it fires at the earliest time it was set for and is then set for what is due by now,
    because to cancel and start a timer twice in every request would cost more than one that fires in vain.
    """

    __slots__ = ("_at", "_close", "_loop", "_timer", "due")

    def __init__(self, loop: asyncio.AbstractEventLoop, close: End) -> None:
        self.due: float | None = None
        """None while nothing is due, as during a request."""
        self._loop = loop
        self._close = close
        self._timer: asyncio.TimerHandle | None = None
        self._at = 0.0

    def at(self, due: float) -> None:
        self.due = due
        if self._timer is None or self._at > due:
            if self._timer is not None:
                self._timer.cancel()
            self._at = due
            self._timer = self._loop.call_at(due, self._fire)

    def stop(self) -> None:
        """For good. The connection is let go of: otherwise each one would leave a reference cycle."""
        if self._timer is not None:
            self._timer.cancel()
        self._close = _nothing

    def _fire(self) -> None:
        self._timer = None
        if self.due is None:
            return
        if self._loop.time() < self.due:
            self.at(self.due)
        else:
            self._close()


class Pace:
    """Watches one connection from the first byte that its socket did not take at once.

    What the kernel's send buffer took counts as taken; it is small, see `aop.net.sockets`. A pause shorter than one
    sample is no interruption: between two pieces of one answer nothing waits for an instant. Samples are counted,
    not seconds, so that a loop that was held up does not make its peers look slow.
    """

    __slots__ = (
        "_cut",
        "_empty_since",
        "_is_spared",
        "_late",
        "_loop",
        "_min_bytes",
        "_seconds",
        "_taken",
        "_taken_by",
        "_timer",
    )

    def __init__(self, limits: ServerLimits, taken: Callable[[], int], cut: End) -> None:
        self._loop = asyncio.get_running_loop()
        self._min_bytes = limits.slow_bytes
        self._seconds = limits.slow_seconds / _SAMPLES
        self._taken = taken
        self._cut = cut
        self._taken_by: deque[int] = deque(maxlen=_SAMPLES)
        self._empty_since: float | None = None
        self._late = 0
        """How many samples in a row found that it took too little in their window."""
        self._is_spared = False
        """It rested and then read on. It has one window for that, and no second one before it was fast in one."""
        self._timer: asyncio.TimerHandle | None = None

    def wait(self) -> None:
        """Bytes wait from now on, if none did before."""
        # After a longer rest the old samples say nothing: the peer could take nothing where nothing was sent.
        if self._was_interrupted():
            self._begin_anew()
        self._empty_since = None
        if self._timer is None:
            self._taken_by.append(self._taken())
            self._timer = self._loop.call_later(self._seconds, self._sample)

    def rest(self) -> None:
        """Nothing waits any more."""
        if self._empty_since is None:
            self._empty_since = self._loop.time()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _sample(self) -> None:
        self._timer = None
        if self._was_interrupted():
            self._begin_anew()
            return
        taken = self._taken()
        if len(self._taken_by) == _SAMPLES and self._is_too_slow(taken):
            self._cut()
            return
        self._taken_by.append(taken)
        self._timer = self._loop.call_later(self._seconds, self._sample)

    def _is_too_slow(self, taken: int) -> bool:
        """Compares with the sample of one whole window ago; before that no one is judged."""
        if taken - self._taken_by[0] >= self._min_bytes:
            self._late, self._is_spared = 0, False
        elif self._empty_since is None:
            self._late += 1
            if self._is_spared:
                return True
            if taken - self._taken_by[-_SAMPLES_TO_RESUME] >= self._min_bytes * _SAMPLES_TO_RESUME / _SAMPLES:
                # What it took while it rested says nothing of how fast it reads.
                self._late, self._is_spared = 0, True
                self._taken_by.clear()
            return self._late == _SAMPLES_TO_RESUME
        return False

    def _was_interrupted(self) -> bool:
        return self._empty_since is not None and self._loop.time() - self._empty_since > self._seconds

    def _begin_anew(self) -> None:
        self._taken_by.clear()
        self._late, self._is_spared = 0, False
