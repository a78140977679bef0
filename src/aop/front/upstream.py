"""The Agent behind the front: one judged address, its own authentication, requests sent at most once."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Final

import msgspec

from aop.a2a.dialect import AgentResponse
from aop.base.recent import RecentlyUsed
from aop.base.settings import Secret
from aop.front.faults import OK, UpstreamSilent, UpstreamUnavailable, UpstreamUnreadable, fault_of
from aop.net.http import (
    ConnectFailed,
    Headers,
    HttpClient,
    HttpError,
    StreamedAnswer,
    Target,
    request_head,
    with_body,
    with_headers,
)
from aop.net.origin import Endpoint
from aop.net.policy import AddressRefused, AllowList, NameNotResolved, Resolver, judge
from aop.net.policy.addresses import AddressClass, classify
from aop.serving.unit.held import HeldBytes

JSON = b"application/json"
EVENTS = b"text/event-stream"
START_SECONDS = 10.0
CONNECT_SECONDS = 5.0
IDLE_SECONDS = 2.0
"""As the Router keeps its own. A request that meets the close of an idle connection is lost, and the servers of Agents
close one after 5 seconds or more, those of Python and Node by default."""

_OWN = ((b"content-type", JSON), (b"accept-encoding", b"identity"))
_CONTENT_TYPE: Final = b"content-type"
_MAX_HEADS: Final = 256
"""Addresses of a name change; Skills of a service have a path each."""
_HeadKey = tuple[str, bytes, str | None]


class AddressNotUsable(Exception):
    """The address of an Agent in the settings cannot be used; the text says why."""


class UpstreamRequest(msgspec.Struct, gc=False):
    """One request to the Agent, and the bounds of its answer."""

    body: bytes
    accept: bytes
    deadline: float
    max_body: int
    headers: Headers = ()
    """Those of this request alone."""
    path: str | None = None
    """Below the Agent's address; None for the address itself."""

    def __repr__(self) -> str:
        return "UpstreamRequest()"


class Upstream:
    """Belongs to one loop. The address comes from the settings alone, and no redirect is followed.

    `headers` go with every request; `secrets` do too, and are shown nowhere.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        resolver: Resolver,
        secrets: tuple[tuple[bytes, Secret], ...] = (),
        tls: ssl.SSLContext | None = None,
        headers: Headers = (),
    ) -> None:
        self.endpoint = endpoint
        self._resolver = resolver
        self._allowed: AllowList | None = None
        self._judged: tuple[str, ...] | None = None
        self._secrets = secrets
        self._headers = headers
        self._heads: RecentlyUsed[_HeadKey, tuple[Target, bytes]] = RecentlyUsed(max_items=_MAX_HEADS)
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

    async def open(self, request: UpstreamRequest) -> StreamedAnswer:
        """The answer with its head, from the first address that takes a connection; UpstreamFault when there is none.

        Only a failed connection leads to the next address. The caller leaves the answer.
        """
        addresses = self._resolver.ready(self.endpoint.host)
        if addresses is None or addresses != self._judged:
            addresses = await self._addresses(request.deadline)
        for address in addresses:
            key = address, request.accept, request.path
            target, head = self._heads.find(key) or self._make_head(key)
            if request.headers:
                head = with_headers(head, request.headers)
            text = with_body(head, request.body)
            try:
                return await self._client.open(target, "POST", text, request.deadline, request.max_body)
            except HttpError as error:
                if not isinstance(error, ConnectFailed) or address == addresses[-1]:
                    raise fault_of(error) from None
        raise UpstreamUnavailable("no address")

    async def json(
        self, request: UpstreamRequest, held: HeldBytes, read: Callable[[bytes], AgentResponse]
    ) -> AgentResponse:
        """What is read in a JSON answer with status 200."""
        answer = await self.open(request)
        try:
            require_ok(answer)
            require_media_type(answer, JSON)
            seen = read(await whole_body(answer, held))
            close_after(seen, answer)
            return seen
        finally:
            answer.leave()

    async def close(self) -> None:
        await self._client.close()

    def _make_head(self, key: _HeadKey) -> tuple[Target, bytes]:
        """Where to, and the lines that every request there begins with."""
        endpoint, (address, accept, path) = self.endpoint, key
        target = Target(endpoint.scheme, endpoint.host, endpoint.port, address)
        below = endpoint.path if path is None else endpoint.path.rstrip("/") + path
        secrets = [(name, value.reveal().encode("latin-1")) for name, value in self._secrets]
        headers = (*_OWN, (b"accept", accept), *self._headers, *secrets)
        made = target, request_head(target, "POST", below, headers)
        self._heads.keep(key, made)
        return made

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


def close_after(seen: AgentResponse, answer: StreamedAnswer) -> bool:
    """Whether the connection is closed, because this is no response to the request: it may be the first of two answers,
    and the second one would meet the next request."""
    is_none = seen.result is None and not seen.refuses
    if is_none:
        answer.close()
    return is_none


def require_ok(answer: StreamedAnswer) -> None:
    if answer.status != OK:
        raise UpstreamUnavailable(f"status {answer.status}")


def media_type_of(answer: StreamedAnswer) -> bytes:
    """Empty when it is not one plain media type: an encoded answer is not decoded."""
    found, count = b"", 0
    for name, value in answer.headers:
        if name == _CONTENT_TYPE:
            found, count = value, count + 1
        elif name == b"content-encoding" and value.strip().lower() != b"identity":
            return b""
    if found == JSON and count == 1:  # as most write it
        return JSON
    return found.partition(b";")[0].strip().lower() if count == 1 else b""


def require_media_type(answer: StreamedAnswer, expected: bytes) -> None:
    if (found := media_type_of(answer)) != expected:
        raise UpstreamUnreadable("another media type", media_type=found or b"application/octet-stream")


async def whole_body(answer: StreamedAnswer, held: HeldBytes) -> bytes:
    """UpstreamFault when it breaks off."""
    if (body := answer.rest()) is not None:
        held.add(len(body))
        return body
    pieces = []
    try:
        async for piece in answer:
            held.add(len(piece))
            pieces.append(piece)
    except HttpError as error:
        raise fault_of(error) from None
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
