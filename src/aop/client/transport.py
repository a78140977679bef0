"""Sends requests to the Gateway: resolves its name, connects, sends each request once, and explains failures."""

import asyncio
import copy
import ssl
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Final, TypeVar

from aop.base.settings import Secret
from aop.client.answers import read, trace_in
from aop.client.errors import AnswerLost, BrokenAnswer, DeadlinePassed, Unreachable
from aop.client.request import OperationRequest
from aop.net import http
from aop.net.http import Answer, HttpClient, StreamedAnswer, Target
from aop.net.origin import Endpoint
from aop.net.policy import NameNotResolved, Resolver

T = TypeVar("T")

TokenText = str | Secret
Token = TokenText | Callable[[], TokenText | Awaitable[TokenText]]

_CONNECT_SECONDS: Final = 5.0
_IDLE_SECONDS: Final = 10.0
_UNBOUNDED: Final = sys.maxsize


@dataclass
class _Opened:
    """What belongs to one event loop."""

    loop: asyncio.AbstractEventLoop
    client: HttpClient
    resolver: Resolver = field(default_factory=Resolver)
    answering: Target | None = None
    """Who took the last connection, tried first."""


class _Connections:
    """Opens at the first request, on the loop of that request, and stays with that loop until it is closed."""

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self._tls = tls
        self._opened: _Opened | None = None
        self._closed = False

    def open(self) -> _Opened:
        loop = asyncio.get_running_loop()
        if self._closed:
            raise RuntimeError("this client is closed")
        if self._opened is None:
            client = HttpClient(idle_seconds=_IDLE_SECONDS, connect_seconds=_CONNECT_SECONDS, tls=self._tls)
            self._opened = _Opened(loop, client)
        if self._opened.loop is not loop:
            raise RuntimeError("this client belongs to another event loop; make one client per loop")
        return self._opened

    async def close(self) -> None:
        self._closed = True
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.client.close()


class Transport:
    """The way to one Gateway for the bearer of one token; several may share their connections."""

    def __init__(self, endpoint: Endpoint, token: Token | None, tls: ssl.SSLContext | None, max_answer: int) -> None:
        self.max_answer = max_answer
        self._endpoint = endpoint
        self._prefix = endpoint.path.rstrip("/")
        self._token = Secret(token) if isinstance(token, str) else token
        self._connections = _Connections(tls)

    def bearing(self, token: Token) -> "Transport":
        """The same way, over the same connections, with another token."""
        other = copy.copy(self)
        other._token = Secret(token) if isinstance(token, str) else token  # noqa: SLF001  (its own copy)
        return other

    async def send(self, request: OperationRequest[T], seconds: float) -> T:
        deadline = asyncio.get_running_loop().time() + seconds
        with explained():
            headers = await self._headers(request, b"application/json", deadline)
            opened = self._connections.open()

            async def exchange(target: Target) -> Answer:
                return await opened.client.request(
                    target,
                    request.method,
                    self._prefix + request.target,
                    headers=headers,
                    body=request.call.body,
                    deadline=deadline,
                    max_body=self.max_answer,
                )

            answer = await self._connected(opened, deadline, exchange)
        return read(answer, request)

    async def stream(self, request: OperationRequest[T], seconds: float, scope: AsyncExitStack) -> StreamedAnswer:
        """The head of a streamed answer, whose connection belongs to the scope."""
        deadline = asyncio.get_running_loop().time() + seconds
        with explained():
            headers = await self._headers(request, b"text/event-stream", deadline)
            opened = self._connections.open()

            async def exchange(target: Target) -> StreamedAnswer:
                return await scope.enter_async_context(
                    opened.client.stream(
                        target,
                        request.method,
                        self._prefix + request.target,
                        headers=headers,
                        body=request.call.body,
                        deadline=deadline,
                        max_body=_UNBOUNDED,
                    )
                )

            return await self._connected(opened, deadline, exchange)

    async def close(self) -> None:
        await self._connections.close()

    async def _connected(self, opened: _Opened, deadline: float, exchange: Callable[[Target], Awaitable[T]]) -> T:
        # Whoever meets the error often set another address than intended, so it names the one that was tried.
        try:
            return await self._exchanged(opened, deadline, exchange)
        except NameNotResolved as error:
            raise Unreachable(f"the name in {self._endpoint.origin} is not resolved") from error
        except http.ConnectFailed as error:
            raise Unreachable(f"no connection to the Gateway at {self._endpoint.origin}: {error}") from error

    async def _exchanged(self, opened: _Opened, deadline: float, exchange: Callable[[Target], Awaitable[T]]) -> T:
        """Over the first address that takes a connection. Only a failed connection leads to the next one, so nothing
        is ever sent twice."""
        targets = self._targets(await opened.resolver.addresses(self._endpoint.host, deadline), opened.answering)
        for place, target in enumerate(targets, start=1):
            try:
                found = await exchange(target)
            except http.ConnectFailed:
                if place == len(targets):
                    raise
            else:
                opened.answering = target
                return found
        raise NameNotResolved(self._endpoint.host)

    def _targets(self, addresses: Sequence[str], answering: Target | None) -> list[Target]:
        """One for each address; the one that answered last comes first."""
        known = [] if answering is None or answering.address not in addresses else [answering]
        endpoint, tried = self._endpoint, known[0].address if known else None
        others = [address for address in addresses if address != tried]
        return known + [Target(endpoint.scheme, endpoint.host, endpoint.port, address) for address in others]

    async def _headers(self, request: OperationRequest[T], accept: bytes, deadline: float) -> list[tuple[bytes, bytes]]:
        headers = [(b"accept", accept), *request.call.headers]
        if request.call.body:
            headers.append((b"content-type", b"application/json"))
        if self._token is not None and not request.call.anonymous:
            headers.append((b"authorization", b"Bearer " + await self._credential(self._token, deadline)))
        return headers

    async def _credential(self, token: Token, deadline: float) -> bytes:
        if callable(token):
            answer = token()
            async with asyncio.timeout_at(deadline):
                token = await answer if isawaitable(answer) else answer
        text = token.reveal() if isinstance(token, Secret) else token
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise ValueError("the access token is not visible ASCII text")
        return text.encode()


@contextmanager
def explained() -> Iterator[None]:
    """Turns failures of the exchange into the client's own errors; the cause stays attached."""
    try:
        yield
    except TimeoutError as error:  # the HTTP client's own is one, too
        raise DeadlinePassed("the Gateway did not answer in the time given", trace_id=_trace_of(error)) from error
    except http.AnswerTooLarge as error:
        raise BrokenAnswer("the answer is larger than this client takes", status=error.status or 0) from error
    except http.HttpError as error:
        raise AnswerLost(f"the answer did not come whole: {error}", trace_id=_trace_of(error)) from error


def _trace_of(error: Exception) -> str | None:
    """An answer that was cut after its head has named its Trace."""
    return trace_in(error.headers or ()) if isinstance(error, http.HttpError) else None
