"""The workers of a unit as one of them sees them: its share of the limits, and questions to all of them.

A unit that runs as one process is a group of one, which answers itself.
"""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from aop.base.share import WorkerShare
from aop.net.server import WorkerSocket
from aop.net.sockets import inherited
from aop.serving.workers.connection_counts import ConnectionCounts, WorkerCount
from aop.serving.workers.worker_link import LinkLost, WorkerLink

WORKER = "AOP_WORKER"
"""What a worker gets from its parent: its number, how many there are, and where it finds its sockets."""
BUILT = "built"
ASK_ALL = "all"
ANSWER_SECONDS = 3.0
"""More than a readiness check may take."""
_START_SECONDS = 15.0
"""What the others may take to start. Then this worker serves without them."""

OwnAnswer = Callable[[bytes], Awaitable[bytes]]


class ToAll(msgspec.Struct, array_like=True):
    """A question for every worker, as one of them sends it to the parent."""

    question: str
    body: bytes
    seconds: float


to_all = msgspec.msgpack.Decoder(ToAll).decode
answers_of_all = msgspec.msgpack.Decoder(list[bytes | None]).decode
encode = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True)
class WorkerPlace:
    """Which worker a process is, and the descriptors that it inherits."""

    share: WorkerShare
    link: int
    counts: int
    listeners: tuple[int, ...]
    by_worker: tuple[int, ...] = ()
    """One for each worker, or none."""

    def text(self, parent: int) -> str:
        numbers = parent, self.share.number, self.share.count, self.link, self.counts, len(self.listeners)
        return " ".join(map(str, (*numbers, *self.listeners, *self.by_worker)))

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "WorkerPlace | None":
        """None for a process that is no worker. A variable meant for another process is not followed."""
        numbers = [int(word) for word in environment.get(WORKER, "").split() if word.isdecimal()]
        if len(numbers) < 7 or numbers[0] != os.getppid():
            return None
        _, number, count, link, counts, shared, *listeners = numbers
        return cls(WorkerShare(number, count), link, counts, tuple(listeners[:shared]), tuple(listeners[shared:]))

    def neighbours(self) -> WorkerCount:
        """The other workers, for the server that accepts connections."""
        try:
            return ConnectionCounts(self.counts, self.share.count).place(self.share.number)
        finally:
            os.close(self.counts)

    def listening(self) -> Sequence[socket.socket]:
        return [inherited(listener) for listener in self.listeners]

    def listening_by_worker(self, workers: WorkerCount) -> Sequence[WorkerSocket]:
        """Its own, and those of the others, whose connections it takes when they do not."""
        return [
            WorkerSocket(inherited(listener), workers.precedence(number))
            for number, listener in enumerate(self.by_worker, 1)
        ]


class WorkerGroup:
    def __init__(self, share: WorkerShare | None = None) -> None:
        """Without a share: a unit that was started without workers."""
        self.share = share or WorkerShare()
        self.is_alone = share is None
        self._answers: dict[str, OwnAnswer] = {}
        self._link: WorkerLink | None = None

    def answers(self, question: str, answer: OwnAnswer) -> None:
        """How this worker answers when a question goes to all."""
        self._answers[question] = answer

    async def ask_all(
        self, question: str, body: bytes = b"", seconds: float = ANSWER_SECONDS
    ) -> Sequence[bytes | None]:
        """One answer for each worker, this one included. None for one that does not run or does not answer in time."""
        if self._link is None:
            return [await self._answers[question](body)]
        asked = encode(ToAll(question, body, seconds))
        try:
            return answers_of_all(await self._link.ask(ASK_ALL, asked, seconds + ANSWER_SECONDS))
        except LinkLost:
            return [None] * self.share.count

    async def join(self, place: WorkerPlace, orphaned: Callable[[], None]) -> asyncio.Task[None]:
        """From here on the parent can ask. The task ends with the parent; `orphaned` is called then."""
        link = self._link = await WorkerLink.on(inherited(place.link), self._answer)

        async def run() -> None:
            await link.run()
            orphaned()

        return asyncio.create_task(run(), name="link to the parent")

    async def built(self) -> None:
        """Tells the parent that this worker can serve; at the start of a unit all begin together."""
        if self._link is not None:
            with suppress(LinkLost):
                await self._link.ask(BUILT, b"", _START_SECONDS)

    async def _answer(self, question: str, body: bytes) -> bytes | None:
        answer = self._answers.get(question)
        return None if answer is None else await answer(body)
