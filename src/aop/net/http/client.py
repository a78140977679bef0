"""The HTTP/1.1 client: dials judged addresses, pools connections, sends every request at most once.

It follows no redirect, keeps no cookie, uses no proxy, decodes no content and reads no environment.
"""

import ssl
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from types import TracebackType
from typing import Any, Final

from aop.base.share import WorkerShare
from aop.net.headers import Headers
from aop.net.http.connection import Connection, TakePiece
from aop.net.http.message import Answer, HeaderLookup, HttpError, Target, request_bytes
from aop.net.http.pool import Dialer, Pool

MAX_IDLE_PER_TARGET: Final = 512
_ALONE: Final = WorkerShare()


class StreamedAnswer(HeaderLookup):
    """A head, and a body to iterate once before it is left; each piece is everything that had arrived."""

    __slots__ = ("_connection", "_pool", "headers", "status")

    def __init__(self, pool: Pool, connection: Connection) -> None:
        self.status = connection.reader.status
        self.headers = connection.reader.headers
        self._pool = pool
        self._connection: Connection | None = connection

    def __aiter__(self) -> "StreamedAnswer":
        return self

    async def __anext__(self) -> bytes:
        if self._connection is None:
            raise RuntimeError("this answer has been left")
        piece = await self._connection.piece()
        if piece is None:
            raise StopAsyncIteration
        return piece

    async def hand_to(self, take: TakePiece) -> bool:
        """The same without waking anybody for a piece: `take` is called with each as it comes. True once it said that
        the next one has to wait, which a further call then gives; False at the end. Raises what it raises."""
        if self._connection is None:
            raise RuntimeError("this answer has been left")
        return await self._connection.hand_to(take)

    def rest(self) -> bytes | None:
        """The unread body, when all of it is here; None leaves it to the iteration, which also says what is wrong."""
        connection = self._connection
        return connection.reader.take() if connection is not None and connection.reader.complete else None

    def close(self) -> None:
        """Leaves the answer, and closes the connection whatever came on it."""
        if self._connection is not None:
            self._connection.abort()
            self.leave()

    def leave(self) -> None:
        """Before the end of the answer this closes the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.release(connection)


class AnswerStream:
    """The scope of one streamed exchange: sends on entry, and leaves the answer at its end."""

    __slots__ = ("_answer", "_opening", "deadline")

    def __init__(self, opening: Callable[[], Awaitable[StreamedAnswer]], deadline: float) -> None:
        self.deadline = deadline
        self._opening = opening
        self._answer: StreamedAnswer | None = None

    async def __aenter__(self) -> StreamedAnswer:
        self._answer = await self._opening()
        return self._answer

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._answer is not None:
            self._answer.leave()


class HttpClient:
    """Belongs to the loop it is used on, and is closed by its owner. Deadlines are in that loop's time."""

    def __init__(
        self,
        *,
        idle_seconds: float,
        connect_seconds: float,
        tls: ssl.SSLContext | None = None,
        max_idle_per_target: int = MAX_IDLE_PER_TARGET,
        share: WorkerShare = _ALONE,
    ) -> None:
        """`share` says which of several alike processes this is: each has workers of its own to connect to."""
        self._pool = Pool(Dialer(tls, connect_seconds, share), idle_seconds, max_idle_per_target)

    def request(
        self,
        target: Target,
        method: str,
        path: str,
        *,
        headers: Headers = (),
        body: bytes = b"",
        deadline: float,
        max_body: int,
    ) -> Coroutine[Any, Any, Answer]:
        """The whole answer, or an HttpError; cancelling closes the connection at once."""
        return self.exchange(target, method, request_bytes(target, method, path, headers, body), deadline, max_body)

    async def exchange(self, target: Target, method: str, request: bytes, deadline: float, max_body: int) -> Answer:
        """Likewise, for a request that is bytes already."""
        connection = self._pool.idle(target, deadline) or await self._pool.new(target, deadline)
        reader = connection.reader
        try:
            reader.begin(method, max_body)
            connection.start(request, deadline, streamed=False)
            while not reader.complete:
                await connection.progress()
            return Answer(reader.status, reader.headers, reader.take())
        except HttpError as error:
            error.headers = reader.headers or None
            raise
        finally:
            self._pool.release(connection)

    def stream(
        self,
        target: Target,
        method: str,
        path: str,
        *,
        headers: Headers = (),
        body: bytes = b"",
        deadline: float,
        max_body: int,
    ) -> AnswerStream:
        """A scope that sends on entry and gives the answer once its head is read."""
        request = request_bytes(target, method, path, headers, body)
        return AnswerStream(partial(self.open, target, method, request, deadline, max_body), deadline)

    async def open(
        self, target: Target, method: str, request: bytes, deadline: float, max_body: int, *, whole: bool = False
    ) -> StreamedAnswer:
        """Sends these bytes, and gives the answer once its head is read, or the whole of it. The caller leaves
        it, and until then no other request goes over its connection."""
        pool = self._pool
        connection = pool.idle(target, deadline) or await pool.new(target, deadline)
        try:
            reader = connection.reader
            reader.begin(method, max_body)
            connection.start(request, deadline, streamed=not whole)
            while not (reader.complete if whole else reader.has_head):
                await connection.progress()
        except BaseException:
            pool.release(connection)
            raise
        return StreamedAnswer(pool, connection)

    async def close(self) -> None:
        """Closes every connection; exchanges that still run end in TransferBroken."""
        await self._pool.close()
