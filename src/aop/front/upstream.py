"""The Agent behind the front: one judged address, its own authentication, requests sent at most once."""

import asyncio
import ssl
from dataclasses import dataclass, field
from functools import lru_cache
from types import TracebackType

from aop.base.settings import Secret
from aop.front.faults import OK, UpstreamSilent, UpstreamUnavailable, UpstreamUnreadable, fault_of
from aop.net.http import AnswerStream, ConnectFailed, Headers, HttpClient, HttpError, StreamedAnswer, Target
from aop.net.origin import Endpoint
from aop.net.policy import AddressRefused, AllowList, NameNotResolved, Resolver, judge
from aop.net.policy.addresses import AddressClass, classify
from aop.serving.held import HeldBytes

JSON = b"application/json"
EVENTS = b"text/event-stream"
START_SECONDS = 10.0
CONNECT_SECONDS = 5.0
IDLE_SECONDS = 15.0
"""Shorter than the servers of Agents keep an idle connection, as far as known: most close it after 5 to 75 seconds."""

_OWN = ((b"content-type", JSON), (b"accept-encoding", b"identity"))


class AddressNotUsable(Exception):
    """The address of an Agent in the settings cannot be used; the text says why."""


@dataclass(slots=True)
class UpstreamRequest:
    """One request to the Agent, and the bounds of its answer."""

    body: bytes = field(repr=False)
    accept: bytes
    deadline: float
    max_body: int
    headers: Headers = field(default=(), repr=False)
    path: str | None = None
    """Below the Agent's address; None for the address itself."""


class Upstream:
    """Belongs to one loop. The address comes from the settings alone, and no redirect is followed."""

    def __init__(
        self,
        endpoint: Endpoint,
        resolver: Resolver,
        headers: tuple[tuple[bytes, Secret], ...] = (),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._resolver = resolver
        self._allowed: AllowList | None = None
        self._judged: tuple[str, ...] | None = None
        self._headers = headers
        self._client = HttpClient(idle_seconds=IDLE_SECONDS, connect_seconds=CONNECT_SECONDS, tls=tls)

    async def judge(self) -> None:
        """At the start: what the address is decides what it may be from now on. AddressNotUsable when nothing.

        A local Agent may be reached without TLS. A public one may not, and a name that was public cannot become local.
        """
        deadline = asyncio.get_running_loop().time() + START_SECONDS
        try:
            addresses = await self._resolver.addresses(self.endpoint.host, deadline)
            local = {classify(address) for address in addresses} == {AddressClass.LOCAL}
            hosts = frozenset({(self.endpoint.host, self.endpoint.port)}) if local else frozenset()
            allowed = AllowList(hosts_with_port=hosts)
            judge(self.endpoint, addresses, allowed)
        except (NameNotResolved, TimeoutError):
            raise AddressNotUsable("the name is not resolved") from None
        except (AddressRefused, ValueError) as refused:
            raise AddressNotUsable(str(refused)) from None
        self._allowed = allowed

    def answer(self, request: UpstreamRequest) -> "UpstreamAnswer":
        return UpstreamAnswer(self, request)

    async def opened(self, request: UpstreamRequest) -> tuple[AnswerStream, StreamedAnswer]:
        """At the first address that takes a connection; only a failed connection leads to the next one."""
        path = self.endpoint.path if request.path is None else self.endpoint.path.rstrip("/") + request.path
        headers = [*_OWN, (b"accept", request.accept), *request.headers, *self._secret_headers()]
        addresses = await self._addresses(request.deadline)
        for address in addresses:
            try:
                stream = self._client.stream(
                    _target(self.endpoint, address),
                    "POST",
                    path,
                    headers=headers,
                    body=request.body,
                    deadline=request.deadline,
                    max_body=request.max_body,
                )
                return stream, await stream.__aenter__()
            except ConnectFailed:
                if address == addresses[-1]:
                    raise
        raise UpstreamUnavailable("no address")

    async def json(self, request: UpstreamRequest, held: HeldBytes) -> bytes:
        """The body of a JSON answer with status 200."""
        async with self.answer(request) as answer:
            require_ok(answer)
            require_media_type(answer, JSON)
            return await whole_body(answer, held)

    async def close(self) -> None:
        await self._client.close()

    def _secret_headers(self) -> list[tuple[bytes, bytes]]:
        return [(name, value.reveal().encode("latin-1")) for name, value in self._headers]

    async def _addresses(self, deadline: float) -> tuple[str, ...]:
        """All of them, judged together each time they are used."""
        if self._allowed is None:
            raise UpstreamUnavailable("the address was not judged")
        try:
            addresses = await self._resolver.addresses(self.endpoint.host, deadline)
            if addresses != self._judged:  # the same addresses are judged alike
                judge(self.endpoint, addresses, self._allowed)
                self._judged = addresses
        except (AddressRefused, NameNotResolved) as refused:
            raise UpstreamUnavailable(type(refused).__name__) from None
        except TimeoutError:
            raise UpstreamSilent("no address in time") from None
        return addresses


class UpstreamAnswer:
    """`async with upstream.answer(request) as answer:` gives the answer with its head.

    UpstreamFault when there is none or, while it is read, when it breaks off.
    """

    __slots__ = ("_request", "_stream", "_upstream")

    def __init__(self, upstream: Upstream, request: UpstreamRequest) -> None:
        self._upstream = upstream
        self._request = request
        self._stream: AnswerStream | None = None

    async def __aenter__(self) -> StreamedAnswer:
        try:
            self._stream, answer = await self._upstream.opened(self._request)
        except HttpError as error:
            raise fault_of(error) from None
        return answer

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.leave()
        if isinstance(error, HttpError):
            raise fault_of(error) from None

    def handed_over(self) -> AnswerStream:
        """From here on the answer belongs to the caller, who leaves its scope."""
        stream, self._stream = self._stream, None
        if stream is None:
            raise RuntimeError("there is no answer to hand over")
        return stream


@lru_cache(maxsize=1024)
def _target(endpoint: Endpoint, address: str) -> Target:
    return Target(endpoint.scheme, endpoint.host, endpoint.port, address)


def require_ok(answer: StreamedAnswer) -> None:
    if answer.status != OK:
        raise UpstreamUnavailable(f"status {answer.status}")


def media_type_of(answer: StreamedAnswer) -> bytes:
    """Empty when it is not one plain media type: an encoded answer is not decoded."""
    types, codings = answer.headers_named(b"content-type"), answer.headers_named(b"content-encoding")
    if len(types) != 1 or any(coding.strip().lower() != b"identity" for coding in codings):
        return b""
    return types[0].partition(b";")[0].strip().lower()


def require_media_type(answer: StreamedAnswer, expected: bytes) -> None:
    if (found := media_type_of(answer)) != expected:
        raise UpstreamUnreadable("another media type", media_type=found or b"application/octet-stream")


async def whole_body(answer: StreamedAnswer, held: HeldBytes) -> bytes:
    if (body := answer.rest()) is not None:
        held.add(len(body))
        return body
    pieces = []
    async for piece in answer:
        held.add(len(piece))
        pieces.append(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
