"""Takes connections from a listening socket."""

import asyncio
import socket
from collections.abc import Callable
from typing import Final

from aop.net.server.neighbours import OwnerWorks, Precedence

# While turns of the loop are long, one connection a turn is too few for those who wait.
_ACCEPTS_A_TURN: Final = 16
_PAUSE_SECONDS: Final = 0.1
# Taken after others had time to, whatever they have: one of them may be stuck.
_ACCEPTS_AFTER_OTHERS: Final = 4
# The connection was gone before it was taken; the next one may be fine.
_GONE: Final = (ConnectionError, InterruptedError)


class Acceptor:
    """Owns nothing but its place in the loop; who waits while it pauses stays in the kernel's queue."""

    def __init__(
        self,
        listener: socket.socket,
        precedence: Precedence,
        admit: Callable[[socket.socket, OwnerWorks | None], None],
        failed: Callable[[], None],
    ) -> None:
        self._listener = listener
        self._precedence = precedence
        self._admit = admit
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._pause = None
        self._loop.add_reader(self._listener, self._accept)

    def stop(self) -> None:
        if self._pause is None:
            self._loop.remove_reader(self._listener)
        else:
            self._pause.cancel()
        self._listener.close()

    def _accept(self) -> None:
        for _ in range(_ACCEPTS_A_TURN):
            if seconds := self._precedence.seconds_for_others():
                self._pause_before(self._accept_after_others, seconds)
                return
            if not self._accept_one():
                return

    def _accept_after_others(self) -> None:
        self.start()
        if not self._precedence.is_left():
            return
        for _ in range(_ACCEPTS_AFTER_OTHERS):
            if not self._accept_one():
                return

    def _accept_one(self) -> bool:
        """Whether there may be another one now."""
        try:
            sock, _ = self._listener.accept()
        except BlockingIOError:
            return False
        except _GONE:
            return True
        except OSError:
            # Out of descriptors or memory. The socket stays readable, so without a pause the loop would spin.
            self._pause_before(self.start, _PAUSE_SECONDS)
            self._failed()
            return False
        sock.setblocking(False)
        self._admit(sock, self._precedence.taken())
        return True

    def _pause_before(self, step: Callable[[], None], seconds: float) -> None:
        self._loop.remove_reader(self._listener)
        self._pause = self._loop.call_later(seconds, step)
