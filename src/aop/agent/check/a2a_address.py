"""Asks an address what Agent is there: its agent card, and which versions of A2A it answers.

A card can be wrong about the version: an SDK of A2A 1.0 may declare 0.3 and answer 1.0 alone. So each version is asked
for a Task that does not exist, without a credential. Nothing is started by that, and anybody may ask it.
"""

import asyncio
import re
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, Self, TypeVar

import msgspec

from aop.a2a.dialect import Dialect
from aop.a2a.v1_0 import ProtoDialect
from aop.a2a.versions import A2AVersion
from aop.agent.check.a2a_card import A2ACard, NotAnAgentCard, read_agent_card
from aop.agent.check.card_draft import OpenPoint, endpoint_of
from aop.agent.guard.card import PUBLIC_CARD_PATH
from aop.base import json as strict_json
from aop.net.http import (
    Answer,
    AnswerTooLarge,
    ConnectFailed,
    Headers,
    HttpClient,
    HttpError,
    Target,
    is_untrusted,
    why_failed,
)
from aop.net.origin import Endpoint, InvalidEndpoint
from aop.net.policy import NameNotResolved, Resolver

T = TypeVar("T")

MAX_CARD_BYTES: Final = 1_048_576
SECONDS: Final = 10.0

_OLDER_PATH = "/.well-known/agent.json"
_QUERY = re.compile(r"[!-\"$-~]*", re.ASCII)
_MAX_REPLY = 65_536
_ACCEPT, _JSON_BODY = (b"accept", b"application/json"), (b"content-type", b"application/json")
_DIALECTS = {A2AVersion.V0_3: Dialect(), A2AVersion.V1_0: ProtoDialect()}
_NOT_SPOKEN = frozenset({-32601, -32009})
"""The method is unknown, or the version is."""


class AgentNotFound(Exception):
    """There is no agent card to read; the text is one line for people."""


class AgentSilent(AgentNotFound):
    """Nothing answers at the address."""


class AgentUntrusted(AgentSilent):
    """Something answers, with a certificate of an authority that the caller does not trust."""


class Reply(Enum):
    YES = auto()
    NO = auto()
    REFUSED = auto()
    """Only with a credential."""
    UNCLEAR = auto()


@dataclass(frozen=True)
class FoundAgent:
    """An Agent that answered. `checks_callers`: whether it refused a caller without a credential; None if not asked."""

    card: A2ACard
    card_url: str
    endpoint: str
    endpoint_point: OpenPoint | None
    """What its author should check about `endpoint`."""
    speaks: frozenset[A2AVersion]
    checks_callers: bool | None

    @property
    def called_in(self) -> A2AVersion | None:
        """The version to call it in: what the card declares, if the Agent answers that; of two versions the older."""
        return min(self.card.declared & self.speaks or self.speaks, default=None)


async def find_agent(
    url: str, *, endpoint: Endpoint | None = None, seconds: float = SECONDS, tls: ssl.SSLContext | None = None
) -> FoundAgent:
    """`url` is the Agent's address or that of its card; `endpoint` is where it is called, when the caller knows it.

    AgentNotFound says why there is none; InvalidEndpoint that `url` is no address. No redirect is followed.
    """
    places = _card_addresses(url)
    client = HttpClient(idle_seconds=2, connect_seconds=5, tls=tls)
    try:
        return await _AddressProbe(client, asyncio.get_running_loop().time() + seconds).agent(places, endpoint)
    finally:
        await client.close()


@dataclass(frozen=True)
class _CardAddress:
    """Where a card may be. A shared one may be that of another Agent on the same origin."""

    endpoint: Endpoint
    target: str
    shared: bool = False

    @property
    def url(self) -> str:
        return self.endpoint.origin + self.target

    @classmethod
    def at(cls, endpoint: Endpoint, path: str) -> Self:
        return cls(endpoint, path, shared=endpoint.path.rstrip("/") != "" and not path.startswith(endpoint.path))

    def fits(self, card: A2ACard) -> bool:
        path = self.endpoint.path.rstrip("/")
        return not self.shared or any(one.url.rstrip("/").endswith(path) for one in card.interfaces)


def _card_addresses(url: str) -> list[_CardAddress]:
    base, has_query, query = url.partition("?")
    endpoint = Endpoint.parse(base)
    if _QUERY.fullmatch(query) is None:
        raise InvalidEndpoint("the query holds other characters than a URL may")
    if has_query or endpoint.path.endswith(".json"):
        return [_CardAddress(endpoint, f"{endpoint.path}?{query}" if has_query else endpoint.path)]
    prefixes = dict.fromkeys((endpoint.path.rstrip("/"), ""))
    return [_CardAddress.at(endpoint, prefix + path) for path in (PUBLIC_CARD_PATH, _OLDER_PATH) for prefix in prefixes]


class _AddressProbe:
    """The requests to one Agent, all before one deadline."""

    def __init__(self, client: HttpClient, deadline: float) -> None:
        self._client = client
        self._deadline = deadline
        self._resolver = Resolver()

    async def agent(self, places: list[_CardAddress], endpoint: Endpoint | None) -> FoundAgent:
        problems = []
        for place in places:
            try:
                card = await self._card(place)
            except AgentSilent:
                raise
            except AgentNotFound as problem:
                problems.append(str(problem))
                continue
            return await self._described(card, place, endpoint)
        raise AgentNotFound(problems[0])

    async def _described(self, card: A2ACard, place: _CardAddress, endpoint: Endpoint | None) -> FoundAgent:
        called, point = (endpoint.canonical, None) if endpoint is not None else endpoint_of(card, place.endpoint)
        address = Endpoint.parse(called)
        # Another host is named by the card alone. The caller did not ask for a request there.
        can_ask = address.origin == place.endpoint.origin
        replies = {version: await self._reply(address, version) if can_ask else Reply.UNCLEAR for version in A2AVersion}
        spoken = {version for version, reply in replies.items() if reply is Reply.YES}
        declared = {one for one in card.declared if replies[one] in {Reply.REFUSED, Reply.UNCLEAR}}
        refused, clear = Reply.REFUSED in replies.values(), set(replies.values()) != {Reply.UNCLEAR}
        checks_callers = refused if clear else None
        return FoundAgent(card, place.url, called, point, frozenset(spoken | declared), checks_callers)

    async def _card(self, place: _CardAddress) -> A2ACard:
        answer = await self._request(place.endpoint, "GET", place.target, MAX_CARD_BYTES)
        if 300 <= answer.status < 400:
            raise AgentNotFound(f"{place.url} redirects, which is not followed; name the address itself")
        if answer.status != 200:
            raise AgentNotFound(f"{place.url} answers with status {answer.status}")
        try:
            card = read_agent_card(strict_json.parse(answer.body))
        except (strict_json.JsonRefused, NotAnAgentCard):
            raise AgentNotFound(f"{place.url} is not an A2A agent card") from None
        if not place.fits(card):
            raise AgentNotFound(f"{place.url} is the card of another Agent")
        return card

    async def _reply(self, endpoint: Endpoint, version: A2AVersion) -> Reply:
        dialect = _DIALECTS[version]
        headers, question = (_JSON_BODY, *dialect.headers), dialect.get_task("1", "no-such-task")
        try:
            answer = await self._request(endpoint, "POST", endpoint.path, _MAX_REPLY, headers, question)
        except AgentNotFound:
            return Reply.UNCLEAR
        if answer.status in {401, 403}:
            return Reply.REFUSED
        return _meaning(answer.body)

    async def _request(
        self,
        endpoint: Endpoint,
        method: str,
        target: str,
        max_body: int,
        headers: Headers = (),
        body: bytes = b"",
    ) -> Answer:
        async def exchange(address: str) -> Answer:
            return await self._client.request(
                Target(endpoint.scheme, endpoint.host, endpoint.port, address),
                method,
                target,
                headers=(_ACCEPT, *headers),
                body=body,
                deadline=self._deadline,
                max_body=max_body,
            )

        try:
            return await self._connected(endpoint.host, exchange)
        except NameNotResolved:
            raise AgentSilent(f"the name {endpoint.host} is not resolved") from None
        except ConnectFailed as failed:
            raise _silent(endpoint, failed) from None
        except TimeoutError:
            raise AgentSilent(f"{endpoint.origin} does not answer in time") from None
        except AnswerTooLarge:
            raise AgentNotFound(f"{endpoint.origin}{target} answers with more than {max_body:,} bytes") from None
        except HttpError as error:
            raise AgentNotFound(f"{endpoint.origin}{target} gives no answer ({error})") from None

    async def _connected(self, host: str, exchange: Callable[[str], Awaitable[T]]) -> T:
        """Over the first address that takes a connection; only a failed connection leads to the next one."""
        *first, last = await self._resolver.addresses(host, self._deadline)
        for address in first:
            try:
                return await exchange(address)
            except ConnectFailed:
                continue
        return await exchange(last)


def _silent(endpoint: Endpoint, failed: ConnectFailed) -> AgentSilent:
    if is_untrusted(failed):
        return AgentUntrusted(f"no connection to {endpoint.origin}: {why_failed(failed)}")
    if isinstance(failed.__cause__, ConnectionRefusedError):
        return AgentSilent(f"nothing answers at {endpoint.origin}")
    what = "no connection to" if failed.phase == "tls" else "nothing answers at"
    return AgentSilent(f"{what} {endpoint.origin} ({why_failed(failed)})")


def _meaning(body: bytes) -> Reply:
    try:
        reply = msgspec.json.decode(body, type=dict[str, Any])
    except strict_json.NOT_READ:
        return Reply.UNCLEAR
    error = reply.get("error")
    if isinstance(error, dict) and isinstance(error.get("code"), int):
        return Reply.NO if error["code"] in _NOT_SPOKEN else Reply.YES
    return Reply.YES if "result" in reply else Reply.UNCLEAR
