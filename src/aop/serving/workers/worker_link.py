"""Questions and answers between a worker and its parent, over a pair of sockets that the worker inherits."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count

import msgspec

from aop.processes.frames import framed, read_frame

Answer = Callable[[str, bytes], Awaitable[bytes | None]]
"""Of a question and its body. None says that there is no answer, for one because the unit is not built yet."""

_ALIVE = "alive"
"""A question that has no answer. That there is none is said at once."""
SILENT_TURNS = 10
"""A process that says nothing for so many seconds is frozen."""
START_TURNS = 60
"""One that has said nothing at all yet, because it still imports what it is made of on a machine that may be busy."""


class LinkLost(Exception):
    """The process at the other end is gone, or has no answer."""


class _Message(msgspec.Struct, array_like=True):
    """An answer has no question, and the number of what it answers."""

    number: int
    question: str | None
    body: bytes | None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Message).decode


class WorkerLink:
    """One end. Both ends may ask, and each answers while it waits for answers itself."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer) -> None:
        self._reader = reader
        self._writer = writer
        self._answer = answer
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[bytes | None]] = {}
        self._answering: set[asyncio.Task[None]] = set()
        self._heard = 0

    @classmethod
    async def on(cls, sock: socket.socket, answer: Answer) -> "WorkerLink":
        sock.setblocking(False)
        return cls(*await asyncio.open_unix_connection(sock=sock), answer)

    async def ask(self, question: str, body: bytes, seconds: float) -> bytes:
        """LinkLost when no answer comes in this time, or none at all."""
        number, answer = next(self._numbers), asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self._send(_Message(number, question, body))
            async with asyncio.timeout(seconds):
                found: bytes | None = await answer
        except TimeoutError:
            raise LinkLost from None
        finally:
            del self._waiting[number]
        if found is None:
            raise LinkLost
        return found

    async def silence(self, turn_seconds: float = 1.0) -> int:
        """Until the other end has said nothing for some turns, though it was asked in each, and returns how many; its
        first word may take more.

        Turns of this loop are counted: while the machine or this process stands still, no process is silent.
        """
        turns = 0
        while turns < (SILENT_TURNS if self._heard else START_TURNS):
            heard = self._heard
            self._send(_Message(next(self._numbers), _ALIVE, None))
            await asyncio.sleep(turn_seconds)
            turns = turns + 1 if self._heard == heard else 0
        return turns

    async def run(self) -> None:
        """Until the other end is closed."""
        try:
            while True:
                self._take(_decode(await read_frame(self._reader)))
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            await self.close()

    async def close(self) -> None:
        self._writer.close()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_result(None)
        for task in self._answering:
            task.cancel()
        with suppress(OSError):
            await self._writer.wait_closed()

    def _take(self, message: _Message) -> None:
        self._heard += 1
        if message.question is not None:
            # In a task of its own: to answer a question of one worker the parent asks all of them, this one included.
            # A reader that waited for the answer would never read what that needs.
            task = asyncio.create_task(self._answered(message.number, message.question, message.body or b""))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        elif (waiting := self._waiting.get(message.number)) is not None and not waiting.done():
            waiting.set_result(message.body)

    async def _answered(self, number: int, question: str, body: bytes) -> None:
        answer = None
        try:
            answer = await self._answer(question, body)
        finally:  # whoever asked must not wait for an answer that a fault has prevented
            self._send(_Message(number, None, answer))

    def _send(self, message: _Message) -> None:
        if not self._writer.is_closing():
            self._writer.write(framed(_encode(message)))
