"""Writes contracts/vectors/credential.json: requests to an Agent, each check of contract 12.3 failing alone."""

import json
import sys
from collections.abc import Iterator

from aop.base.canonical import from_base64url, to_base64url
from aop.contracts.credential import CONTEXT_HEADERS
from tools.vector_claims import AUDIENCE, BODY, CHILD, HEADER, ISSUER, NOW, ROOT, Members
from tools.vector_tokens import Case, bearer, case, described, forged, repeated, signed, text, without, write

_GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
"""Of Ed25519: RFC 8032 section 5.1."""
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def context_headers(claims: Members) -> Members:
    return {header: claims[claim] for header, claim in CONTEXT_HEADERS.items() if claim in claims}


def _respelled(name: str, value: str) -> str:
    """The claims with this text as the value of one of them."""
    return text(ROOT).replace(f'"{name}":{json.dumps(ROOT[name])}', f'"{name}":{value}')


def _beyond_order(signature: str) -> str:
    """The same signature with the order of the group added to its scalar: loose verifiers accept both."""
    raw = from_base64url(signature)
    scalar = int.from_bytes(raw[32:], "little") + _GROUP_ORDER
    return to_base64url(raw[:32] + scalar.to_bytes(32, "little"))


def _good() -> Iterator[Case]:
    good = signed(HEADER, ROOT)
    yield bearer("good root", None, good)
    yield bearer("good child", None, signed(HEADER, CHILD), context="child")
    shuffled = {name: HEADER[name] for name in ("kid", "typ", "alg")}
    yield bearer("header members in another order", None, signed(shuffled, ROOT))
    yield bearer("now equal to iat", None, good, now=ROOT["iat"])
    yield bearer("last second before exp", None, good, now=ROOT["exp"] - 1)
    yield bearer("300 s between iat and exp", None, signed(HEADER, ROOT | {"exp": ROOT["iat"] + 300}))
    yield bearer("another jti was seen", None, good, seen=["jti_other"])
    yield bearer("blanks between claims", None, signed(HEADER, json.dumps(ROOT, indent=1)))


def _authorization() -> Iterator[Case]:
    good = signed(HEADER, ROOT)
    yield case("no Authorization", 1, [])
    yield case("two Authorization values", 1, [f"Bearer {good}", f"Bearer {good}"])
    yield case("empty Authorization", 1, "")
    yield case("scheme without token", 1, "Bearer ")
    yield case("token without scheme", 1, good)
    yield case("other scheme", 1, f"Basic {good}")
    yield case("token and more", 1, f"Bearer {good} x")
    yield case("two tokens behind a comma", 1, f"Bearer {good},{good}")


def _form() -> Iterator[Case]:
    good = signed(HEADER, ROOT)
    head, payload, signature = good.split(".")
    loose = _ALPHABET[_ALPHABET.index(signature[-1]) + 1]
    yield bearer("two segments", 2, f"{head}.{payload}")
    yield bearer("four segments", 2, f"{good}.{signature}")
    yield bearer("empty signature", 2, f"{head}.{payload}.")
    yield bearer("padded signature", 2, f"{good}==")
    yield bearer("padded claims", 2, signed(HEADER, ROOT, pad="=" * (-len(payload) % 4 or 4)))
    yield bearer("signature with loose bits", 2, f"{head}.{payload}.{signature[:-1]}{loose}")
    yield bearer("signature of 63 bytes", 2, f"{head}.{payload}.{to_base64url(bytes(63))}")
    yield bearer("signature of 65 bytes", 2, f"{head}.{payload}.{to_base64url(bytes(65))}")
    yield bearer("standard alphabet", 2, f"{head}.{payload}.{'+' * 85}A")


def _header() -> Iterator[Case]:
    headers: dict[str, Members | str] = {
        "algorithm none": HEADER | {"alg": "none"},
        "algorithm HS256": HEADER | {"alg": "HS256"},
        "algorithm in lower case": HEADER | {"alg": "eddsa"},
        "typ JWT": HEADER | {"typ": "JWT"},
        "typ of a delegation": HEADER | {"typ": "platform-delegation+jwt"},
        "typ missing": without(HEADER, "typ"),
        "kid of another key": HEADER | {"kid": "router-2"},
        "kid missing": without(HEADER, "kid"),
        "kid no text": HEADER | {"kid": 1},
        "further header member": HEADER | {"crit": ["exp"]},
        "embedded key": HEADER | {"jwk": {"kty": "OKP"}},
        "repeated header member": repeated(HEADER, "kid"),
        "header no object": "[]",
        "header not JSON": "{",
    }
    for name, header in headers.items():
        yield bearer(name, 3, signed(header, ROOT))


def _signature() -> Iterator[Case]:
    head, payload, signature = signed(HEADER, ROOT).split(".")
    other = to_base64url(text(ROOT | {"capability": "book-trip"}).encode())
    yield bearer("forged with another key", 4, forged(HEADER, ROOT))
    yield bearer("claims exchanged", 4, f"{head}.{other}.{signature}")
    yield bearer("zero signature", 4, f"{head}.{payload}.{to_base64url(bytes(64))}")
    yield bearer("signature with a scalar beyond the group order", 4, f"{head}.{payload}.{_beyond_order(signature)}")
    yield bearer("forged for another audience", 4, forged(HEADER, ROOT | {"aud": ["https://x.example"]}))


def _claims() -> Iterator[Case]:
    for name in ROOT:
        yield bearer(f"claim missing: {name}", 5, signed(HEADER, without(ROOT, name)))
    for name in ("jti", "exp", "workspaceId", "bodySha256"):
        yield bearer(f"claim repeated: {name}", 5, signed(HEADER, repeated(ROOT, name)))
    for name, value in {"sub": "acme", "nbf": NOW, "scope": "all"}.items():
        yield bearer(f"unknown claim: {name}", 5, signed(HEADER, ROOT | {name: value}))
    for name, value in {
        "iss": None,
        "aud": AUDIENCE,
        "iat": NOW - 4.5,
        "exp": f"{NOW + 60}",
        "jti": 7,
        "capability": ["plan-trip"],
        "parentInvocationId": None,
    }.items():
        yield bearer(f"wrong type: {name}", 5, signed(HEADER, ROOT | {name: value}))
    yield bearer("fractional exp", 5, signed(HEADER, ROOT | {"exp": NOW + 60.5}))
    yield bearer("boolean iat", 5, signed(HEADER, ROOT | {"iat": True}))
    yield bearer("integral fraction as iat", 5, signed(HEADER, _respelled("iat", f"{NOW - 5}.0")))
    yield bearer("exponent in exp", 5, signed(HEADER, _respelled("exp", f"{NOW + 60}e0")))
    yield bearer("claim repeated with an escaped name", 5, signed(HEADER, f'{text(ROOT)[:-1]},"\\u006ati":"jti_2"}}'))
    yield bearer("half a surrogate pair", 5, signed(HEADER, _respelled("capability", '"\\ud800"')))
    yield bearer("byte order mark before the claims", 5, signed(HEADER, f"\ufeff{text(ROOT)}"))
    yield bearer("claims no object", 5, signed(HEADER, "[]"))
    yield bearer("claims not JSON", 5, signed(HEADER, "{}}"))


def _formats() -> Iterator[Case]:
    good = signed(HEADER, ROOT)
    yield bearer("expired", 6, good, now=ROOT["exp"])
    yield bearer("long expired", 6, good, now=ROOT["exp"] + 3600)
    yield bearer("future iat", 6, good, now=ROOT["iat"] - 1)
    yield bearer("301 s between iat and exp", 6, signed(HEADER, ROOT | {"exp": ROOT["iat"] + 301}))
    yield bearer("exp equal to iat", 6, signed(HEADER, ROOT | {"iat": NOW, "exp": NOW}))
    for name, value in {
        "iss": f"{ISSUER}/",
        "jti": "",
        "workspaceId": "acme travel",
        "agentId": ".trip",
        "agentVersion": "1.4",
        "releaseId": "r" * 129,
        "cardDigest": ROOT["cardDigest"].upper(),
        "bodySha256": ROOT["bodySha256"][:-1],
        "parentInvocationId": "",
    }.items():
        yield bearer(f"malformed: {name}", 6, signed(HEADER, ROOT | {name: value}))
    for name in ("jti", "capability", "cardDigest"):
        yield bearer(f"line end in {name}", 6, signed(HEADER, ROOT | {name: f"{ROOT[name]}\n"}))
    yield bearer("no audience", 6, signed(HEADER, ROOT | {"aud": []}))
    yield bearer("two audiences", 6, signed(HEADER, ROOT | {"aud": [AUDIENCE, "https://other.example.com"]}))
    yield bearer("same audience twice", 6, signed(HEADER, ROOT | {"aud": [AUDIENCE, AUDIENCE]}))
    yield bearer("audience with a path", 6, signed(HEADER, ROOT | {"aud": [f"{AUDIENCE}/a2a"]}))


def _parties() -> Iterator[Case]:
    yield bearer("other issuer", 7, signed(HEADER, ROOT | {"iss": "https://router.example.org"}))
    for name, audience in {
        "other audience": "https://agents.example.org",
        "audience of another port": f"{AUDIENCE}:8443",
        "audience of another scheme": "http://agents.example.com",
    }.items():
        yield bearer(name, 8, signed(HEADER, ROOT | {"aud": [audience]}), 403)


def _context() -> Iterator[Case]:
    root, child = signed(HEADER, ROOT), signed(HEADER, CHILD)
    for header, value in context_headers(CHILD).items():
        yield bearer(f"missing header: {header}", 9, child, 403, context="child", without=[header])
        yield bearer(f"repeated header: {header}", 9, child, 403, context="child", added=[[header, value]])
        other = [[header, f"{value}0"]]
        yield bearer(f"unequal header: {header}", 9, child, 403, context="child", without=[header], added=other)
    parent = "x-platform-parent-invocation-id"
    yield bearer("unexpected parent header", 9, root, 403, added=[[parent, CHILD["parentInvocationId"]]])
    yield bearer("empty parent header", 9, root, 403, added=[[parent, ""]])
    for name in ("x_platform_capability", "x-platform_capability", "x_platform_delegation"):
        yield bearer(f"underscores: {name}", 9, root, 403, added=[[name, ROOT["capability"]]])
    capability = [["x-platform-capability", "Plan-Trip"]]
    yield bearer("header in other case", 9, root, 403, without=["x-platform-capability"], added=capability)


def _body_and_replay() -> Iterator[Case]:
    good = signed(HEADER, ROOT)
    yield bearer("other body", 10, good, 403, body=BODY.replace("task-7", "task-8"))
    yield bearer("body with a trailing newline", 10, good, 403, body=f"{BODY}\n")
    yield bearer("empty body", 10, good, 403, body="")
    yield bearer("replayed", 11, good, seen=[ROOT["jti"]])
    later = signed(HEADER, ROOT | {"exp": ROOT["exp"] + 100})
    yield bearer("replayed with another expiry", 11, later, seen=[ROOT["jti"]])


def credential() -> Case:
    groups = (_good, _authorization, _form, _header, _signature, _claims, _formats, _parties, _context)
    return described(
        "Contract 12.3: requests to an Agent; `step` is the first check that fails, null if none does.",
        AUDIENCE,
        body=BODY,
        contexts={"root": context_headers(ROOT), "child": context_headers(CHILD)},
        cases=[made for group in (*groups, _body_and_replay) for made in group()],
        sequences=[
            {
                "name": "a refused request burns no jti, an accepted one does",
                "presentations": ["other body", "unexpected parent header", "good root", "good root"],
                "statuses": [403, 403, 200, 401],
            }
        ],
    )


def main() -> int:
    write("credential", credential())
    return 0


if __name__ == "__main__":
    sys.exit(main())
