"""The HTTP/1.1 client: dials judged addresses, pools connections, sends every request at most once.

It follows no redirect, keeps no cookie, uses no proxy, decodes no content and reads no environment.
"""

import ssl
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from aop.net.headers import Headers
from aop.net.http.connection import Connection
from aop.net.http.message import Answer, HeaderLookup, HttpError, Target, request_bytes
from aop.net.http.pool import Dialer, Pool

MAX_IDLE_PER_TARGET: Final = 512


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A request ready to be sent, and the bounds of its answer."""

    method: str
    request: bytes
    deadline: float
    max_body: int


class StreamedAnswer(HeaderLookup):
    """A head, and a body to iterate once inside its scope; each piece is everything that had arrived."""

    __slots__ = ("_connection", "headers", "status")

    def __init__(self, connection: Connection) -> None:
        self.status = connection.reader.status
        self.headers = connection.reader.headers
        self._connection: Connection | None = connection

    def __aiter__(self) -> "StreamedAnswer":
        return self

    async def __anext__(self) -> bytes:
        if self._connection is None:
            raise RuntimeError("the scope of this answer has been left")
        piece = await self._connection.piece()
        if piece is None:
            raise StopAsyncIteration
        return piece

    def rest(self) -> bytes | None:
        """The unread body, when all of it is here; None leaves it to the iteration, which also says what is wrong."""
        connection = self._connection
        return connection.reader.take() if connection is not None and connection.reader.complete else None

    def detach(self) -> Connection | None:
        """From here on the connection belongs to others."""
        connection, self._connection = self._connection, None
        return connection


class AnswerStream:
    """The scope of one streamed exchange; leaving it before the end of the answer closes the connection."""

    def __init__(self, pool: Pool, target: Target, prepared: PreparedRequest) -> None:
        self._pool = pool
        self._target = target
        self._prepared = prepared
        self._answer: StreamedAnswer | None = None

    async def __aenter__(self) -> StreamedAnswer:
        prepared, pool = self._prepared, self._pool
        connection = pool.idle(self._target, prepared.deadline) or await pool.new(self._target, prepared.deadline)
        try:
            reader = connection.reader
            reader.begin(prepared.method, prepared.max_body)
            connection.start(prepared.request, prepared.deadline, streamed=True)
            while not reader.has_head:
                await connection.progress()
        except BaseException:
            pool.release(connection)
            raise
        self._answer = StreamedAnswer(connection)
        return self._answer

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def leave(self) -> None:
        """For who entered the scope without `async with`."""
        connection = None if self._answer is None else self._answer.detach()
        if connection is not None:
            self._pool.release(connection)


class HttpClient:
    """Belongs to the loop it is used on, and is closed by its owner. Deadlines are in that loop's time."""

    def __init__(
        self,
        *,
        idle_seconds: float,
        connect_seconds: float,
        tls: ssl.SSLContext | None = None,
        max_idle_per_target: int = MAX_IDLE_PER_TARGET,
    ) -> None:
        self._pool = Pool(Dialer(tls, connect_seconds), idle_seconds, max_idle_per_target)

    async def request(
        self,
        target: Target,
        method: str,
        path: str,
        *,
        headers: Headers = (),
        body: bytes = b"",
        deadline: float,
        max_body: int,
    ) -> Answer:
        """The whole answer, or an HttpError; cancelling closes the connection at once."""
        request = request_bytes(target, method, path, headers, body)
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
        return AnswerStream(self._pool, target, PreparedRequest(method, request, deadline, max_body))

    async def close(self) -> None:
        """Closes every connection; exchanges that still run end in TransferBroken."""
        await self._pool.close()
