"""Writes contracts/vectors/delegation.json: delegations presented by an Agent whose parent Invocation runs."""

import sys
from collections.abc import Iterator
from typing import Any

from tools.vector_claims import AUDIENCE, CHILD, HEADER, ISSUER, NOW, ROOT, Members
from tools.vector_tokens import Case, bearer, case, described, forged, repeated, signed, without, write

DELEGATION_HEADER: Members = HEADER | {"typ": "platform-delegation+jwt"}
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
        return bearer(name, step, signed(DELEGATION_HEADER, DELEGATION | claims), status)

    good = signed(DELEGATION_HEADER, DELEGATION)
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
        yield bearer(f"claim missing: {name}", 1, signed(DELEGATION_HEADER, without(DELEGATION, name)))
    yield bearer("claim repeated", 1, signed(DELEGATION_HEADER, repeated(DELEGATION, "depth")))
    yield bearer("other typ", 1, signed(HEADER, DELEGATION))
    yield bearer("typ JWT", 1, signed(DELEGATION_HEADER | {"typ": "JWT"}, DELEGATION))
    yield bearer("algorithm none", 1, signed(DELEGATION_HEADER | {"alg": "none"}, DELEGATION))
    yield bearer("other kid", 1, signed(DELEGATION_HEADER | {"kid": "router-2"}, DELEGATION))
    yield bearer("further header member", 1, signed(DELEGATION_HEADER | {"crit": []}, DELEGATION))
    yield bearer("forged with another key", 1, forged(DELEGATION_HEADER, DELEGATION))
    yield bearer("a credential instead", 1, signed(HEADER, ROOT))
    yield bearer("padded signature", 1, f"{good}==")
    yield bearer("an opaque token instead", 1, "service-token")
    yield case("no Authorization", 1, [])
    yield case("two Authorization values", 1, [f"Bearer {good}", f"Bearer {good}"])


def delegation() -> Case:
    description = "Contract 10.2: nested calls whose parent runs; `step` is the check that fails, null if none."
    return described(description, ISSUER, cases=list(_delegations()))


def main() -> int:
    write("delegation", delegation())
    return 0


if __name__ == "__main__":
    sys.exit(main())
