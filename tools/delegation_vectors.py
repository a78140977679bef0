"""Writes contracts/vectors/delegation.json: delegations presented by an Agent whose parent Invocation runs."""

import sys
from collections.abc import Iterator
from typing import Any

from aop.base.canonical import from_base64url, to_base64url
from tools.vector_claims import AUDIENCE, CHILD, HEADER, ISSUER, NOW, ROOT, Members
from tools.vector_tokens import (
    OTHER_SEED,
    PUBLIC_KEY,
    TEST_SEED,
    Case,
    bearer,
    case,
    delegation_key,
    described,
    repeated,
    signed,
    tagged,
    tagged_with,
    without,
    write,
)

DELEGATION_HEADER: Members = HEADER | {"alg": "HS256", "typ": "platform-delegation+jwt"}
DELEGATION: Members = {
    "iss": ISSUER,
    "aud": [ISSUER],
    "iat": NOW,
    "exp": NOW + 61,
    **{name: ROOT[name] for name in ("workspaceId", "agentId", "releaseId", "invocationId", "rootTaskId", "traceId")},
    "depth": 0,
}


def _delegations() -> Iterator[Case]:
    def made(name: str, step: int | None, status: int = 401, **claims: Any) -> Case:
        return bearer(name, step, tagged(DELEGATION_HEADER, DELEGATION | claims), status)

    good = tagged(DELEGATION_HEADER, DELEGATION)
    yield made("good root", None)
    yield made("good child", None, invocationId=CHILD["invocationId"], depth=1)
    yield made("depth 15", None, depth=15)
    yield made("depth 16", 6, 403, depth=16)
    yield made("iat in the future is not looked at", None, iat=NOW + 30)
    yield bearer("last second before exp", None, good, now=DELEGATION["exp"] - 1)
    yield bearer("expired", 1, good, now=DELEGATION["exp"])
    yield made("other audience", 1, aud=[AUDIENCE])
    yield made("two audiences", 1, aud=[ISSUER, AUDIENCE])
    yield made("other issuer", 1, iss="https://router.example.org")
    yield made("unknown claim", 1, jti="jti_1")
    yield made("fractional exp", 1, exp=NOW + 61.5)
    yield made("negative depth", 1, depth=-1)
    yield made("depth as text", 1, depth="0")
    for name in DELEGATION:
        yield bearer(f"claim missing: {name}", 1, tagged(DELEGATION_HEADER, without(DELEGATION, name)))
    yield bearer("claim repeated", 1, tagged(DELEGATION_HEADER, repeated(DELEGATION, "depth")))
    yield bearer("other typ", 1, tagged(HEADER | {"alg": "HS256"}, DELEGATION))
    yield bearer("typ JWT", 1, tagged(DELEGATION_HEADER | {"typ": "JWT"}, DELEGATION))
    yield bearer("algorithm none", 1, tagged(DELEGATION_HEADER | {"alg": "none"}, DELEGATION))
    yield bearer("other kid", 1, tagged(DELEGATION_HEADER | {"kid": "router-2"}, DELEGATION))
    yield bearer("further header member", 1, tagged(DELEGATION_HEADER | {"crit": []}, DELEGATION))
    yield from _sealed_otherwise()
    yield bearer("a credential instead", 1, signed(HEADER, ROOT))
    yield bearer("padded signature", 1, f"{good}==")
    yield bearer("an opaque token instead", 1, "service-token")
    yield case("no Authorization", 1, [])
    yield case("two Authorization values", 1, [f"Bearer {good}", f"Bearer {good}"])


def _sealed_otherwise() -> Iterator[Case]:
    by_signature = DELEGATION_HEADER | {"alg": "EdDSA"}
    yield bearer("tagged with another key", 1, tagged(DELEGATION_HEADER, DELEGATION, OTHER_SEED))
    yield bearer("tagged with the seed itself", 1, tagged_with(TEST_SEED, DELEGATION_HEADER, DELEGATION))
    public = from_base64url(PUBLIC_KEY)
    yield bearer("tagged with the public key", 1, tagged_with(public, DELEGATION_HEADER, DELEGATION))
    yield bearer("tagged with an empty key", 1, tagged_with(b"", DELEGATION_HEADER, DELEGATION))
    yield bearer("signed, as before version 2", 1, signed(by_signature, DELEGATION))
    yield bearer("signed under the header of a tag", 1, signed(DELEGATION_HEADER, DELEGATION))
    yield bearer("tagged under the header of a signature", 1, tagged(by_signature, DELEGATION))
    head, claims, tag = tagged(DELEGATION_HEADER, DELEGATION).split(".")
    yield bearer("half of the tag", 1, f"{head}.{claims}.{to_base64url(from_base64url(tag)[:16])}")
    yield bearer("no tag", 1, f"{head}.{claims}.")


def delegation() -> Case:
    description = "Contract 10.2: nested calls whose parent runs; `step` is the check that fails, null if none."
    verifier = {"delegationKey": to_base64url(delegation_key(TEST_SEED))}
    return described(description, ISSUER, verifier, cases=list(_delegations()))


def main() -> int:
    write("delegation", delegation())
    return 0


if __name__ == "__main__":
    sys.exit(main())
