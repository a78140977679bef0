"""The guard: plain ASGI middleware that lets only authentic Router requests reach an Agent, whatever its framework."""

import asyncio
from collections.abc import Sequence, Set
from contextvars import ContextVar
from typing import Final

import msgspec

from aop.agent.call.calls import NestedCalls
from aop.agent.guard.card import PUBLIC_CARD_PATH
from aop.agent.guard.context import AgentContext
from aop.agent.guard.proofs import PROOF_PREFIX, Proofs, proof_at
from aop.agent.guard.verifier import Rejected, Verifier
from aop.contracts.credential import CredentialClaims
from aop.contracts.delegation import DELEGATION_HEADER
from aop.net.asgi import ASGIApp, Message, Receive, Scope, Send
from aop.net.headers import TRACEPARENT, HeaderMap
from aop.net.own_server import OWN_SERVER, own_server

HeaderLine = tuple[bytes, bytes]

SCOPE_KEY: Final = "aop.context"
OPEN_PATHS: Final = frozenset({PUBLIC_CARD_PATH, "/livez", "/readyz"})
DEFAULT_MAX_BODY: Final = 2_097_152
BODY_SECONDS: Final = 30.0
JSON: Final[HeaderLine] = (b"content-type", b"application/json")
NO_STORE: Final[HeaderLine] = (b"cache-control", b"no-store")

_READS = frozenset({"GET", "HEAD"})
_TEXT: Final[tuple[HeaderLine, ...]] = ((b"content-type", b"text/plain"), NO_STORE)
_DELEGATION = DELEGATION_HEADER.encode()
_SPENT = frozenset({b"authorization", _DELEGATION})
REJECTIONS = {
    401: b'{"code":"UNAUTHENTICATED","message":"A valid credential is required."}',
    403: b'{"code":"FORBIDDEN","message":"This identity or context may not do that."}',
}

_current: ContextVar[AgentContext] = ContextVar("aop.agent.current")


def current() -> AgentContext:
    """The context of the request being served; LookupError outside of one."""
    return _current.get()


class Verified(msgspec.Struct, frozen=True):
    """A request that the Router made: what it claims, its lines and its body."""

    claims: CredentialClaims
    sent: HeaderMap
    body: bytes

    def __repr__(self) -> str:
        return "Verified()"


class Guard:
    """Serves the proof page, leaves the open paths alone, and verifies every other request before the Agent sees it.

    The Agent gets the request without its credential and delegation, which are of no use to it: what they say is in
    the `AgentContext`, under `scope["aop.context"]` and from `aop.agent.current()`.
    """

    def __init__(
        self,
        app: ASGIApp,
        verifier: Verifier,
        calls: NestedCalls,
        proofs: Proofs,
        *,
        max_body: int = DEFAULT_MAX_BODY,
        body_seconds: float = BODY_SECONDS,
        open_paths: Set[str] = OPEN_PATHS,
    ) -> None:
        self._app = app
        self._verifier = verifier
        self._calls = calls
        self._proofs = proofs
        self._max_body = max_body
        self._body_seconds = body_seconds
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            try:
                await self._app(scope, receive, send)
            finally:
                await self._calls.close()
        elif scope["type"] != "http":
            # No other protocol carries a credential; a refused handshake is answered 403 by the server.
            await send({"type": "websocket.close", "code": 1008})
        elif scope["method"] in _READS and scope["path"].startswith(PROOF_PREFIX):
            await self._serve_proof(scope, send)
        elif scope["method"] in _READS and scope["path"] in self._open_paths:
            await self._app(scope, receive, send)
        else:
            await self._serve_verified(scope, receive, send)

    async def verified(self, scope: Scope, receive: Receive, send: Send) -> Verified | None:
        """For a program that answers by itself; None when the request was refused here, or its peer has left."""
        sent = HeaderMap(list(scope["headers"]))
        try:
            claims = self._verifier.check_headers(sent)
            # Our own server has it in one piece as a rule; a time limit for that would cost more than reading it.
            body = own_server(scope).whole_body() if OWN_SERVER in scope else None
            body = await self._read_body(sent, receive) if body is None else self._bounded(body)
            if body is None:
                return None
            self._verifier.admit(claims, body)
        except Rejected as rejected:
            await reject(rejected.status, send)
            return None
        return Verified(claims, sent, body)

    async def _serve_verified(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = await self.verified(scope, receive, send)
        if found is None:
            return
        delegation, traceparent = found.sent.single(_DELEGATION), found.sent.single(TRACEPARENT)
        context = AgentContext.of(found.claims, delegation, self._calls, traceparent)
        headers = [line for line in found.sent.lines if line[0] not in _SPENT]
        token = _current.set(context)
        try:
            await self._app({**scope, "headers": headers, SCOPE_KEY: context}, replayed(found.body, receive), send)
        finally:
            _current.reset(token)

    def _bounded(self, body: bytes) -> bytes:
        if len(body) > self._max_body:
            raise Rejected(403, 10)
        return body

    async def _read_body(self, sent: HeaderMap, receive: Receive) -> bytes | None:
        """The whole body, None when the peer left; too long or too late is Rejected like a wrong digest."""
        for name, value in sent.lines:
            if name == b"content-length" and (not value.isdigit() or int(value[:20]) > self._max_body):
                raise Rejected(403, 10)
        pieces, size, more = [], 0, True
        try:
            async with asyncio.timeout(self._body_seconds):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    pieces.append(message.get("body", b""))
                    size += len(pieces[-1])
                    if size > self._max_body:
                        raise Rejected(403, 10)
                    more = message.get("more_body", False)
        except TimeoutError:
            raise Rejected(403, 10) from None
        return b"".join(pieces)

    async def _serve_proof(self, scope: Scope, send: Send) -> None:
        proof = await proof_at(self._proofs, scope["path"])
        status, content = (404, b"") if proof is None else (200, proof)
        await respond(send, status, _TEXT, content, head_only=scope["method"] == "HEAD")


def replayed(body: bytes, receive: Receive) -> Receive:
    """The body in one piece, then whatever the server reports: in practice the peer's departure."""
    delivered = False

    async def replay() -> Message:
        nonlocal delivered
        if delivered:
            return await receive()
        delivered = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def reject(status: int, send: Send) -> None:
    headers = [JSON, NO_STORE, (b"www-authenticate", b"Bearer")] if status == 401 else [JSON, NO_STORE]
    await respond(send, status, headers, REJECTIONS[status])


async def respond(
    send: Send, status: int, headers: Sequence[HeaderLine], body: bytes, *, head_only: bool = False
) -> None:
    lines = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": b"" if head_only else body})
