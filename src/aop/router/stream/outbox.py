"""A short queue of frames from an Invocation to its caller: a slow caller slows the Agent down."""

import asyncio

from aop.serving.edge.streaming import WriteNow

FULL_BYTES = 16 * 1024


class Outbox:
    """One producer, one consumer. The consumer takes all waiting frames in one piece.

    While it waits for some, what was put during one turn of the event loop is written past it where that is possible at
    once: to wake the consumer costs more than the frame of a short chunk does otherwise.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._frames: list[bytes] = []
        self._size = 0
        self._ended = False
        self._write_now: WriteNow | None = None
        self._is_due = False
        self._arrival: asyncio.Future[None] | None = None
        self._space: asyncio.Future[None] | None = None

    def write_by(self, write_now: WriteNow | None) -> None:
        """While the consumer waits, frames are written by this; None ends that."""
        self._write_now = write_now

    def put(self, frame: bytes) -> bool:
        """Whether there is room for more."""
        self._frames.append(frame)
        self._size += len(frame)
        if self._arrival is not None:
            if self._write_now is None:
                _wake(self._arrival)
            elif self._size >= FULL_BYTES:
                self._write()
            elif not self._is_due:
                self._is_due = True
                self._loop.call_soon(self._write)
        return self._size < FULL_BYTES

    def drop(self) -> None:
        """Drops the waiting frames, because the consumer left. The size stays, so that the producer finds no room."""
        self._frames.clear()

    def end(self) -> None:
        self._ended = True
        _wake(self._arrival)

    async def room(self) -> None:
        while self._size >= FULL_BYTES:
            self._space = self._loop.create_future()
            await self._space

    async def take(self) -> bytes | None:
        """Everything there is, or None once the producer has ended and all is taken."""
        while not self._frames:
            if self._ended:
                return None
            self._arrival = self._loop.create_future()
            try:
                await self._arrival
            finally:
                self._arrival = None
        piece = self._waiting()
        self._empty()
        return piece

    def _write(self) -> None:
        self._is_due = False
        arrival, write_now = self._arrival, self._write_now
        # A consumer who has been woken takes the frames itself.
        if not self._frames or arrival is None or arrival.done():
            return
        if write_now is not None and write_now(self._waiting()):
            self._empty()
        else:
            _wake(arrival)

    def _waiting(self) -> bytes:
        return self._frames[0] if len(self._frames) == 1 else b"".join(self._frames)

    def _empty(self) -> None:
        self._frames.clear()
        self._size = 0
        _wake(self._space)


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
