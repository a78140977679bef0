"""A short queue of frames from an Invocation to its caller: a slow caller slows the Agent down."""

import asyncio

FULL_BYTES = 16 * 1024


class Outbox:
    """One producer, one consumer. The consumer takes all waiting frames in one piece."""

    def __init__(self) -> None:
        self._frames: list[bytes] = []
        self._size = 0
        self._ended = False
        self._changed: asyncio.Future[None] | None = None

    def put(self, frame: bytes) -> bool:
        """Whether there is room for more."""
        self._frames.append(frame)
        self._size += len(frame)
        if self._changed is not None:
            self._wake()
        return self._size < FULL_BYTES

    def drop(self) -> None:
        """Drops the waiting frames, because the consumer left. The size stays, so that the producer finds no room."""
        self._frames.clear()

    def end(self) -> None:
        self._ended = True
        self._wake()

    async def room(self) -> None:
        while self._size >= FULL_BYTES:
            await self._change()

    async def take(self) -> bytes | None:
        """Everything there is, or None once the producer has ended and all is taken."""
        while not self._frames:
            if self._ended:
                return None
            await self._change()
        piece = self._frames[0] if len(self._frames) == 1 else b"".join(self._frames)
        self._frames.clear()
        self._size = 0
        self._wake()
        return piece

    async def _change(self) -> None:
        changed = self._changed
        if changed is None or changed.done():
            changed = self._changed = asyncio.get_running_loop().create_future()
        await changed

    def _wake(self) -> None:
        changed, self._changed = self._changed, None
        if changed is not None and not changed.done():
            changed.set_result(None)
