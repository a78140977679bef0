"""Takes connections from a listening socket: many a turn, and none for a moment when the process can hold no more."""

import asyncio
import socket
from collections.abc import Callable
from typing import Final

# While turns of the loop are long, one connection a turn is too few for those who wait.
_ACCEPTS_A_TURN: Final = 16
_PAUSE_SECONDS: Final = 0.1
# The connection was gone before it was taken; the next one may be fine.
_GONE: Final = (ConnectionError, InterruptedError)


class Acceptor:
    """Owns nothing but its place in the loop; who waits while it pauses stays in the kernel's queue."""

    def __init__(
        self, listener: socket.socket, admit: Callable[[socket.socket], None], failed: Callable[[], None]
    ) -> None:
        self._listener = listener
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
            try:
                sock, _ = self._listener.accept()
            except BlockingIOError:
                return
            except _GONE:
                continue
            except OSError:
                # Out of descriptors or memory. The socket stays readable, so without a pause the loop would spin.
                self._loop.remove_reader(self._listener)
                self._pause = self._loop.call_later(_PAUSE_SECONDS, self.start)
                self._failed()
                return
            sock.setblocking(False)
            self._admit(sock)
