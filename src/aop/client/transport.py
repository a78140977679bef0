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
from aop.client.authorities import unreachable
from aop.client.errors import AnswerLost, BrokenAnswer, DeadlinePassed, TokenNeeded, Unreachable
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
_AUTHORIZATION: Final = b"authorization"


@dataclass
class _LoopClient:
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
        self._open_client: _LoopClient | None = None
        self._closed = False

    def open(self) -> _LoopClient:
        loop = asyncio.get_running_loop()
        if self._closed:
            raise RuntimeError("this client is closed")
        if self._open_client is None:
            client = HttpClient(idle_seconds=_IDLE_SECONDS, connect_seconds=_CONNECT_SECONDS, tls=self._tls)
            self._open_client = _LoopClient(loop, client)
        if self._open_client.loop is not loop:
            raise RuntimeError("this client belongs to another event loop; make one client per loop")
        return self._open_client

    async def close(self) -> None:
        self._closed = True
        opened, self._open_client = self._open_client, None
        if opened is not None:
            await opened.client.close()


class Transport:
    """The way to one Gateway for the bearer of one token; several may share their connections."""

    def __init__(self, endpoint: Endpoint, token: Token | None, tls: ssl.SSLContext | None, max_answer: int) -> None:
        self.max_answer = max_answer
        self._endpoint = endpoint
        self._prefix = endpoint.path.rstrip("/")
        self.gateway = endpoint.origin + self._prefix
        self._token = Secret(token) if isinstance(token, str) else token
        self._connections = _Connections(tls)

    def bearing(self, token: Token) -> "Transport":
        """The same way, over the same connections, with another token."""
        other = copy.copy(self)
        other._token = Secret(token) if isinstance(token, str) else token  # noqa: SLF001  (its own copy)
        return other

    async def send(self, request: OperationRequest[T], seconds: float) -> T:
        deadline = asyncio.get_running_loop().time() + seconds
        with self.explained(seconds):
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
        return read(answer, request, self.gateway)

    async def stream(self, request: OperationRequest[T], seconds: float, scope: AsyncExitStack) -> StreamedAnswer:
        """The head of a streamed answer, whose connection belongs to the scope."""
        deadline = asyncio.get_running_loop().time() + seconds
        with self.explained(seconds):
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

    @contextmanager
    def explained(self, seconds: float) -> Iterator[None]:
        """Turns failures of the exchange into the client's own errors; the cause stays attached."""
        try:
            yield
        except TimeoutError as error:  # the HTTP client's own is one, too
            text = f"{self.gateway} did not answer within {seconds:g} s"
            raise DeadlinePassed(text, trace_id=_trace_of(error)) from error
        except http.AnswerTooLarge as error:
            text = f"the answer of {self.gateway} is larger than this client takes"
            raise BrokenAnswer(text, status=error.status or 0) from error
        except http.HttpError as error:
            text = f"the answer of {self.gateway} did not come whole: {error}"
            raise AnswerLost(text, trace_id=_trace_of(error)) from error

    async def _connected(self, opened: _LoopClient, deadline: float, exchange: Callable[[Target], Awaitable[T]]) -> T:
        try:
            return await self._exchanged(opened, deadline, exchange)
        except NameNotResolved as error:
            raise Unreachable(f"the name in {self.gateway} is not resolved") from error
        except http.ConnectFailed as error:
            raise unreachable(self.gateway, error) from error

    async def _exchanged(self, opened: _LoopClient, deadline: float, exchange: Callable[[Target], Awaitable[T]]) -> T:
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
        if not request.call.anonymous and not any(name == _AUTHORIZATION for name, _ in headers):
            headers.append((_AUTHORIZATION, b"Bearer " + await self._credential(self._token, deadline)))
        return headers

    async def _credential(self, token: Token | None, deadline: float) -> bytes:
        if token is None:
            raise TokenNeeded("this client was made without an access token, and this call needs one")
        if callable(token):
            answer = token()
            async with asyncio.timeout_at(deadline):
                token = await answer if isawaitable(answer) else answer
        text = token.reveal() if isinstance(token, Secret) else token
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise TokenNeeded("the access token is not visible ASCII text")
        return text.encode()


def _trace_of(error: Exception) -> str | None:
    """An answer that was cut after its head has named its Trace."""
    return trace_in(error.headers or ()) if isinstance(error, http.HttpError) else None
