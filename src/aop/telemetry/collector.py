"""The way to a collector: one request at a time and signal, with a deadline, never repeated."""

import asyncio
from collections.abc import Sequence

from aop.net.http import HttpClient, HttpError
from aop.net.origin import Endpoint
from aop.net.peer import Peer
from aop.net.policy import NameNotResolved, Resolver

_MOST_ANSWER_BYTES = 64 * 1024


class NotTaken(Exception):
    """The collector is out of reach, too slow, or said no; the text is for the log."""


class Collector:
    def __init__(
        self,
        endpoint: Endpoint,
        client: HttpClient,
        resolver: Resolver,
        headers: Sequence[tuple[bytes, bytes]],
        seconds: float,
    ) -> None:
        self._peer = Peer(endpoint.origin, client, resolver)
        self._path = endpoint.path
        self._headers = (*headers, (b"content-type", b"application/x-protobuf"))
        self._seconds = seconds

    async def send(self, body: bytes) -> bytes:
        """The body of its answer, once it has taken the request."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        try:
            answer = await self._peer.post(
                self._path, self._headers, body, deadline=deadline, max_body=_MOST_ANSWER_BYTES
            )
        except (HttpError, NameNotResolved, TimeoutError) as failure:
            raise NotTaken(type(failure).__name__) from failure
        if not 200 <= answer.status < 300:
            raise NotTaken(f"status {answer.status}")
        return answer.body
