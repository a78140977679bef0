"""Requests that no Agent may accept: every check of the credential failing alone, each with the status it must get."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from aop.agent.testing import Draft, SignedRequest, sealed
from aop.base.canonical import to_base64url
from aop.contracts.credential import CONTEXT_HEADERS
from aop.contracts.signing import SigningKey

Make = Callable[[Draft], SignedRequest]


@dataclass(frozen=True)
class Attack:
    """`make` turns the draft of a good request of a child invocation into the hostile one."""

    name: str
    status: int
    make: Make


def attacks() -> Iterator[Attack]:
    yield from _authorization()
    yield from _form()
    yield from _headers_and_signature()
    yield from _claims()
    yield from _formats()
    yield from _context()
    yield Attack("other issuer", 401, _claiming(iss="https://router.invalid"))
    yield Attack("other audience", 403, _claiming(aud=["https://agent.invalid"]))
    yield Attack("other body", 403, lambda draft: _bearing(draft, draft.token(), draft.body + b" "))
    yield Attack("no body", 403, lambda draft: _bearing(draft, draft.token(), b""))


def _authorization() -> Iterator[Attack]:
    lines: dict[str, Callable[[str], list[str]]] = {
        "no credential": lambda _: [],
        "two credentials": lambda token: [f"Bearer {token}"] * 2,
        "empty credential": lambda _: ["Bearer"],
        "other scheme": lambda token: [f"Basic {token}"],
        "two tokens behind a comma": lambda token: [f"Bearer {token},{token}"],
        "token and more": lambda token: [f"Bearer {token} x"],
    }
    for name, values in lines.items():
        yield Attack(name, 401, _authorized(values))
    yield Attack("a delegation as credential", 401, lambda draft: _bearing(draft, draft.delegation or ""))


def _form() -> Iterator[Attack]:
    forms: dict[str, Callable[[str, str, str], str]] = {
        "two segments": lambda head, body, _: f"{head}.{body}",
        "four segments": lambda head, body, end: f"{head}.{body}.{end}.{end}",
        "padded signature": lambda head, body, end: f"{head}.{body}.{end}==",
        "padded claims": lambda head, body, end: f"{head}.{body}{'=' * (-len(body) % 4 or 4)}.{end}",
        "short signature": lambda head, body, _: f"{head}.{body}.{to_base64url(bytes(63))}",
        "empty signature": lambda head, body, _: f"{head}.{body}.",
        "forged: zero signature": lambda head, body, _: f"{head}.{body}.{to_base64url(bytes(64))}",
    }
    for name, form in forms.items():
        yield Attack(name, 401, _formed(form))


def _headers_and_signature() -> Iterator[Attack]:
    changes: dict[str, dict[str, Any]] = {
        "alg none": {"alg": "none"},
        "alg HS256": {"alg": "HS256"},
        "typ JWT": {"typ": "JWT"},
        "typ of a delegation": {"typ": "platform-delegation+jwt"},
        "other kid": {"kid": "router-of-nobody"},
        "further header member": {"crit": ["exp"]},
    }
    for name, change in changes.items():
        yield Attack(name, 401, _headed(change))
    stranger = SigningKey.of_seed(hashlib.sha256(b"a key no Agent believes").digest())
    yield Attack("forged with another key", 401, lambda d: _bearing(d, sealed(d.header, d.claims, stranger)))
    yield Attack("repeated header member", 401, lambda d: _sealed(d, header=_repeated(d.header, "kid")))


def _claims() -> Iterator[Attack]:
    for name in ("jti", "exp", "aud", "workspaceId", "bodySha256", "traceId"):
        yield Attack(f"claim missing: {name}", 401, _not_claiming(name))
    for name in ("jti", "exp", "agentId"):
        yield Attack(f"claim repeated: {name}", 401, _claiming_twice(name))
    yield Attack("unknown claim: sub", 401, _claiming(sub="nobody"))
    yield Attack("unknown claim: nbf", 401, _claiming(nbf=0))
    yield Attack("fractional exp", 401, lambda d: _sealed(d, claims=d.claims | {"exp": d.claims["exp"] + 0.5}))
    yield Attack("integral fraction as iat", 401, lambda d: _sealed(d, claims=_spelled(d.claims, "iat", b".0")))
    yield Attack("audience as text", 401, lambda d: _sealed(d, claims=d.claims | {"aud": d.claims["aud"][0]}))


def _formats() -> Iterator[Attack]:
    times: dict[str, tuple[int, int]] = {
        "expired": (-120, -60),
        "future": (60, 120),
        "301 s from iat to exp": (0, 301),
        "exp equal to iat": (0, 0),
    }
    for name, (issued, expires) in times.items():
        yield Attack(name, 401, _timed(issued, expires))
    yield Attack("empty parent claim", 401, _claiming(parentInvocationId=""))
    yield Attack("two audiences", 401, lambda d: _sealed(d, claims=d.claims | {"aud": d.claims["aud"] * 2}))
    yield Attack("malformed version", 401, _claiming(agentVersion="1.0"))
    yield Attack("malformed digest", 401, _claiming(cardDigest="A" * 64))


def _context() -> Iterator[Attack]:
    for header in CONTEXT_HEADERS:
        name = header.encode()
        yield Attack(f"{header} missing", 403, _sending(name))
        yield Attack(f"{header} different", 403, _sending(name, b"other"))
        yield Attack(f"{header} twice", 403, _sending_twice(name))
    yield Attack("parent header without claim", 403, _unclaimed_parent)


def _unclaimed_parent(draft: Draft) -> SignedRequest:
    lines = draft.context()
    token = sealed(draft.header, _without(draft, "parentInvocationId"), draft.key)
    return draft.presenting([f"Bearer {token}"], lines)


def _bearing(draft: Draft, token: str, body: bytes | None = None) -> SignedRequest:
    return draft.presenting([f"Bearer {token}"], draft.context(), body)


def _sealed(draft: Draft, header: Any = None, claims: Any = None) -> SignedRequest:
    return _bearing(draft, sealed(header or draft.header, claims or draft.claims, draft.key))


def _claiming(**claims: Any) -> Make:
    return lambda draft: _sealed(draft, claims=draft.claims | claims)


def _authorized(values: Callable[[str], list[str]]) -> Make:
    return lambda draft: draft.presenting(values(draft.token()), draft.context())


def _formed(form: Callable[[str, str, str], str]) -> Make:
    return lambda draft: _bearing(draft, form(*draft.token().split(".")))


def _headed(change: dict[str, Any]) -> Make:
    return lambda draft: _sealed(draft, header=draft.header | change)


def _not_claiming(name: str) -> Make:
    return lambda draft: _sealed(draft, claims=_without(draft, name))


def _claiming_twice(name: str) -> Make:
    return lambda draft: _sealed(draft, claims=_repeated(draft.claims, name))


def _timed(issued: int, expires: int) -> Make:
    def make(draft: Draft) -> SignedRequest:
        start = draft.claims["iat"]
        return _sealed(draft, claims=draft.claims | {"iat": start + issued, "exp": start + expires})

    return make


def _sending(name: bytes, *values: bytes) -> Make:
    """The context headers with these values of one of them."""

    def make(draft: Draft) -> SignedRequest:
        kept = [line for line in draft.context() if line[0] != name]
        return draft.presenting([f"Bearer {draft.token()}"], [*kept, *((name, value) for value in values)])

    return make


def _sending_twice(name: bytes) -> Make:
    return lambda draft: _sending(name, *[value for line, value in draft.context() if line == name] * 2)(draft)


def _without(draft: Draft, name: str) -> dict[str, Any]:
    return {claim: value for claim, value in draft.claims.items() if claim != name}


def _repeated(members: dict[str, Any], name: str) -> bytes:
    return msgspec.json.encode(members)[:-1] + b',"%b":%b}' % (name.encode(), msgspec.json.encode(members[name]))


def _spelled(members: dict[str, Any], name: str, more: bytes) -> bytes:
    value = msgspec.json.encode({name: members[name]})[1:-1]
    return msgspec.json.encode(members).replace(value, value + more)
