"""For Agent authors' own tests: signs requests as a Router would, with a key that belongs to no deployment."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import msgspec

from aop.agent.guard import settings
from aop.base.canonical import to_base64url
from aop.base.clock import Clock, utc_now
from aop.base.ids import new_id, new_trace_id
from aop.contracts.credential import CONTEXT_HEADERS, CREDENTIAL_TYP
from aop.contracts.delegation import DELEGATION_HEADER, DELEGATION_TYP
from aop.contracts.signing import MacKey, SigningKey

TTL_SECONDS = 60
_ALLOWANCE_SECONDS = 5


@dataclass(frozen=True)
class SignedRequest:
    """What to send: header lines and the exact body."""

    headers: list[tuple[bytes, bytes]] = field(repr=False)
    body: bytes


@dataclass
class Draft:
    """A request about to be signed; every part may be changed first, which is how attacks are made."""

    header: dict[str, Any]
    claims: dict[str, Any]
    body: bytes
    key: SigningKey = field(repr=False)
    accept: str = "application/json"
    delegation: str | None = field(default=None, repr=False)

    def token(self) -> str:
        return sealed(self.header, self.claims, self.key)

    def context(self) -> list[tuple[bytes, bytes]]:
        pairs = ((name, self.claims.get(claim)) for name, claim in CONTEXT_HEADERS.items())
        return [(name.encode(), str(value).encode()) for name, value in pairs if value is not None]

    def signed(self) -> SignedRequest:
        return self.presenting([f"Bearer {self.token()}"], self.context())

    def presenting(
        self, authorization: list[str], context: list[tuple[bytes, bytes]], body: bytes | None = None
    ) -> SignedRequest:
        headers = [(b"authorization", value.encode()) for value in authorization]
        headers += [(b"content-type", b"application/json"), (b"accept", self.accept.encode()), *context]
        if self.delegation is not None:
            headers.append((DELEGATION_HEADER.encode(), self.delegation.encode()))
        return SignedRequest(headers, self.body if body is None else body)


@dataclass(frozen=True)
class SignedRouter:
    """A stand-in for the Router: its identity, its key, and the Agent it addresses.

    In a test of your own Agent:

        router = SignedRouter.new("http://127.0.0.1:8099")
        app = guarded(my_app, AgentSettings.from_environment(router.environment(tmp_path)))
        request = router.request({"jsonrpc": "2.0", …}, capability="draft")
    """

    audience: str
    key: SigningKey = field(repr=False)
    issuer: str = "http://127.0.0.1:8081"
    key_id: str = "router-1"
    agent_id: str = "agent-under-test"
    agent_version: str = "1.0.0"
    clock: Clock = utc_now

    @classmethod
    def new(cls, audience: str, seed: bytes | None = None, **members: Any) -> Self:
        """With a key of its own, from 32 bytes or fresh."""
        return cls(audience, SigningKey.generate() if seed is None else SigningKey.of_seed(seed), **members)

    def environment(self, challenge_directory: Path, **more: str) -> dict[str, str]:
        """The settings with which an Agent believes this Router."""
        return {
            settings.ISSUER: self.issuer,
            settings.AUDIENCE: self.audience,
            settings.KEY_ID: self.key_id,
            settings.PUBLIC_KEY: self.key.public_text,
            settings.CHALLENGE_DIRECTORY: str(challenge_directory),
            **more,
        }

    def request(
        self, body: object, *, capability: str = "capability", stream: bool = False, parent: str | None = None
    ) -> SignedRequest:
        draft = self.draft(body, capability=capability, parent=parent)
        draft.accept = "text/event-stream" if stream else "application/json"
        return draft.signed()

    def draft(self, body: object, *, capability: str = "capability", parent: str | None = None) -> Draft:
        """`body` is sent as it is when it is bytes, as JSON otherwise."""
        content = body if isinstance(body, bytes) else msgspec.json.encode(body)
        issued = int(self.clock().timestamp()) - _ALLOWANCE_SECONDS
        claims: dict[str, Any] = {
            "iss": self.issuer,
            "aud": [self.audience],
            "iat": issued,
            "exp": issued + _ALLOWANCE_SECONDS + TTL_SECONDS,
            "jti": new_id("jti"),
            "workspaceId": "workspace-under-test",
            "agentId": self.agent_id,
            "agentVersion": self.agent_version,
            "releaseId": new_id("rel"),
            "cardDigest": hashlib.sha256(self.agent_id.encode()).hexdigest(),
            "capability": capability,
            "invocationId": new_id("inv"),
            "rootTaskId": new_id("task"),
            "traceId": new_trace_id(),
            "bodySha256": hashlib.sha256(content).hexdigest(),
        }
        if parent is not None:
            claims["parentInvocationId"] = parent
        header = {"alg": "EdDSA", "typ": CREDENTIAL_TYP, "kid": self.key_id}
        return Draft(header, claims, content, self.key, delegation=self.delegation(claims))

    def delegation(self, claims: Mapping[str, Any]) -> str:
        """The right to make child calls of that invocation, as the Router would send it along."""
        same = ("workspaceId", "agentId", "releaseId", "invocationId", "rootTaskId", "traceId")
        times = {"iat": claims["iat"], "exp": claims["exp"], "depth": 0}
        body = {"iss": self.issuer, "aud": [self.issuer], **times, **{name: claims[name] for name in same}}
        return sealed({"alg": "HS256", "typ": DELEGATION_TYP, "kid": self.key_id}, body, self.key.delegation_key())


def sealed(header: Mapping[str, Any] | bytes, claims: Mapping[str, Any] | bytes, key: SigningKey | MacKey) -> str:
    """A compact JWS over exactly these texts."""
    texts = (part if isinstance(part, bytes) else msgspec.json.encode(part) for part in (header, claims))
    payload = ".".join(map(to_base64url, texts))
    seal = key.tag if isinstance(key, MacKey) else key.sign
    return f"{payload}.{to_base64url(seal(payload.encode()))}"
