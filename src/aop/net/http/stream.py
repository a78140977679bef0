"""A streamed answer: its head first, then its body in pieces, paced by the reader."""

from dataclasses import dataclass
from types import TracebackType

from aop.net.http.connection import Connection
from aop.net.http.message import HeaderLookup, Target
from aop.net.http.pool import Pool


@dataclass(frozen=True, slots=True)
class Exchange:
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

    def detach(self) -> Connection | None:
        """From here on the connection belongs to others."""
        connection, self._connection = self._connection, None
        return connection


class AnswerStream:
    """The scope of one streamed exchange; leaving it before the end of the answer closes the connection."""

    def __init__(self, pool: Pool, target: Target, exchange: Exchange) -> None:
        self._pool = pool
        self._target = target
        self._exchange = exchange
        self._answer: StreamedAnswer | None = None

    async def __aenter__(self) -> StreamedAnswer:
        exchange, pool = self._exchange, self._pool
        connection = pool.idle(self._target, exchange.deadline) or await pool.new(self._target, exchange.deadline)
        try:
            reader = connection.reader
            reader.begin(exchange.method, exchange.max_body)
            connection.start(exchange.request, exchange.deadline, streamed=True)
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
        connection = None if self._answer is None else self._answer.detach()
        if connection is not None:
            self._pool.release(connection)
