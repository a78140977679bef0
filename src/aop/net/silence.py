"""Finds peers whose machine is gone while bytes wait for them.

The kernel would give such a connection up after a quarter of an hour. Its option for less, TCP_USER_TIMEOUT, cannot be
used: it also counts while the peer's machine answers and only its window is closed, because its reader rests.
"""

import asyncio
import socket
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from aop.net.sockets import unanswered

_TURN_SECONDS: Final = 2.0
_TURNS: Final = 23
"""So many in a row must find the peer silent while bytes are under way, which is 44 s: the kernel sends again at
intervals that double, so up to 20 s after a network that lost everything for 20 s works again."""
_TURNS_OF_PROBES: Final = 15
"""Likewise while it is only probed, which is 28 s. A reader that rests is probed at intervals that double, too: the
first probe in vain comes up to 29 s after the death of one that had rested for 29 s, and there is time to answer the
next."""
_TURNS_OF_ONE_PROBE: Final = 31
"""After a longer silence one probe in vain may be a lost one whose next comes only a minute or two later."""


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
            retransmits, probes, seconds = unanswered(one.sock)
            if not retransmits and not probes:
                continue
            turns = self._silent[one] = before.get(one, 0) + 1
            needed = _TURNS if retransmits else _TURNS_OF_PROBES
            is_sure = retransmits or probes > 1 or seconds < _TURNS_OF_ONE_PROBE * _TURN_SECONDS
            if turns >= needed and seconds >= (needed - 1) * _TURN_SECONDS and is_sure:
                one.abort()
