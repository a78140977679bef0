"""Finds the exact Card of an Invocation: in the cache while the topology vouches for it, else at the Control Plane."""

import asyncio
import hashlib
from typing import TypeVar

import msgspec

from aop.base import json
from aop.base.recent import RecentlyUsed
from aop.base.settings import Secret
from aop.contracts.documents import document
from aop.contracts.errors import DependencyFailed, ErrorCode, Reason, Relayed, code_entries, fits
from aop.contracts.identity import InvocationContext
from aop.contracts.platform_error import PreAcceptanceError
from aop.contracts.resolution import (
    InstalledVersion,
    ResolveAgentRequest,
    ResolvedAgent,
    ResolveInstalledVersionRequest,
)
from aop.net.http import Answer, Headers, HttpError
from aop.net.peer import Peer
from aop.net.policy import NameNotResolved
from aop.router.targets.card import TargetCard, target_card
from aop.router.targets.topology import Topology

T = TypeVar("T", ResolvedAgent, InstalledVersion)
ResolveRequest = ResolveAgentRequest | ResolveInstalledVersionRequest

_PATH = "/internal/v1/"
_MAX_CARDS = 4096
_RELAYED = frozenset(
    {
        ErrorCode.NOT_FOUND,
        ErrorCode.AGENT_NOT_INSTALLED,
        ErrorCode.INSTALLATION_DISABLED,
        ErrorCode.AGENT_RELEASE_SUSPENDED,
        ErrorCode.AGENT_RELEASE_REVOKED,
        ErrorCode.AGENT_RELEASE_UNPUBLISHED,
        ErrorCode.AGENT_DISABLED,
        ErrorCode.CAPABILITY_NOT_ALLOWED,
    }
)


class CardCache(RecentlyUsed[str, TargetCard]):
    """Cards by Release; a change of the Release drops its Card. Its limits are in number and in bytes."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes, max_items=_MAX_CARDS)


class Resolution:
    def __init__(
        self, peer: Peer, token: Secret, topology: Topology, cards: CardCache, *, seconds: float, answer_limit: int
    ) -> None:
        self._peer = peer
        self._headers = (
            (b"authorization", f"Bearer {token.reveal()}".encode("ascii")),
            (b"content-type", b"application/json"),
        )
        self._topology = topology
        self._cards = cards
        self._seconds = seconds
        self._answer_limit = answer_limit

    def require_usable(self, release: str) -> None:
        """Refuses a Release whose watched state forbids to run it."""
        refusal = self._topology.refusal(release)
        if refusal is not None:
            raise Relayed(refusal, "the watched state of the Release")

    async def card(self, context: InvocationContext, trace_headers: Headers = ()) -> TargetCard:
        """The Card of this pin; `trace_headers` name the span it is asked from.

        Refusals of the Control Plane pass on as they are; all else is DEPENDENCY_ERROR.
        """
        release, digest = context.pin.release, context.pin.card_digest
        if self._topology.vouches_for(release, digest):
            cached = self._cards.find(release)
            if cached is not None and cached.digest == digest and _is_of(cached, context):
                return cached
        request = ResolveAgentRequest.of(context)
        card = _agreed(await self._ask("resolve-agent", request, ResolvedAgent, trace_headers), context)
        if self._topology.vouches_for(release, digest):
            self._cards.keep(release, card, card.kept_bytes)
        return card

    async def installed(self, request: ResolveInstalledVersionRequest, trace_headers: Headers = ()) -> InstalledVersion:
        """The enabled version for a nested call, asked every time."""
        found = await self._ask("resolve-installed-version", request, InstalledVersion, trace_headers)
        if not document("resolve-installed-version/2#response").is_valid(msgspec.to_builtins(found)):
            raise DependencyFailed("resolve: not a pin")
        return found

    async def _ask(self, name: str, request: ResolveRequest, kind: type[T], trace_headers: Headers) -> T:
        deadline = asyncio.get_running_loop().time() + self._seconds
        body = msgspec.json.encode(request)
        try:
            answer = await self._peer.post(
                _PATH + name, (*self._headers, *trace_headers), body, deadline=deadline, max_body=self._answer_limit
            )
        except (HttpError, NameNotResolved, TimeoutError) as failure:
            cause = f"resolve: {type(failure).__name__}"
            raise DependencyFailed(cause, reason=Reason.CONTROL_PLANE_UNREACHABLE) from failure
        value = _strict_json(answer)
        if answer.headers_named(b"x-platform-trace-id") != [request.trace_id.encode("ascii")]:
            raise DependencyFailed("resolve: another trace")
        if answer.status != 200:
            raise _refusal(answer, value, request.trace_id)
        try:
            return msgspec.json.decode(answer.body, type=kind)
        except msgspec.DecodeError:
            raise DependencyFailed("resolve: shape") from None


def _strict_json(answer: Answer) -> object:
    media_types = answer.headers_named(b"content-type")
    if len(media_types) != 1 or media_types[0].partition(b";")[0].strip().lower() != b"application/json":
        raise DependencyFailed("resolve: media type")
    try:
        return json.parse(answer.body, json.UNIT_DEPTH)
    except json.JsonRefused as refused:
        raise DependencyFailed(f"resolve: {refused.rule}") from None


def _refusal(answer: Answer, value: object, trace_id: str) -> Exception:
    try:
        error = msgspec.convert(value, type=PreAcceptanceError)
    except msgspec.ValidationError:
        return DependencyFailed("resolve: error shape")
    entry = code_entries()[error.code]
    as_fixed = (entry.status, entry.message) == (answer.status, error.message) and error.trace_id == trace_id
    if not as_fixed or not fits(error.code, error.reason):
        return DependencyFailed("resolve: another error")
    if error.reason is Reason.STORE_UNAVAILABLE:
        return DependencyFailed("resolve: the store of the Control Plane", reason=error.reason)
    if error.code not in _RELAYED:
        return DependencyFailed(f"resolve: {error.code}")
    return Relayed(error.code, reason=error.reason or None)


def _agreed(resolved: ResolvedAgent, context: InvocationContext) -> TargetCard:
    """The answer must be about what was asked, in every member, and the Card must bear its digest."""
    installation, document, pin = resolved.installation, bytes(resolved.card), context.pin
    if installation.pin != pin:
        raise DependencyFailed("resolve: another pin")
    if hashlib.sha256(document).hexdigest() != pin.card_digest:
        raise DependencyFailed("resolve: digest of the Card")
    try:
        card = target_card(document, pin.card_digest)
    except (ValueError, msgspec.DecodeError):
        raise DependencyFailed("resolve: not a Card that can be run") from None
    if not _is_of(card, context):
        raise DependencyFailed("resolve: another Card")
    if not card.required_permissions[context.capability] <= set(installation.accepted_permissions):
        raise DependencyFailed("resolve: permissions not covered")
    return card


def _is_of(card: TargetCard, context: InvocationContext) -> bool:
    """Whether the Card is of the Agent and version that run and has the Skill."""
    named = (card.agent_id, card.version) == (context.pin.agent, context.pin.version)
    return named and context.capability in card.skills
