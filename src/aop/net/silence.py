"""Finds peers whose machine is gone while bytes wait for them.

The kernel would give such a connection up after a quarter of an hour. Its option for less, TCP_USER_TIMEOUT, cannot be
used: it also counts while the peer's machine answers and only its window is closed, because its reader rests.
"""

import asyncio
import socket
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from aop.net.sockets import PEER_SILENCE_SECONDS, unanswered

_TURN_SECONDS: Final = 2.0
_TURNS: Final = 2
"""So many in a row must find the peer silent: one alone may come just when an answer is on its way."""
_TURNS_AFTER_ONE: Final = 8
"""One question or its answer may be lost. The kernel asks soon again, but not when the window was closed for long."""


class Watched(Protocol):
    @property
    def sock(self) -> socket.socket | None:
        """None once it is closed."""

    def abort(self) -> None: ...


class SilenceWatch:
    """Asks TCP about all connections that wait for their peer, every two seconds as long as there are connections."""

    def __init__(self, waiting: Callable[[], Iterable[Watched] | None]) -> None:
        """`waiting` gives those that wait for their peer; None when there is no connection any more."""
        self._waiting = waiting
        self._silent: dict[Watched, int] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """There is a connection."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_TURN_SECONDS, self._turn)

    def _turn(self) -> None:
        self._timer = None
        before, self._silent = self._silent, {}
        waiting = self._waiting()
        if waiting is None:
            return
        self.begin()
        for one in waiting:
            asked, seconds = unanswered(one.sock)
            if not asked:
                continue
            turns = self._silent[one] = before.get(one, 0) + 1
            if seconds >= PEER_SILENCE_SECONDS and turns >= (_TURNS if asked > 1 else _TURNS_AFTER_ONE):
                one.abort()
