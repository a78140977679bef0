"""The HTTP/1.1 client: dials judged addresses, pools connections, sends every request at most once.

It follows no redirect, keeps no cookie, uses no proxy, decodes no content and reads no environment.
"""

import ssl
from typing import Final

from aop.net.header_syntax import Headers
from aop.net.http.dialing import Dialer
from aop.net.http.errors import HttpError
from aop.net.http.message import Answer, Target, request_bytes
from aop.net.http.pool import Pool
from aop.net.http.stream import AnswerStream, Exchange

MAX_IDLE_PER_TARGET: Final = 512


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
        return AnswerStream(self._pool, target, Exchange(method, request, deadline, max_body))

    async def close(self) -> None:
        """Closes every connection; exchanges that still run end in TransferBroken."""
        await self._pool.close()
